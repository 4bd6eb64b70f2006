// atom and red: every operation and type in every space against a scalar loop over the lanes in order, and
// what spin locks, several CPU threads and bad addresses do.
#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

constexpr const char* kStart =
    ".reg .pred %p; .reg .b32 %t, %x, %r, %s; .reg .b64 %at, %cell, %w, %v; .reg .b16 %h, %g; .reg .f32 %f; "
    ".reg .f64 %fd;\n"
    "mov.u32 %t, %tid.x;\n";

struct Case {
  const char* operation;  // "add.u32"
  unsigned bytes;
  std::function<uint64_t(uint64_t old, uint64_t b)> f;
  bool reduces = true;  // `red` has it
};

uint64_t add_f32(uint64_t a, uint64_t b) {
  return std::bit_cast<uint32_t>(std::bit_cast<float>(static_cast<uint32_t>(a)) +
                                 std::bit_cast<float>(static_cast<uint32_t>(b)));
}
uint64_t add_f64(uint64_t a, uint64_t b) {
  return std::bit_cast<uint64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
}

const Case kCases[] = {
    {"add.u32", 4, [](uint64_t a, uint64_t b) { return uint32_t(a + b); }},
    {"add.u64", 8, [](uint64_t a, uint64_t b) { return a + b; }},
    {"min.u32", 4, [](uint64_t a, uint64_t b) { return std::min(a, b); }},
    {"min.s32", 4, [](uint64_t a, uint64_t b) { return uint32_t(std::min(int32_t(a), int32_t(b))); }},
    {"max.s32", 4, [](uint64_t a, uint64_t b) { return uint32_t(std::max(int32_t(a), int32_t(b))); }},
    {"max.u64", 8, [](uint64_t a, uint64_t b) { return std::max(a, b); }},
    {"min.s64", 8, [](uint64_t a, uint64_t b) { return uint64_t(std::min(int64_t(a), int64_t(b))); }},
    {"and.b32", 4, [](uint64_t a, uint64_t b) { return a & b; }},
    {"or.b64", 8, [](uint64_t a, uint64_t b) { return a | b; }},
    {"xor.b32", 4, [](uint64_t a, uint64_t b) { return a ^ b; }},
    {"inc.u32", 4, [](uint64_t a, uint64_t b) { return a >= b ? 0 : a + 1; }},
    {"dec.u32", 4, [](uint64_t a, uint64_t b) { return a == 0 || a > b ? b : a - 1; }},
    {"exch.b32", 4, [](uint64_t, uint64_t b) { return b; }, false},
    {"exch.b64", 8, [](uint64_t, uint64_t b) { return b; }, false},
    {"add.f32", 4, add_f32},
    {"add.f64", 8, add_f64},
};

// Operand of thread t: numbers of either sign, and small sensible floats where bits are floats.
uint64_t operand(const Case& c, unsigned t) {
  const std::string name = c.operation;
  if (name == "add.f32") return std::bit_cast<uint32_t>(0.1f * static_cast<float>(t) - 1.0f);
  if (name == "add.f64") return std::bit_cast<uint64_t>(0.1 * t - 1.0);
  const uint64_t x = (t * 0x9e3779b97f4a7c15u) ^ (uint64_t{t} << 61);
  if (name == "inc.u32" || name == "dec.u32") return t % 5;
  return c.bytes == 4 ? x >> 32 : x;
}

