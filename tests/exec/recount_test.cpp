// The engine's counters, counted again lane by lane by the plainest code there is: sets of sectors, bytes and
// words. Kernels take each thread's index from a table, so that the test knows every address; tables are
// random and structured, warps whole and partial, accesses 1 to 16 bytes wide. The kernels of the gallery at
// the end have formulas.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

using profile::BufferCounters;
using profile::KernelProfile;
using profile::MemoryCounters;

constexpr const char* kStart =
    ".reg .pred %p; .reg .b32 %i, %n, %m, %x, %v, %v1, %v2, %v3; .reg .b16 %h; .reg .b64 %a, %d, %w;\n"
    "mov.u32 %i, %tid.x; mov.u32 %n, %ctaid.x; mov.u32 %m, %ntid.x; mad.lo.u32 %i, %n, %m, %i;\n"
    "ld.param.u64 %a, [index]; mad.wide.u32 %a, %i, 4, %a; ld.global.u32 %x, [%a];\n"
    "mov.u32 %v, 1; mov.u32 %v1, 1; mov.u32 %v2, 1; mov.u32 %v3, 1; mov.u64 %w, 1; mov.u16 %h, 1;\n";

std::string access(bool store, const std::string& space, unsigned width, const std::string& address) {
  const std::string registers = width == 16  ? "{%v, %v1, %v2, %v3}"
                                : width == 8 ? "%w"
                                : width == 4 ? "%v"
                                             : "%h";
  const std::string type = width == 16 ? ".v4.u32" : ".u" + std::to_string(8 * width);
  return store ? "st." + space + type + " [" + address + "], " + registers + ";\n"
               : "ld." + space + type + " " + registers + ", [" + address + "];\n";
}

struct Shape {
  unsigned threads, blocks;
};

// Tables of `count` indices below `limit`, which is at least 2 * count. Those of the first group may repeat.
std::vector<std::vector<uint32_t>> repeating_tables(size_t count, uint32_t limit, std::mt19937& random) {
  std::vector<std::vector<uint32_t>> tables(6, std::vector<uint32_t>(count));
  for (size_t i = 0; i < count; ++i) {
    const uint32_t u = static_cast<uint32_t>(i);
    tables[0][i] = random() % limit;
    tables[1][i] = random() % 16;    // a few places
    tables[2][i] = u / 32 % limit;   // one a warp
    tables[3][i] = u / 4;            // four lanes each
    tables[4][i] = u % 16 + u / 32;  // half-warps alike
    tables[5][i] = (u * 33) % limit;
  }
  return tables;
}

std::vector<std::vector<uint32_t>> distinct_tables(size_t count, uint32_t limit, std::mt19937& random) {
  std::vector<uint32_t> all(limit);
  std::iota(all.begin(), all.end(), 0u);
  std::vector<std::vector<uint32_t>> tables;
  tables.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));          // in order
  tables.emplace_back(all.begin() + 1, all.begin() + static_cast<std::ptrdiff_t>(count) + 1);  // off by one
  tables.emplace_back(all.rend() - static_cast<std::ptrdiff_t>(count), all.rend());            // backward
  std::vector<uint32_t> twice(count);
  for (size_t i = 0; i < count; ++i) twice[i] = static_cast<uint32_t>(2 * i);
  tables.push_back(twice);
  std::shuffle(all.begin(), all.end(), random);
  tables.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  return tables;
}

// The warps of a launch: for each, the indices of its threads in the table.
template <class F>
void for_warps(Shape shape, F f) {
  for (unsigned block = 0; block < shape.blocks; ++block)
    for (unsigned first = 0; first < shape.threads; first += 32) {
      std::vector<size_t> threads;
      for (unsigned t = first; t < std::min(first + 32, shape.threads); ++t)
        threads.push_back(size_t{block} * shape.threads + t);
      f(block, threads);
    }
}

struct GlobalCount {
  uint64_t requests = 0, lanes = 0, sectors = 0, ideal = 0, lines = 0, touched = 0, asked = 0, by_blocks = 0;
};

