// What the engine says about accesses: races, reads of what nothing wrote, bounds, alignment, spaces. Every
// kernel is a few instructions, every expectation a hand calculation.
#include <cstdint>

#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

using mem::AccessSpace;
using profile::Fault;
using profile::FaultKind;
using profile::KernelProfile;

constexpr const char* kRegisters =
    ".reg .pred %p, %q; .reg .b32 %thr, %lane, %r, %s, %t, %n, %at, %mine; .reg .b64 %rd, %out, %f;\n"
    ".shared .align 16 .b8 words[1024];\n"
    "mov.u32 %thr, %tid.x; mov.u32 %lane, %laneid; mov.u32 %at, words; shl.b32 %t, %thr, 2; add.u32 %mine, "
    "%at, %t;\n";
constexpr const char* kMine =
    "ld.param.u64 %out, [out]; mul.wide.u32 %rd, %thr, 4; add.u64 %out, %out, %rd;\n";

std::vector<uint32_t> zeros(size_t count) { return std::vector<uint32_t>(count, 0); }

std::string names(const KernelProfile& profile) {
  static const char* kNames[] = {"bounds",  "misaligned", "uninit",  "shared_race", "global_race",
                                 "barrier", "deadlock",   "limit",   "assert",      "trap",
                                 "null",    "const",      "invalid", "stack"};
  std::string text;
  for (const Fault& f : profile.faults)
    text += (text.empty() ? "" : " ") + std::string(kNames[static_cast<unsigned>(f.kind)]);
  return text;
}

// The faults of a kernel of 64 threads (two warps) over the shared array `words`.
std::string shared_faults(const std::string& body, unsigned threads = 64) {
  SCOPED_TRACE(body);
  Kernel k(kRegisters + body + "\nret;");
  k.block({threads, 1, 1});
  const KernelProfile profile = k.run();
  EXPECT_EQ(k.error, "") << body;
  return names(profile);
}

// Thread t's word, and that of thread t ^ 32 in the other warp, t ^ 1 in the same one.
const std::string kStoreMine = "st.shared.u32 [%mine], %thr;\n", kLoadMine = "ld.shared.u32 %r, [%mine];\n";
const std::string kOther = "xor.b32 %t, %thr, 32; shl.b32 %t, %t, 2; add.u32 %s, %at, %t;\n";
const std::string kNeighbour = "xor.b32 %t, %thr, 1; shl.b32 %t, %t, 2; add.u32 %n, %at, %t;\n";
const std::string kLoadOther = kOther + "ld.shared.u32 %r, [%s];\n",
                  kStoreOther = kOther + "st.shared.u32 [%s], %thr;\n";
const std::string kLoadNeighbour = kNeighbour + "ld.shared.u32 %r, [%n];\n";
const std::string kStoreNeighbour = kNeighbour + "st.shared.u32 [%n], %thr;\n";
const std::string kBarrier = "bar.sync 0;\n", kWarpBarrier = "bar.warp.sync -1;\n";

TEST(SharedRaces, BetweenWarps) {
  // Warp 0 runs first: both of warp 1's accesses meet one of its own, each a fault of its instruction.
  EXPECT_EQ(shared_faults(kStoreMine + kStoreOther), "shared_race shared_race");
  EXPECT_EQ(shared_faults(kStoreMine + kBarrier + kLoadOther + kStoreMine), "shared_race shared_race");
  EXPECT_EQ(shared_faults(kStoreMine + kBarrier + kStoreMine + kLoadOther), "shared_race shared_race");
  EXPECT_EQ(shared_faults(kStoreMine + kWarpBarrier + kStoreOther), "shared_race shared_race");
}