// Threads t use cell t % cells; start values 0.
std::string body(const Case& c, const std::string& space, bool reduction, unsigned cells) {
  const std::string wide = c.bytes == 8 ? "64" : "32", value = c.bytes == 8 ? "%w" : "%r",
                    old = c.bytes == 8 ? "%v" : "%s";
  std::string text = kStart;
  if (space != ".global") text += ".shared .align 16 .b8 cells_[512];\n";
  text += "mul.wide.u32 %w, %t, " + std::to_string(c.bytes) +
          ";\nld.param.u64 %at, [operands];\nadd.u64 %at, %at, %w;\nld.global.b" + wide + " " + value +
          ", [%at];\n";
  text += "rem.u32 %x, %t, " + std::to_string(cells) + ";\n";
  if (space == ".global") {
    text += "ld.param.u64 %cell, [cells];\n";
  } else {
    text += "mov.u64 %cell, cells_;\n";
    if (space.empty()) text += "cvta.shared.u64 %cell, %cell;\n";
    text += "mad.wide.u32 %at, %t, " + std::to_string(c.bytes) + ", %cell;\n";
    text += std::string("st") + space + ".b" + wide + " [%at], 0;\nbar.sync 0;\n";
  }
  text += "mad.wide.u32 %at, %x, " + std::to_string(c.bytes) + ", %cell;\n";
  if (reduction)
    text += "red" + space + "." + c.operation + " [%at], " + value + ";\n";
  else
    text += "atom" + space + "." + c.operation + " " + old + ", [%at], " + value + ";\n";
  text += "bar.sync 0;\n";
  const std::string result = c.bytes == 8 ? "mul.wide.u32 %w, %t, 8;\n" : "mul.wide.u32 %w, %t, 4;\n";
  if (!reduction)
    text += result + "ld.param.u64 %at, [olds];\nadd.u64 %at, %at, %w;\nst.global.b" + wide + " [%at], " +
            old + ";\n";
  if (space != ".global") {
    text += "setp.ge.u32 %p, %t, " + std::to_string(cells) + ";\n@%p ret;\n";
    text += "mad.wide.u32 %at, %t, " + std::to_string(c.bytes) + ", %cell;\nld" + space + ".b" + wide + " " +
            value + ", [%at];\n";
    text += "ld.param.u64 %at, [cells];\nmad.wide.u32 %at, %t, " + std::to_string(c.bytes) +
            ", %at;\nst.global.b" + wide + " [%at], " + value + ";\n";
  }
  return text + "ret;";
}

template <class T>
void check(const Case& c, const std::string& space, bool reduction, unsigned cells) {
  constexpr unsigned kThreads = 32;  // one warp: in which order warps come is nobody's promise
  std::vector<T> operands(kThreads), want_old(kThreads), want(cells);
  for (unsigned t = 0; t < kThreads; ++t) {
    operands[t] = static_cast<T>(operand(c, t));
    want_old[t] = want[t % cells];
    want[t % cells] = static_cast<T>(c.f(want[t % cells], operands[t]));
  }
  SCOPED_TRACE(std::string(reduction ? "red" : "atom") + space + "." + c.operation + " on " +
               std::to_string(cells) + " cells");
  Kernel k(body(c, space, reduction, cells));
  k.buffer("operands", operands)
      .buffer("cells", std::vector<T>(cells))
      .buffer("olds", std::vector<T>(kThreads))
      .block({kThreads, 1, 1});
  k.run_clean();
  EXPECT_EQ(k.values<T>("cells"), want);
  if (!reduction) {
    EXPECT_EQ(k.values<T>("olds"), want_old);
  }
}

TEST(OpsAtomic, EveryOperationInEverySpace) {
  for (const Case& c : kCases)
    for (const std::string space : {".global", ".shared", ""})
      for (bool reduction : {false, true})
        for (unsigned cells : {1u, 7u, 32u}) {
          if (reduction && !c.reduces) continue;
          if (c.bytes == 4)
            check<uint32_t>(c, space, reduction, cells);
          else
            check<uint64_t>(c, space, reduction, cells);
        }
}