GlobalCount recount_global(Shape shape, const std::vector<uint32_t>& table, unsigned width) {
  GlobalCount c;
  std::set<uint64_t> bytes;
  std::map<unsigned, std::set<uint64_t>> sectors_of_block;
  for_warps(shape, [&](unsigned block, const std::vector<size_t>& threads) {
    std::set<uint64_t> sectors, lines;
    for (size_t t : threads)
      for (unsigned b = 0; b < width; ++b) {
        const uint64_t at = uint64_t{table[t]} * width + b;
        bytes.insert(at);
        sectors.insert(at / 32);
        lines.insert(at / 128);
        sectors_of_block[block].insert(at / 32);
      }
    ++c.requests;
    c.lanes += threads.size();
    c.sectors += sectors.size();
    c.ideal += std::min<uint64_t>(sectors.size(), (threads.size() * width + 31) / 32);
    c.lines += lines.size();
  });
  c.touched = bytes.size();
  c.asked = c.lanes * width;
  for (const auto& [block, sectors] : sectors_of_block) c.by_blocks += sectors.size();
  return c;
}

constexpr Shape kShapes[] = {{32, 3}, {33, 2}, {7, 4}, {100, 2}, {256, 2}};
constexpr unsigned kWidths[] = {1, 2, 4, 8, 16};

void compare_global(bool store, Shape shape, const std::vector<uint32_t>& table, unsigned width,
                    uint32_t limit) {
  SCOPED_TRACE(std::to_string(width) + " bytes, " + std::to_string(shape.threads) + " threads, table from " +
               std::to_string(table[0]) + ", " + std::to_string(table[1]));
  Kernel k(std::string(kStart) + "ld.param.u64 %d, [data]; mad.wide.u32 %d, %x, " + std::to_string(width) +
           ", %d;\n" + access(store, "global", width, "%d") + "ret;");
  k.buffer("index", table).buffer("data", std::vector<uint8_t>(size_t{limit} * width));
  k.block({shape.threads, 1, 1}).grid({shape.blocks, 1, 1});
  const GlobalCount want = recount_global(shape, table, width);
  for (bool check_races : {false, true}) {
    Options options;
    options.check_races = check_races;
    const KernelProfile profile = k.run_clean(options);
    ASSERT_EQ(profile.memory.size(), 2u);
    const MemoryCounters& m = profile.memory[1];
    EXPECT_EQ(m.width_bytes, width);
    EXPECT_EQ(m.requests, want.requests);
    EXPECT_EQ(m.lanes, want.lanes);
    EXPECT_EQ(m.bytes_asked, want.asked);
    EXPECT_EQ(m.sectors, want.sectors);
    EXPECT_EQ(m.ideal_sectors, want.ideal);
    EXPECT_EQ(m.lines, want.lines);
    ASSERT_EQ(profile.buffers.size(), 2u);
    const BufferCounters& b = profile.buffers[1];
    EXPECT_EQ(store ? b.stored_bytes_asked : b.loaded_bytes_asked, want.asked);
    EXPECT_EQ(store ? b.stored_bytes_touched : b.loaded_bytes_touched, want.touched);
    if (!store) {
      EXPECT_EQ(b.block_load_sectors, want.by_blocks);
      EXPECT_EQ(b.blocks_loading, shape.blocks);
    }
  }
}

TEST(Recount, GlobalLoads) {
  std::mt19937 random(1);
  for (Shape shape : kShapes) {
    const size_t count = size_t{shape.threads} * shape.blocks;
    const uint32_t limit = static_cast<uint32_t>(2 * count + 40);
    for (unsigned width : kWidths) {
      for (const auto& table : repeating_tables(count, limit, random))
        compare_global(false, shape, table, width, limit);
      for (const auto& table : distinct_tables(count, limit, random))
        compare_global(false, shape, table, width, limit);
    }
  }
}

TEST(Recount, GlobalStores) {
  std::mt19937 random(2);
  for (Shape shape : kShapes) {
    const size_t count = size_t{shape.threads} * shape.blocks;
    const uint32_t limit = static_cast<uint32_t>(2 * count + 40);
    for (unsigned width : kWidths)
      for (const auto& table : distinct_tables(count, limit, random))
        compare_global(true, shape, table, width, limit);
  }
}

// Wavefronts by the rule of 32 banks: up to 4 bytes the whole warp at once, 8 by half-warps, 16 by quarters;
// in each, the largest number of different words in one bank of 4 (8, 16) bytes.
uint64_t wavefronts(const std::vector<uint32_t>& table, const std::vector<size_t>& threads, unsigned width) {
  const unsigned parts = width == 16 ? 4 : width == 8 ? 2 : 1, unit = std::max(width, 4u), banks = 128 / unit;
  uint64_t sum = 0;
  for (unsigned part = 0; part < parts; ++part) {
    std::map<uint64_t, std::set<uint64_t>> words_of_bank;
    for (size_t lane = part * 32 / parts; lane < std::min<size_t>((part + 1) * 32 / parts, threads.size());
         ++lane) {
      const uint64_t word = uint64_t{table[threads[lane]]} * width / unit;
      words_of_bank[word % banks].insert(word);
    }
    size_t most = 0;
    for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
    sum += most;
  }
  return sum;
}

