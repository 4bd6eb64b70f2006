// Loads whose lanes lie here and there in one to five buffers, some lanes off, again and again from the same
// sectors: values, sectors, lines and what is touched of each buffer, beside sets.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

constexpr unsigned kThreads = 96, kBlocks = 3, kRounds = 12, kAll = kThreads * kBlocks;

struct Case {
  unsigned buffers;
  uint32_t words;  // of each buffer
  unsigned off;    // one lane in so many is off in a round; 0: none
  unsigned width;  // bytes: 2, 4 or 8
};

// Thread i loads element index[round * kAll + i] of buffer which[round * kAll + i]; a buffer that is not
// there means that it loads nothing in that round.
std::string source(const Case& c) {
  std::string text =
      ".reg .pred %p, %q; .reg .b32 %i, %n, %m, %r, %x, %s, %v, %sum; .reg .b16 %h; .reg .b64 %a, %b, %d, "
      "%e, %w;\n"
      "mov.u32 %i, %tid.x; mov.u32 %n, %ctaid.x; mov.u32 %m, %ntid.x; mad.lo.u32 %i, %n, %m, %i;\n"
      "mov.u32 %r, 0; mov.u32 %sum, 0;\n"
      "ld.param.u64 %a, [index]; mad.wide.u32 %a, %i, 4, %a; ld.param.u64 %b, [which]; mad.wide.u32 %b, %i, "
      "4, %b;\n"
      "again: ld.global.u32 %x, [%a]; ld.global.u32 %s, [%b];\n"
      "setp.ge.u32 %p, %s, " +
      std::to_string(c.buffers) +
      "; @%p bra next;\n"
      "ld.param.u64 %d, [data0];\n";
  for (unsigned b = 1; b < c.buffers; ++b)
    text += "ld.param.u64 %e, [data" + std::to_string(b) + "]; setp.eq.u32 %q, %s, " + std::to_string(b) +
            "; selp.b64 %d, %e, %d, %q;\n";
  text += "mad.wide.u32 %d, %x, " + std::to_string(c.width) + ", %d;\n";
  if (c.width == 2) text += "ld.global.u16 %h, [%d]; cvt.u32.u16 %v, %h;\n";
  if (c.width == 4) text += "ld.global.u32 %v, [%d];\n";
  if (c.width == 8) text += "ld.global.u64 %w, [%d]; cvt.u32.u64 %v, %w;\n";
  text +=
      "add.u32 %sum, %sum, %v;\n"
      "next: add.u64 %a, %a, " +
      std::to_string(kAll * 4) + "; add.u64 %b, %b, " + std::to_string(kAll * 4) +
      ";\n"
      "add.u32 %r, %r, 1; setp.lt.u32 %p, %r, " +
      std::to_string(kRounds) +
      "; @%p bra again;\n"
      "ld.param.u64 %d, [out]; mad.wide.u32 %d, %i, 4, %d; st.global.u32 [%d], %sum; ret;";
  return text;
}