TEST(OpsAtomic, CompareAndSwap) {
  // Cell 5, threads in order: the first that finds its own number - 1 + 5 swaps, so each does.
  const std::string text =
      std::string(kStart) +
      "ld.param.u64 %cell, [cell]; add.u32 %r, %t, 5; add.u32 %s, %t, 6;\natom.global.cas.b32 %x, [%cell], "
      "%r, %s;\n"
      "ld.param.u64 %at, [olds]; mad.wide.u32 %at, %t, 4, %at; st.global.u32 [%at], %x;\nret;";
  Kernel k(text);
  k.buffer("cell", std::vector<uint32_t>{5}).buffer("olds", std::vector<uint32_t>(32));
  k.run_clean();
  EXPECT_EQ(k.values<uint32_t>("cell"), std::vector<uint32_t>{37});
  std::vector<uint32_t> want(32);
  std::iota(want.begin(), want.end(), 5);
  EXPECT_EQ(k.values<uint32_t>("olds"), want);

  Kernel narrow(std::string(kStart) +
                "ld.param.u64 %cell, [cell]; cvt.u16.u32 %h, %t; add.u16 %g, %h, 1;\n"
                "atom.global.cas.b16 %h, [%cell], %h, %g;\nret;");
  narrow.buffer("cell", std::vector<uint16_t>{0, 9});
  narrow.run_clean();
  EXPECT_EQ(narrow.values<uint16_t>("cell"), (std::vector<uint16_t>{32, 9}));
}

TEST(OpsAtomic, HalvesAndVectors) {
  // 32 x (1, 2) in f16 is (32, 64) = 0x5000, 0x5400; in bf16 0x4200, 0x4280.
  Kernel k(
      std::string(kStart) +
      ".reg .f32 %a, %b, %c, %d; ld.param.u64 %cell, [cells];\n"
      "mov.b32 %r, 0x40003c00; red.global.add.noftz.f16x2 [%cell], %r;\n"
      "mov.b32 %r, 0x40003f80; atom.global.add.noftz.bf16x2 %s, [%cell+4], %r;\n"
      "mov.b16 %h, 0x3c00; red.global.add.noftz.f16 [%cell+8], %h;\n"
      "mov.f32 %a, 0f3F800000; mov.f32 %b, 0f40000000; red.global.add.v2.f32 [%cell+16], {%a, %b};\nret;");
  k.buffer("cells", std::vector<uint32_t>(8));
  k.run_clean();
  EXPECT_EQ(k.values<uint32_t>("cells"),
            (std::vector<uint32_t>{0x54005000, 0x42804200, 0x5000, 0, 0x42000000, 0x42800000, 0, 0}));
}

TEST(OpsAtomic, AdditionOfF32FlushesInGlobalMemoryOnly) {
  for (const bool shared : {false, true}) {
    Kernel k(std::string(kStart) +
             ".shared .b32 cell_;\nld.param.u64 %cell, [cell]; setp.ne.u32 %p, %t, 0; @%p ret;\n"
             "mov.f32 %f, 0f00000001; mov.b32 %r, 0;\n" +
             (shared ? "st.shared.u32 [cell_], %r; red.shared.add.f32 [cell_], %f; ld.shared.u32 %r, "
                       "[cell_]; st.global.u32 [%cell], %r;\nret;"
                     : "red.global.add.f32 [%cell], %f;\nret;"));
    k.buffer("cell", std::vector<uint32_t>{0});
    k.run_clean();
    EXPECT_EQ(k.values<uint32_t>("cell"), std::vector<uint32_t>{shared ? 1u : 0u});
  }
}

TEST(OpsAtomic, ManyBlocksOnManyThreads) {
  // 512 blocks add on one cell and on 37 cells at once, with no result read: they run on several CPU threads.
  Kernel k(std::string(kStart) +
           "ld.param.u64 %cell, [cells]; mov.u32 %r, %ctaid.x; mad.lo.u32 %r, %r, 64, %t;\n"
           "red.global.add.u32 [%cell], 1; rem.u32 %x, %r, 37; mad.wide.u32 %at, %x, 4, %cell;\n"
           "red.global.add.u32 [%at+4], %r; red.global.max.s32 [%cell+152], %r;\nret;");
  k.buffer("cells", std::vector<uint32_t>(39)).grid({512, 1, 1}).block({64, 1, 1});
  Options options;
  options.threads = 4;
  k.run_clean(options);
  std::vector<uint32_t> want(39);
  for (uint32_t t = 0; t < 512 * 64; ++t) {
    ++want[0];
    want[1 + t % 37] += t;
    want[38] = t;
  }
  EXPECT_EQ(k.values<uint32_t>("cells"), want);
}