TEST(SharedRaces, WithinAWarp) {
  EXPECT_EQ(shared_faults(kStoreMine + kLoadNeighbour), "shared_race");
  EXPECT_EQ(shared_faults(kStoreMine + kStoreNeighbour), "shared_race");
  EXPECT_EQ(shared_faults(kStoreMine + kBarrier + kLoadNeighbour + kStoreMine), "shared_race");
  EXPECT_EQ(shared_faults("st.shared.u32 [%at], %thr;\n", 32), "shared_race");  // 32 lanes, one word
}

TEST(SharedRaces, NoneWithABarrierBetween) {
  EXPECT_EQ(shared_faults(kStoreMine + kBarrier + kLoadOther + kBarrier + kStoreOther), "");
  EXPECT_EQ(shared_faults(kStoreMine + kBarrier + kStoreOther + kBarrier + kLoadMine), "");
  EXPECT_EQ(shared_faults(kStoreMine + kLoadMine + kStoreMine), "");
}

TEST(SharedRaces, NoneWithAWarpBarrierBetween) {
  EXPECT_EQ(shared_faults(kStoreMine + kWarpBarrier + kLoadNeighbour + kWarpBarrier + kStoreMine), "");
  EXPECT_EQ(shared_faults(kStoreMine + kWarpBarrier + kStoreNeighbour + kWarpBarrier + kLoadMine), "");
  // A step of a sum within a warp: read a neighbour, wait, add to one's own.
  EXPECT_EQ(shared_faults(kStoreMine + kWarpBarrier + kLoadNeighbour + kWarpBarrier + kLoadMine + kStoreMine +
                          kWarpBarrier + kLoadNeighbour),
            "");
}

TEST(SharedRaces, SeveralReadersThenAWriteAfterTheWarpBarrier) {
  // Lane 0's word is read by every lane, then, behind the barrier, read and written by lane 0 alone.
  EXPECT_EQ(shared_faults(
                kStoreMine + kWarpBarrier + "ld.shared.u32 %r, [%at];\n" + kWarpBarrier +
                    "setp.eq.u32 %p, %thr, 0; @%p ld.shared.u32 %r, [%at]; @%p st.shared.u32 [%at], %r;\n",
                32),
            "");
}

TEST(SharedRaces, NamedBarriersOrderTheirMembers) {
  EXPECT_EQ(shared_faults(kStoreMine + "bar.sync 1, 64;\n" + kLoadOther), "");
  // 128 threads; warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2. Thread t reads t ^ 32: in
  // order.
  const std::string pairs = "shr.u32 %r, %thr, 6; add.u32 %r, %r, 1; bar.sync %r, 64;\n";
  EXPECT_EQ(shared_faults(kStoreMine + pairs + kLoadOther, 128), "");
  // Thread t reads t ^ 64, a warp that it has not met.
  EXPECT_EQ(
      shared_faults(kStoreMine + pairs + "xor.b32 %t, %thr, 64; shl.b32 %t, %t, 2; add.u32 %s, %at, %t;\n" +
                        "ld.shared.u32 %r, [%s];\n",
                    128)
              .find("shared_race") != std::string::npos,
      true);
  // A producer arrives, the consumer waits.
  EXPECT_EQ(shared_faults("setp.lt.u32 %p, %thr, 32; @%p bra producer;\nbar.sync 1, 64;\n" + kLoadOther +
                          "bra done;\nproducer: " + kStoreMine + "bar.arrive 1, 64;\ndone:\n"),
            "");
}

TEST(SharedRaces, BytesOfOneWordAreNotOneAnother) {
  // 64 threads store a byte each; four of them share a word.
  EXPECT_EQ(shared_faults("add.u32 %s, %at, %thr; st.shared.u8 [%s], %thr;\n"), "");
  EXPECT_EQ(shared_faults("shr.u32 %s, %thr, 1; add.u32 %s, %at, %s; st.shared.u8 [%s], %thr;\n"),
            "shared_race");
}