void compare_shared(bool store, Shape shape, const std::vector<uint32_t>& table, unsigned width) {
  SCOPED_TRACE(std::to_string(width) + " bytes, " + std::to_string(shape.threads) + " threads, table from " +
               std::to_string(table[0]) + ", " + std::to_string(table[1]));
  Kernel k(std::string(".shared .align 16 .b8 words[16384]; .reg .b32 %s;\n") + kStart +
           "mov.u32 %s, words; mad.lo.u32 %s, %x, " + std::to_string(width) + ", %s;\n" +
           access(store, "shared", width, "%s") + "ret;");
  k.buffer("index", table).block({shape.threads, 1, 1}).grid({shape.blocks, 1, 1});
  Options options;
  options.check_races = false;  // nothing is written before it is read
  const KernelProfile profile = k.run_clean(options);
  uint64_t requests = 0, want = 0;
  for_warps(shape, [&](unsigned, const std::vector<size_t>& threads) {
    ++requests;
    want += wavefronts(table, threads, width);
  });
  ASSERT_EQ(profile.memory.size(), 2u);
  EXPECT_EQ(profile.memory[1].requests, requests);
  EXPECT_EQ(profile.memory[1].wavefronts, want);
}

TEST(Recount, SharedAccesses) {
  std::mt19937 random(3);
  const Shape shapes[] = {{32, 2}, {33, 1}, {100, 1}, {256, 1}};
  for (Shape shape : shapes) {
    const size_t count = size_t{shape.threads} * shape.blocks;
    const uint32_t limit = static_cast<uint32_t>(2 * count + 40);
    for (unsigned width : kWidths) {
      // Lanes that share words may be merged in wide loads by rules of their own (tests/mem): not here.
      if (width <= 4)
        for (const auto& table : repeating_tables(count, limit, random))
          compare_shared(false, shape, table, width);
      for (const auto& table : distinct_tables(count, limit, random)) {
        compare_shared(false, shape, table, width);
        compare_shared(true, shape, table, width);
      }
    }
  }
}

TEST(Recount, Branches) {
  // Thread i goes the one way or the other by bit 0 of its table entry, and skips an add by bit 1.
  std::mt19937 random(4);
  for (Shape shape : kShapes) {
    std::vector<uint32_t> table(size_t{shape.threads} * shape.blocks);
    for (size_t i = 0; i < table.size(); ++i) table[i] = i % 3 == 0 ? random() % 4 : i / 32 % 4;
    Kernel k(
        std::string(kStart) +
        "and.b32 %v, %x, 1; setp.ne.u32 %p, %v, 0; @%p bra odd; add.u32 %v, %v, 1; odd: and.b32 %v1, %x, 2;\n"
        "setp.ne.u32 %p, %v1, 0; @!%p add.u32 %v2, %v2, 1; @%p exit; add.u32 %v3, %v3, 1; ret;");
    k.buffer("index", table).block({shape.threads, 1, 1}).grid({shape.blocks, 1, 1});
    const KernelProfile profile = k.run_clean();
    uint64_t warps = 0, odd = 0, even_warps = 0, divergent = 0, bit1 = 0, exit_divergent = 0, lanes = 0;
    for_warps(shape, [&](unsigned, const std::vector<size_t>& threads) {
      ++warps;
      uint64_t taken = 0, leaving = 0;
      for (size_t t : threads) {
        taken += table[t] & 1;
        leaving += table[t] >> 1 & 1;
      }
      lanes += threads.size();
      odd += taken;
      bit1 += leaving;
      even_warps += taken < threads.size();
      divergent += taken > 0 && taken < threads.size();
      exit_divergent += leaving > 0 && leaving < threads.size();
    });
    const auto& executed = profile.executed[static_cast<size_t>(profile.function)];
    const auto& code = profile.module->functions[static_cast<size_t>(profile.function)].instructions;
    bool branch = false, guarded = false, exits = false, skipped = false;
    for (size_t i = 0; i < code.size(); ++i) {
      const profile::ExecutionCounters& c = executed[i];
      if (code[i].op == ptx::Op::bra && code[i].guard >= 0) {
        EXPECT_EQ(c.warps, warps);
        EXPECT_EQ(c.lanes, lanes);
        EXPECT_EQ(c.lanes_on, odd);
        EXPECT_EQ(c.divergent, divergent);
        EXPECT_EQ(executed[i + 1].warps, even_warps);
        EXPECT_EQ(executed[i + 1].lanes, lanes - odd);
        branch = skipped = true;
      } else if (code[i].op == ptx::Op::add && code[i].guard >= 0) {
        EXPECT_EQ(c.warps, warps);  // all lanes are together again
        EXPECT_EQ(c.lanes, lanes);
        EXPECT_EQ(c.lanes_on, lanes - bit1);
        guarded = true;
      } else if (code[i].op == ptx::Op::exit && code[i].guard >= 0) {
        EXPECT_EQ(c.lanes, lanes);
        EXPECT_EQ(c.lanes_on, bit1);
        EXPECT_EQ(c.divergent, exit_divergent);
        exits = true;
      }
    }
    EXPECT_TRUE(branch && guarded && exits && skipped);
  }
}