TEST(OpsAtomic, OperationsOfOneBlockKeepTheirOrderOnManyThreads) {
  // Each block has words of its own: 7 is added to one, then it is capped, each half of the next is added to,
  // then the whole; what is held back for a word must not pass what comes to it later.
  Kernel k(std::string(kStart) +
           "ld.param.u64 %cell, [cells]; mov.u32 %r, %ctaid.x; mad.wide.u32 %at, %r, 16, %cell;\n"
           "setp.ne.u32 %p, %t, 0; @%p ret;\n"
           "red.global.add.u32 [%at], 7; red.global.min.u32 [%at], 5; red.global.add.u32 [%at], 3;\n"
           "red.global.xor.b32 [%at+4], 9;\n"
           "red.global.add.u32 [%at+8], 4294967295; red.global.add.u64 [%at+8], 1;\n"
           "red.global.add.u32 [%at+12], 6;\nret;");
  constexpr uint32_t kBlocks = 3000;  // more words than a worker holds back at a time
  k.buffer("cells", std::vector<uint32_t>(4 * kBlocks)).grid({kBlocks, 1, 1});
  for (const unsigned threads : {1u, 4u}) {
    Options options;
    options.threads = threads;
    k.run_clean(options);
    std::vector<uint32_t> want;
    for (uint32_t b = 0; b < kBlocks; ++b) {
      const std::vector<uint32_t> words = {8, 9, 0, 7};
      want.insert(want.end(), words.begin(), words.end());
    }
    EXPECT_EQ(k.values<uint32_t>("cells"), want) << threads;
  }
}

TEST(OpsAtomic, SumsThatABlockReadsBackAreThereOnManyThreads) {
  // Every thread adds its number to the block's own word; one reads it behind the barrier.
  Kernel k(std::string(kStart) +
           "ld.param.u64 %cell, [sums]; mov.u32 %r, %ctaid.x; mad.wide.u32 %at, %r, 8, %cell;\n"
           "red.global.add.u32 [%at], %t; bar.sync 0; setp.ne.u32 %p, %t, 0; @%p ret;\n"
           "ld.global.u32 %x, [%at]; st.global.u32 [%at+4], %x;\nret;");
  k.buffer("sums", std::vector<uint32_t>(2 * 100)).grid({100, 1, 1}).block({64, 1, 1});
  Options options;
  options.threads = 4;
  k.run_clean(options);
  std::vector<uint32_t> want;
  for (uint32_t b = 0; b < 100; ++b) want.insert(want.end(), 2, 64 * 63 / 2);
  EXPECT_EQ(k.values<uint32_t>("sums"), want);
}

TEST(OpsAtomic, SpinLockWithinAWarpEnds) {
  Kernel k(std::string(kStart) +
           "ld.param.u64 %cell, [cells];\n"
           "$again: atom.global.cas.b32 %r, [%cell], 0, 1; setp.ne.u32 %p, %r, 0; @%p bra $again;\n"
           "ld.volatile.global.u32 %x, [%cell+4]; add.u32 %x, %x, 1; st.volatile.global.u32 [%cell+4], %x;\n"
           "atom.global.exch.b32 %r, [%cell], 0;\nret;");
  k.buffer("cells", std::vector<uint32_t>(2)).block({96, 1, 1}).grid({3, 1, 1});
  k.run_clean();
  EXPECT_EQ(k.values<uint32_t>("cells"), (std::vector<uint32_t>{0, 288}));
}