TEST(SharedRaces, AtomicsAreInOrderAmongThemselves) {
  EXPECT_EQ(shared_faults("setp.eq.u32 %p, %thr, 0; @%p st.shared.u32 [%at], 0;\n" + kBarrier +
                          "red.shared.add.u32 [%at], 1;\n" + kBarrier + "ld.shared.u32 %r, [%at];\n"),
            "");
}

TEST(SharedRaces, AFlagThatIsVolatileIsNoReadOfAnything) {
  // A volatile store writes; it reads nothing.
  EXPECT_EQ(shared_faults("setp.eq.u32 %p, %thr, 0; @%p st.volatile.shared.u32 [%at], 0;\n"), "");
}

TEST(SharedRaces, NameBothThreads) {
  Kernel k(kRegisters + kStoreMine + kBarrier + kStoreMine + kLoadOther + "ret;");
  k.block({64, 1, 1}).grid({3, 1, 1});
  const KernelProfile profile = k.run();
  ASSERT_EQ(profile.faults.size(), 2u);
  const Fault& f = profile.faults[0];
  EXPECT_EQ(f.kind, FaultKind::shared_race);
  EXPECT_EQ(f.space, AccessSpace::shared);
  EXPECT_EQ(f.block.x, 0u);
  EXPECT_EQ(f.thread.x ^ f.other_thread.x, 32u);
  EXPECT_EQ(f.width_bytes, 4u);
}

TEST(Uninitialised, SharedMemory) {
  EXPECT_EQ(shared_faults(kLoadMine), "uninit");
  EXPECT_EQ(shared_faults("setp.ne.u32 %p, %thr, 3; @%p " + kStoreMine + kBarrier + kLoadOther), "uninit");
  EXPECT_EQ(shared_faults("red.shared.add.u32 [%at], 1;\n"), "uninit");
}

TEST(Uninitialised, BuffersWithoutValues) {
  const char* text = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
.reg .b32 %t, %r; .reg .b64 %a, %b, %o;
mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; ld.param.u64 %a, [in]; ld.param.u64 %b, [out];
add.u64 %a, %a, %o; add.u64 %b, %b, %o; st.global.u32 [%b], %t; ld.global.u32 %r, [%b]; ld.global.u32 %r, [%a]; ret; })";
  Result<ptx::Module> module = ptx::parse(text, "t.ptx");
  ASSERT_TRUE(module) << module.error().to_string();
  DeviceMemory memory;
  ASSERT_TRUE(memory.load_module(*module).ok());
  Launch launch{
      .function = module->find_function("k"), .grid = {1, 1, 1}, .block = {32, 1, 1}, .parameters = {}};
  const uint64_t address[] = {*memory.allocate("in", 128, false), *memory.allocate("out", 128, false)};
  launch.parameters.resize(16);
  std::memcpy(launch.parameters.data(), address, 16);
  const Result<KernelProfile> profile = fullwarp::exec::run(*module, memory, launch);
  ASSERT_TRUE(profile) << profile.error().to_string();
  ASSERT_EQ(profile->faults.size(), 1u) << names(*profile);
  EXPECT_EQ(profile->faults[0].kind, FaultKind::uninitialised);
  EXPECT_NE(profile->faults[0].object.find("in"), std::string::npos);
  EXPECT_EQ(profile->faults[0].count, 32u);
}

// One load or store by one thread at `out` + offset; `out` has 100 bytes.
KernelProfile access_at(const std::string& instruction, const std::string& offset) {
  SCOPED_TRACE(instruction + " " + offset);
  Kernel k(std::string(kRegisters) + "ld.param.u64 %out, [out]; add.u64 %out, %out, " + offset +
           ";\n.reg .b32 %a, %b, %c, %d;\n"
           "mov.u32 %a, 7; mov.u32 %b, 7; mov.u32 %c, 7; mov.u32 %d, 7; " +
           instruction + " ret;");
  k.buffer("out", zeros(25)).block({1, 1, 1});
  KernelProfile profile = k.run();
  EXPECT_EQ(k.error, "");
  return profile;
}