void compare(const Case& c, unsigned seed) {
  SCOPED_TRACE(std::to_string(c.buffers) + " buffers of " + std::to_string(c.words) + " elements of " +
               std::to_string(c.width) + " bytes, one in " + std::to_string(c.off) + " off");
  std::mt19937 random(seed);
  std::vector<uint32_t> index(kAll * kRounds), which(kAll * kRounds);
  for (size_t k = 0; k < index.size(); ++k) {
    index[k] = random() % c.words;
    which[k] = c.off != 0 && random() % c.off == 0 ? c.buffers : random() % c.buffers;
  }
  std::vector<std::vector<uint8_t>> data(c.buffers, std::vector<uint8_t>(size_t{c.words} * c.width));
  for (auto& bytes : data)
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());

  std::vector<uint32_t> want_out(kAll, 0);
  uint64_t requests = 0, lanes = 0, sectors = 0, lines = 0;
  std::vector<std::set<uint64_t>> touched(c.buffers);
  std::vector<std::map<unsigned, std::set<uint64_t>>> of_block(c.buffers);
  for (unsigned warp = 0; warp < kAll / 32; ++warp)
    for (unsigned round = 0; round < kRounds; ++round) {
      std::set<std::pair<unsigned, uint64_t>> here, lines_here;
      for (unsigned i = warp * 32; i < warp * 32 + 32; ++i) {
        const unsigned b = which[round * kAll + i];
        if (b == c.buffers) continue;
        const uint64_t at = uint64_t{index[round * kAll + i]} * c.width;
        uint32_t value = 0;
        for (unsigned k = 0; k < std::min(c.width, 4u); ++k) value |= uint32_t{data[b][at + k]} << (8 * k);
        want_out[i] += value;
        ++lanes;
        here.insert({b, at / 32});
        lines_here.insert({b, at / 128});
        for (unsigned k = 0; k < c.width; ++k) touched[b].insert(at + k);
        of_block[b][i / kThreads].insert(at / 32);
      }
      requests += !here.empty();
      sectors += here.size();
      lines += lines_here.size();
    }

  Kernel k(source(c));
  k.buffer("index", index).buffer("which", which);
  for (unsigned b = 0; b < c.buffers; ++b) k.buffer("data" + std::to_string(b), data[b]);
  k.buffer("out", std::vector<uint32_t>(kAll, 0)).block({kThreads, 1, 1}).grid({kBlocks, 1, 1});
  for (bool check_races : {false, true}) {
    Options options;
    options.check_races = check_races;
    const profile::KernelProfile profile = k.run_clean(options);
    EXPECT_EQ(k.values<uint32_t>("out"), want_out);
    ASSERT_EQ(profile.memory.size(), 4u);
    const profile::MemoryCounters& m = profile.memory[2];
    EXPECT_EQ(m.requests, requests);
    EXPECT_EQ(m.lanes, lanes);
    EXPECT_EQ(m.sectors, sectors);
    EXPECT_EQ(m.lines, lines);
    uint64_t first_copies = 0;
    for (unsigned b = 0; b < c.buffers; ++b) {
      uint64_t by_blocks = 0;
      for (const auto& [block, set] : of_block[b]) by_blocks += set.size();
      first_copies += by_blocks;
      const profile::BufferCounters& buffer = profile.buffers[2 + b];
      EXPECT_EQ(buffer.loaded_bytes_touched, touched[b].size());
      EXPECT_EQ(buffer.block_load_sectors, by_blocks);
      EXPECT_EQ(buffer.blocks_loading, of_block[b].size());
    }
    EXPECT_EQ(m.extra_copies, sectors - first_copies);
  }
}

TEST(Scattered, OneBuffer) {
  unsigned seed = 1;
  for (unsigned width : {2u, 4u, 8u})
    for (uint32_t words : {3u, 40u, 500u, 100000u})
      for (unsigned off : {0u, 3u}) compare({1, words, off, width}, seed++);
}

TEST(Scattered, SeveralBuffers) {
  unsigned seed = 100;
  for (unsigned buffers : {2u, 3u, 4u, 5u})
    for (uint32_t words : {8u, 300u, 5000u})
      for (unsigned off : {0u, 2u}) compare({buffers, words, off, 4}, seed++);
}

// A lane outside is told, and the others' values arrive, wherever they are.
TEST(Scattered, OneLaneOutside) {
  Kernel k(
      ".reg .b32 %i, %x, %v; .reg .b64 %a, %d;\n"
      "mov.u32 %i, %tid.x; ld.param.u64 %a, [index]; mad.wide.u32 %a, %i, 4, %a; ld.global.u32 %x, [%a];\n"
      "ld.param.u64 %d, [data]; mad.wide.u32 %d, %x, 4, %d; ld.global.u32 %v, [%d];\n"
      "ld.param.u64 %d, [out]; mad.wide.u32 %d, %i, 4, %d; st.global.u32 [%d], %v; ret;");
  std::vector<uint32_t> index(32), data(64), want(32);
  std::mt19937 random(7);
  for (auto& v : data) v = random();
  for (unsigned i = 0; i < 32; ++i) {
    index[i] = i == 13 ? 64 : random() % 64;
    want[i] = i == 13 ? 0 : data[index[i]];
  }
  k.buffer("index", index).buffer("data", data).buffer("out", std::vector<uint32_t>(32, 9)).block({32, 1, 1});
  const profile::KernelProfile profile = k.run();
  ASSERT_EQ(profile.faults.size(), 1u);
  EXPECT_EQ(profile.faults[0].kind, profile::FaultKind::out_of_bounds);
  EXPECT_EQ(profile.faults[0].thread.x, 13u);
  EXPECT_EQ(k.values<uint32_t>("out"), want);
}

}  // namespace
}  // namespace fullwarp::exec::test