TEST(OpsAtomic, CountsSectorsAndWavefronts) {
  // Global: 32 lanes at one word are one sector. Shared: lane i at word 2 * i has two lanes in each bank
  // used.
  Kernel k(
      std::string(kStart) +
      ".shared .align 4 .b8 cells_[256];\nld.param.u64 %cell, [cells]; red.global.add.u32 [%cell], 1;\n"
      "shl.b32 %x, %t, 3; mov.u32 %r, cells_; add.u32 %r, %r, %x; mov.u32 %s, 0; st.shared.u32 [%r], %s;\n"
      "atom.shared.add.u32 %s, [%r], 1; st.global.u32 [%cell+4], %s;\nret;");
  k.buffer("cells", std::vector<uint32_t>(2));
  const profile::KernelProfile profile = k.run_clean();
  const profile::MemoryCounters* global = nullptr;
  const profile::MemoryCounters* shared = nullptr;
  for (const profile::MemoryCounters& c : profile.memory) {
    if (c.kind == mem::AccessKind::reduction) global = &c;
    if (c.kind == mem::AccessKind::atomic) shared = &c;
  }
  ASSERT_TRUE(global && shared);
  EXPECT_EQ(global->requests, 1u);
  EXPECT_EQ(global->sectors, 1u);
  EXPECT_EQ(global->uniform_requests, 1u);
  EXPECT_EQ(shared->requests, 1u);
  EXPECT_EQ(shared->wavefronts, 2u);
}

TEST(OpsAtomic, BadAddressesAreFaultsAndGiveZero) {
  Kernel k(std::string(kStart) +
           "ld.param.u64 %cell, [cells]; mad.wide.u32 %at, %t, 4, %cell; mov.u32 %s, 7;\n"
           "atom.global.add.u32 %s, [%at], 5;\nld.param.u64 %at, [olds]; mad.wide.u32 %at, %t, 4, %at; "
           "st.global.u32 [%at], %s;\nret;");
  k.buffer("cells", std::vector<uint32_t>(30, 1)).buffer("olds", std::vector<uint32_t>(32));
  const profile::KernelProfile profile = k.run();
  EXPECT_EQ(k.error, "");
  ASSERT_EQ(profile.faults.size(), 1u);
  EXPECT_EQ(profile.faults[0].kind, profile::FaultKind::out_of_bounds);
  EXPECT_EQ(profile.faults[0].count, 2u);
  EXPECT_EQ(k.values<uint32_t>("cells"), std::vector<uint32_t>(30, 6));
  std::vector<uint32_t> olds(32, 1);
  olds[30] = olds[31] = 0;
  EXPECT_EQ(k.values<uint32_t>("olds"), olds);
}

// Sums of floats depend on their order: that of the blocks, whatever the number of workers. In one word, and
// in 16 words that threads of all blocks come to.
TEST(OpsAtomic, FloatsAddUpInTheOrderOfBlocks) {
  const auto run = [](unsigned threads, uint32_t blocks, uint32_t words) {
    Kernel k(
        ".reg .b32 %t, %b, %n; .reg .f32 %f; .reg .b64 %out, %x;\n"
        "mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mad.lo.u32 %t, %b, 256, %t; ld.param.u64 %out, [out];\n"
        "mul.lo.u32 %n, %t, 2654435761; shr.u32 %n, %n, 7; cvt.rn.f32.u32 %f, %n;\n"
        "mul.f32 %f, %f, 0f38d1b717; and.b32 %t, %t, " +
        std::to_string(words - 1) +
        "; mul.wide.u32 %x, %t, 4; add.u64 %x, %out, %x; red.global.add.f32 [%x], %f; ret;");
    k.buffer("out", std::vector<float>(words)).grid({blocks, 1, 1}).block({256, 1, 1});
    Options options;
    options.threads = threads;
    const profile::KernelProfile profile = k.run_clean(options);
    uint64_t requests = 0;
    for (const profile::MemoryCounters& m : profile.memory) requests += m.requests;
    EXPECT_EQ(requests, blocks * 8);
    return k.values<uint32_t>("out");
  };
  for (const uint32_t words : {1u, 16u}) {
    const std::vector<uint32_t> alone = run(1, 300, words);
    for (const unsigned threads : {2u, 3u, 5u}) EXPECT_EQ(run(threads, 300, words), alone) << threads;
  }
  // More than workers keep: the launch is run again, in order.
  EXPECT_EQ(run(3, 5000, 16), run(1, 5000, 16));
}

}  // namespace
}  // namespace fullwarp::exec::test