TEST(Bounds, JustInsideAndJustOutside) {
  EXPECT_EQ(names(access_at("ld.global.u32 %r, [%out];", "96")), "");
  EXPECT_EQ(names(access_at("ld.global.u32 %r, [%out];", "100")), "bounds");
  EXPECT_EQ(names(access_at("st.global.u32 [%out], %r;", "100")), "bounds");
  EXPECT_EQ(names(access_at("ld.global.u32 %r, [%out];", "-4")), "bounds");
  EXPECT_EQ(names(access_at("ld.global.v2.u32 {%a, %b}, [%out];", "88")), "");
  EXPECT_EQ(names(access_at("ld.global.v2.u32 {%a, %b}, [%out];", "96")), "bounds");
  EXPECT_EQ(names(access_at("st.global.v4.u32 [%out], {%a, %b, %c, %d};", "80")), "");
  EXPECT_EQ(names(access_at("st.global.v4.u32 [%out], {%a, %b, %c, %d};", "96")), "bounds");
  EXPECT_EQ(names(access_at("red.global.add.u32 [%out], 1;", "100")), "bounds");
  EXPECT_EQ(names(access_at("ld.global.u8 %r, [%out];", "99")), "");
  EXPECT_EQ(names(access_at("ld.global.u8 %r, [%out];", "100")), "bounds");
}

TEST(Bounds, FarAwayAndBeyondTheAddressSpace) {
  for (const char* far : {"549755813888", "-549755813888", "0x7000000000000000", "-8000000000000000000"})
    for (const char* access :
         {"ld.global.u32 %r, [%out];", "st.global.u32 [%out], %r;", "ld.u32 %r, [%out];"})
      EXPECT_NE(names(access_at(access, far)), "") << access << far;
}

TEST(Bounds, NullPointersAreNamedSo) {
  Kernel k(std::string(kRegisters) + "mov.u64 %out, 0; ld.global.u32 %r, [%out+8]; ret;");
  EXPECT_EQ(names(k.run()), "null");
}

TEST(Bounds, AFaultingLoadGivesZeroAndTheOtherLanesGoOn) {
  // 32 lanes load words 10 ... 41 of a buffer of 25: lanes 15-31 are outside.
  Kernel k(std::string(kRegisters) + kMine +
           "ld.param.u64 %f, [in]; add.u64 %f, %f, %rd; mov.u32 %r, 99; ld.global.u32 %r, [%f+40];\n"
           "st.global.u32 [%out], %r; ret;");
  std::vector<uint32_t> in(25);
  for (uint32_t i = 0; i < 25; ++i) in[i] = i + 1;
  k.buffer("in", in).buffer("out", zeros(32));
  const KernelProfile profile = k.run();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 15 ? i + 11 : 0) << i;
  ASSERT_EQ(profile.faults.size(), 1u);
  EXPECT_EQ(profile.faults[0].count, 17u);
  EXPECT_EQ(profile.faults[0].thread.x, 15u);
  EXPECT_EQ(profile.faults[0].offset, 100);
}

TEST(Bounds, SharedAndLocalMemory) {
  EXPECT_EQ(shared_faults("add.u32 %s, %at, 1024; st.shared.u32 [%s], %thr;\n", 1), "bounds");
  EXPECT_EQ(shared_faults("sub.u32 %s, %at, 4; ld.shared.u32 %r, [%s];\n", 1), "bounds");
  EXPECT_NE(
      shared_faults(
          ".local .align 4 .b8 mine[16]; mov.u32 %s, mine; add.u32 %s, %s, 16777216; st.local.u32 [%s], 1;\n",
          1),
      "");
}