// ---- parameters that are structs ----

TEST(StructParameters, ArriveByValue) {
  // struct { uint32_t* out; int32_t add; float scale; uint16_t table[4]; } in 24 bytes, then an int.
  const std::string text =
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .align 8 .b8 s[24], .param "
      ".u32 n)\n{\n"
      ".reg .b32 %i, %a, %n, %t; .reg .b16 %h; .reg .f32 %f, %g; .reg .b64 %out, %rd, %at;\n"
      "mov.u32 %i, %tid.x; ld.param.u64 %out, [s]; ld.param.s32 %a, [s+8]; ld.param.f32 %f, [s+12]; "
      "ld.param.u32 %n, [n];\n"
      "mov.b64 %at, s; and.b32 %t, %i, 3; mul.wide.u32 %rd, %t, 2; add.u64 %at, %at, %rd; ld.param.u16 %h, "
      "[%at+16];\n"
      "cvt.u32.u16 %t, %h; add.u32 %a, %a, %t; add.u32 %a, %a, %n; cvt.rn.f32.s32 %g, %a; mul.f32 %g, %g, "
      "%f;\n"
      "mad.wide.u32 %rd, %i, 4, %out; st.global.f32 [%rd], %g; ret;\n}\n";
  Result<ptx::Module> module = ptx::parse(text, "struct.ptx");
  ASSERT_TRUE(module) << module.error().to_string();
  DeviceMemory memory;
  ASSERT_TRUE(memory.load_module(*module));
  const Result<uint64_t> out = memory.allocate("out", 32 * 4);
  ASSERT_TRUE(out);
  struct {
    uint64_t out;
    int32_t add;
    float scale;
    uint16_t table[4];
    int32_t n;
  } arguments = {*out, -3, 0.5f, {10, 20, 30, 40}, 100};
  Launch launch;
  launch.function = module->find_function("k");
  launch.grid = {1, 1, 1};
  launch.block = {32, 1, 1};
  launch.parameters.resize(28);
  std::memcpy(launch.parameters.data(), &arguments, 28);
  const Result<KernelProfile> profile = exec::run(*module, memory, launch);
  ASSERT_TRUE(profile) << profile.error().to_string();
  EXPECT_TRUE(profile->faults.empty());
  for (unsigned i = 0; i < 32; ++i) {
    float value;
    std::memcpy(&value, memory.buffer(0).data.get() + 4 * i, 4);
    EXPECT_EQ(value, (-3 + 10 * static_cast<int>(i % 4 + 1) + 100) * 0.5f);
  }
}

TEST(Windows, APointerOneWindowPastTheLastBufferFindsNothing) {
  Kernel k(
      ".reg .b32 %r; .reg .b64 %rd; ld.param.u64 %rd, [out]; add.u64 %rd, %rd, 0x10000000000; ld.global.u32 "
      "%r, [%rd]; ret;");
  k.buffer("out", std::vector<uint32_t>(1)).block({1, 1, 1});
  const KernelProfile profile = k.run();
  ASSERT_EQ(profile.faults.size(), 1u);
  EXPECT_EQ(profile.faults[0].kind, profile::FaultKind::out_of_bounds);
  EXPECT_EQ(profile.faults[0].buffer, -1);
}

}  // namespace
}  // namespace fullwarp::exec::test