TEST(Alignment, EveryWidthHasItsOwn) {
  EXPECT_EQ(names(access_at("ld.global.u32 %r, [%out];", "2")), "misaligned");
  EXPECT_EQ(names(access_at("ld.global.v2.u32 {%a, %b}, [%out];", "4")), "misaligned");
  EXPECT_EQ(names(access_at("ld.global.v4.u32 {%a, %b, %c, %d}, [%out];", "8")), "misaligned");
  EXPECT_EQ(names(access_at("st.global.u16 [%out], 1;", "1")), "misaligned");
  EXPECT_EQ(shared_faults("st.shared.u32 [%at+2], %thr;\n", 1), "misaligned");
}

TEST(Spaces, ConstantsAreReadOnly) {
  Kernel k(std::string(kRegisters) + kMine +
               "mov.u64 %f, table; ld.const.u32 %r, [table+4]; st.global.u32 [%out], %r; st.global.u32 [%f], "
               "1; ret;",
           ".const .align 4 .u32 table[3] = {5, 6, 7};\n");
  k.buffer("out", zeros(32)).block({1, 1, 1});
  EXPECT_EQ(names(k.run()), "const");
  EXPECT_EQ(k.values<uint32_t>("out")[0], 6u);
  EXPECT_EQ(k.values<uint32_t>("table"), (std::vector<uint32_t>{5, 6, 7}));
}

TEST(Spaces, InitialisersMayHoldAddresses) {
  Kernel k(std::string(kRegisters) + kMine +
               "mov.u64 %f, place; ld.global.u64 %f, [%f]; ld.u32 %r, [%f]; st.global.u32 [%out], %r; ret;",
           ".global .align 4 .u32 values[4] = {10, 20, 30, 40};\n.global .align 8 .u64 place = "
           "generic(values)+8;\n");
  k.buffer("out", zeros(32)).block({1, 1, 1});
  k.run_clean();
  EXPECT_EQ(k.values<uint32_t>("out")[0], 30u);
}

TEST(Spaces, OneInstructionMayMeetThemAll) {
  // Lanes % 3: a word in global, shared and local memory, all through one generic load and store.
  const std::string body = std::string(kRegisters) + kMine +
                           ".local .align 4 .b8 depot[8]; .reg .b64 %g, %h, %l; .reg .b32 %three;\n"
                           "st.shared.u32 [%mine], 200; st.local.u32 [depot], 300;\n"
                           "mov.u64 %l, depot; cvta.local.u64 %l, %l; rem.u32 %three, %thr, 3;\n"
                           "cvt.u64.u32 %h, %mine; cvta.shared.u64 %h, %h; ld.param.u64 %g, [in];\n"
                           "setp.eq.u32 %p, %three, 0; selp.b64 %f, %g, %h, %p;\n"
                           "setp.eq.u32 %p, %three, 2; selp.b64 %f, %l, %f, %p;\n"
                           "ld.u32 %r, [%f]; add.u32 %r, %r, %three; st.u32 [%f], %r; ld.u32 %r, [%f];\n"
                           "st.global.u32 [%out], %r; ret;";
  Kernel all(body);
  all.buffer("in", std::vector<uint32_t>{100}).buffer("out", zeros(32));
  all.run_clean();
  const std::vector<uint32_t> out = all.values<uint32_t>("out");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 3 == 0 ? 100u : i % 3 == 1 ? 201u : 302u) << i;
}

TEST(Spaces, LocalArraysBelongToTheThread) {
  // Each thread writes its squares and reads one at an index of its own.
  Kernel k(
      std::string(kRegisters) + kMine +
      ".local .align 4 .b8 depot[32]; mov.u32 %r, 0; mov.u32 %at, depot;\n"
      "fill: mad.lo.u32 %s, %r, %r, %thr; shl.b32 %t, %r, 2; add.u32 %t, %at, %t; st.local.u32 [%t], %s;\n"
      "add.u32 %r, %r, 1; setp.lt.u32 %p, %r, 8; @%p bra fill;\n"
      "and.b32 %r, %thr, 7; shl.b32 %t, %r, 2; add.u32 %t, %at, %t; ld.local.u32 %s, [%t];\n"
      "st.global.u32 [%out], %s; ret;");
  k.buffer("out", zeros(64)).block({64, 1, 1});
  const KernelProfile profile = k.run_clean();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], (i % 8) * (i % 8) + i) << i;
  for (const profile::MemoryCounters& m : profile.memory) {
    if (m.space != AccessSpace::local) continue;
    // Words of the lanes lie side by side: a uniform index is 4 sectors; eight different ones touch, in each
    // of the 4 sectors of a row (lanes 0-7, 8-15, ...), 8 rows: 32 sectors.
    const bool store = m.kind == mem::AccessKind::store;
    EXPECT_EQ(m.requests, store ? 16u : 2u);
    EXPECT_EQ(m.sectors, store ? 16u * 4 : 2u * 32);
  }
}

TEST(Spaces, DynamicSharedMemoryFollowsTheStatic) {
  Kernel k(
      std::string(kRegisters) + kMine +
          "mov.u32 %s, dynamic; add.u32 %s, %s, %t; st.shared.u32 [%s], %thr; st.shared.u32 [%mine], 5;\n"
          "ld.shared.u32 %r, [%s]; st.global.u32 [%out], %r; ret;",
      ".extern .shared .align 16 .b8 dynamic[];\n");
  k.buffer("out", zeros(32)).dynamic_shared(128);
  k.run_clean();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i);
  k.dynamic_shared(124);  // one word short
  EXPECT_EQ(names(k.run()), "bounds bounds");
}

TEST(GlobalRaces, BlocksThatWriteOnePlace) {
  // Two blocks of one thread; `where` in words, by block.
  auto run = [](const std::string& body) {
    Kernel k(std::string(kRegisters) +
             "mov.u32 %n, %ctaid.x; ld.param.u64 %out, [out]; mul.wide.u32 %rd, %n, 4;\n" +
             "add.u64 %f, %out, %rd;\n" + body + "ret;");
    k.buffer("out", zeros(4)).grid({2, 1, 1}).block({1, 1, 1});
    const KernelProfile profile = k.run();
    EXPECT_EQ(k.error, "");
    return names(profile);
  };
  EXPECT_EQ(run("st.global.u32 [%out], %n;\n"), "global_race");
  EXPECT_EQ(run("st.global.u32 [%f], %n;\n"), "");
  EXPECT_EQ(run("st.global.u32 [%f], %n; ld.global.u32 %r, [%out];\n"), "global_race");
  EXPECT_EQ(run("red.global.add.u32 [%out], 1;\n"), "");
  EXPECT_EQ(run("ld.global.u32 %r, [%out];\n"), "");
  // Bytes 0 and 1 of one word.
  EXPECT_EQ(run("cvt.u64.u32 %rd, %n; add.u64 %f, %out, %rd; st.global.u8 [%f], %n;\n"), "");
}

TEST(Printing, BlocksPrintInTheirOrder) {
  Kernel k(
      ".reg .b32 %r; .reg .b64 %a, %b; .local .align 8 .b8 depot[8];\n"
      "mov.u32 %r, %ctaid.x; st.local.u32 [depot], %r; mov.u64 %a, depot; cvta.local.u64 %a, %a;\n"
      "mov.u64 %b, format; cvta.global.u64 %b, %b;\n"
      "{ .param .b64 p0; st.param.b64 [p0], %b; .param .b64 p1; st.param.b64 [p1], %a; .param .b32 ret0;\n"
      "call.uni (ret0), vprintf, (p0, p1); } ret;",
      ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
      ".global .align 1 .b8 format[4] = {37, 100, 32, 0};\n");
  k.grid({12, 1, 1}).block({1, 1, 1});
  Options options;
  options.threads = 3;
  EXPECT_EQ(k.run_clean(options).printed, "0 1 2 3 4 5 6 7 8 9 10 11 ");
}

}  // namespace
}  // namespace fullwarp::exec::test
