// Which lanes execute what, and when they meet again: branches, loops, early exits, calls, rendezvous, locks.
// The counts beside each instruction are worked out by hand from the lanes that take each way.
#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

using profile::ExecutionCounters;
using profile::FaultKind;
using profile::KernelProfile;

constexpr const char* kRegisters =
    ".reg .pred %p, %q; .reg .b32 %thr, %lane, %r, %s, %t, %n; .reg .b64 %rd, %out, %f;\n"
    "mov.u32 %thr, %tid.x; mov.u32 %lane, %laneid;\n";
// %out points to this thread's word of buffer `out` (one block).
constexpr const char* kMine =
    "ld.param.u64 %out, [out]; mul.wide.u32 %rd, %thr, 4; add.u64 %out, %out, %rd;\n";

std::vector<uint32_t> zeros(size_t count) { return std::vector<uint32_t>(count, 0); }

// The counters of the n-th instruction of the kernel that has this opcode.
ExecutionCounters counters(const KernelProfile& profile, ptx::Op op, size_t n = 0) {
  const auto& function = profile.module->functions[static_cast<size_t>(profile.function)];
  const auto& executed = profile.executed[static_cast<size_t>(profile.function)];
  for (size_t i = 0; i < function.instructions.size(); ++i)
    if (function.instructions[i].op == op && n-- == 0) return executed[i];
  ADD_FAILURE() << "no such instruction";
  return {};
}

std::string faults(const KernelProfile& profile) {
  std::string text;
  for (const profile::Fault& f : profile.faults)
    text += std::to_string(static_cast<int>(f.kind)) + " " + f.detail + "; ";
  return text;
}

const profile::Fault* fault(const KernelProfile& profile, FaultKind kind) {
  for (const profile::Fault& f : profile.faults)
    if (f.kind == kind) return &f;
  return nullptr;
}

TEST(Control, BothSidesOfABranchMeetAgain) {
  // 10 lanes go one way, 22 the other; all 32 store together.
  Kernel k(std::string(kRegisters) + kMine +
           "setp.lt.u32 %p, %lane, 10; @%p bra low;\n"
           "add.u32 %r, %lane, 100; bra both;\n"
           "low: sub.u32 %r, %lane, 100;\n"
           "both: st.global.u32 [%out], %r; ret;");
  k.buffer("out", zeros(32));
  const KernelProfile profile = k.run_clean();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 10 ? i - 100 : i + 100) << i;
  const ExecutionCounters branch = counters(profile, ptx::Op::bra);
  EXPECT_EQ(branch.warps, 1u);
  EXPECT_EQ(branch.lanes, 32u);
  EXPECT_EQ(branch.divergent, 1u);
  EXPECT_EQ(counters(profile, ptx::Op::sub).lanes, 10u);
  EXPECT_EQ(counters(profile, ptx::Op::bra, 1).lanes, 22u);
  EXPECT_EQ(counters(profile, ptx::Op::bra, 1).divergent, 0u);
  EXPECT_EQ(counters(profile, ptx::Op::st).warps, 1u);
  EXPECT_EQ(counters(profile, ptx::Op::st).lanes, 32u);
}

TEST(Control, NestedBranchesMeetInsideOut) {
  // Lanes 0-15: 0-7 add 1, 8-15 add 2, then all 16 add 10 at once; lanes 16-31 add 20; all store at once.
  Kernel k(std::string(kRegisters) + kMine +
           "mov.u32 %r, 0; setp.ge.u32 %p, %lane, 16; @%p bra outer_else;\n"
           "setp.ge.u32 %q, %lane, 8; @%q bra inner_else;\n"
           "add.u32 %r, %r, 1; bra inner_end;\n"
           "inner_else: add.u32 %r, %r, 2;\n"
           "inner_end: or.b32 %s, %r, 0; add.u32 %r, %s, 10; bra outer_end;\n"
           "outer_else: add.u32 %r, %r, 20;\n"
           "outer_end: st.global.u32 [%out], %r; ret;");
  k.buffer("out", zeros(32));
  const KernelProfile profile = k.run_clean();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 8 ? 11u : i < 16 ? 12u : 20u) << i;
  EXPECT_EQ(counters(profile, ptx::Op::or_).warps, 1u);
  EXPECT_EQ(counters(profile, ptx::Op::or_).lanes, 16u);
  EXPECT_EQ(counters(profile, ptx::Op::st).warps, 1u);
}

TEST(Control, LoopsOfDifferentLengthsEndTogether) {
  // Lane i goes round i + 1 times: round r is executed by the lanes i >= r, 32 + 31 + ... + 1 = 528 lanes in
  // 32 rounds. The branch back parts in every round but the last.
  Kernel k(std::string(kRegisters) + kMine +
           "mov.u32 %r, 0; add.u32 %n, %lane, 1;\n"
           "again: xor.b32 %s, %r, 0; add.u32 %r, %s, 1; setp.lt.u32 %p, %r, %n; @%p bra again;\n"
           "st.global.u32 [%out], %r; ret;");
  k.buffer("out", zeros(32));
  const KernelProfile profile = k.run_clean();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i + 1);
  EXPECT_EQ(counters(profile, ptx::Op::xor_).warps, 32u);
  EXPECT_EQ(counters(profile, ptx::Op::xor_).lanes, 528u);
  EXPECT_EQ(counters(profile, ptx::Op::bra).divergent, 31u);
  EXPECT_EQ(counters(profile, ptx::Op::st).warps, 1u);
  EXPECT_EQ(counters(profile, ptx::Op::st).lanes, 32u);
}

TEST(Control, LanesThatExitEarlyAreNotWaitedFor) {
  // 70 threads are 3 warps, the last of 6 lanes. Odd threads end at once; the others still store together.
  Kernel k(std::string(kRegisters) + kMine +
           "and.b32 %r, %thr, 1; setp.ne.u32 %p, %r, 0; @%p exit;\n"
           "setp.lt.u32 %q, %lane, 16; @%q bra low; add.u32 %s, %thr, 1000; bra both;\n"
           "low: add.u32 %s, %thr, 2000;\n"
           "both: st.global.u32 [%out], %s; ret;");
  k.buffer("out", zeros(70)).block({70, 1, 1});
  const KernelProfile profile = k.run_clean();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 70; ++i) EXPECT_EQ(out[i], i % 2 ? 0 : i % 32 < 16 ? i + 2000 : i + 1000) << i;
  EXPECT_EQ(counters(profile, ptx::Op::exit).lanes, 70u);
  EXPECT_EQ(counters(profile, ptx::Op::st).warps, 3u);
  EXPECT_EQ(counters(profile, ptx::Op::st).lanes, 35u);
}

TEST(Control, BranchTablesSendEachLaneItsWay) {
  Kernel k(std::string(kRegisters) + kMine +
           "ways: .branchtargets zero, one, two, one;\n"
           "and.b32 %r, %lane, 3; brx.idx %r, ways;\n"
           "zero: mov.u32 %s, 10; bra done;\n"
           "one: add.u32 %s, %r, 20; bra done;\n"
           "two: mov.u32 %s, 30;\n"
           "done: st.global.u32 [%out], %s; ret;");
  k.buffer("out", zeros(32));
  const KernelProfile profile = k.run_clean();
  const uint32_t want[] = {10, 21, 30, 23};
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], want[i % 4]) << i;
  EXPECT_EQ(counters(profile, ptx::Op::st).warps, 1u);
  EXPECT_EQ(counters(profile, ptx::Op::st).lanes, 32u);
}

constexpr const char* kFactorial =
    ".func (.param .b32 result) factorial(.param .b32 n) {\n"
    " .reg .pred %p; .reg .b32 %n, %m, %r;\n"
    " ld.param.u32 %n, [n]; mov.u32 %r, 1; setp.lt.u32 %p, %n, 2; @%p bra end;\n"
    " sub.u32 %m, %n, 1;\n"
    " { .param .b32 a; .param .b32 b; st.param.b32 [a], %m; call (b), factorial, (a); ld.param.b32 %r, [b]; "
    "}\n"
    " mul.lo.u32 %r, %r, %n;\n"
    "end: st.param.b32 [result], %r; ret; }\n";

TEST(Control, LanesRecurseToDifferentDepths) {
  Kernel k(std::string(kRegisters) + kMine +
               "and.b32 %r, %lane, 7; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r;\n"
               "call (b), factorial, (a); ld.param.b32 %s, [b]; } st.global.u32 [%out], %s; ret;",
           kFactorial);
  k.buffer("out", zeros(32));
  const KernelProfile profile = k.run_clean();
  const uint32_t want[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], want[i % 8]) << i;
  EXPECT_EQ(counters(profile, ptx::Op::st, 1).warps, 1u);  // all lanes are back
}

TEST(Control, EndlessRecursionIsAStackOverflow) {
  Kernel k(
      std::string(kRegisters) + kMine +
          "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %lane; call (b), deep, (a); ld.param.b32 %s, "
          "[b]; }"
          "st.global.u32 [%out], %s; ret;",
      ".func (.param .b32 result) deep(.param .b32 n) { .reg .b32 %n; .local .b8 big[4096]; ld.param.u32 %n, "
      "[n];\n"
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %n; call (b), deep, (a); ld.param.b32 %n, [b]; }\n"
      "st.param.b32 [result], %n; ret; }\n");
  k.buffer("out", zeros(32));
  const KernelProfile profile = k.run();
  EXPECT_EQ(k.error, "");
  EXPECT_NE(fault(profile, FaultKind::stack_overflow), nullptr) << faults(profile);
}

TEST(Control, FunctionPointersDifferByLane) {
  const std::string functions =
      ".func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %x; ld.param.u32 %x, [x]; add.u32 %x, %x, %x;\n"
      " st.param.b32 [r], %x; ret; }\n"
      ".func (.param .b32 r) minus(.param .b32 x) { .reg .b32 %x; ld.param.u32 %x, [x]; neg.s32 %x, %x;\n"
      " st.param.b32 [r], %x; ret; }\n"
      ".global .align 8 .u64 table[2] = {twice, minus};\n";
  Kernel k(std::string(kRegisters) + kMine +
               "and.b32 %r, %lane, 1; mul.wide.u32 %rd, %r, 8; mov.u64 %f, table; add.u64 %f, %f, %rd;\n"
               "ld.global.u64 %f, [%f]; { .param .b32 a; .param .b32 b; st.param.b32 [a], %lane;\n"
               "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
               "call (b), %f, (a), proto; ld.param.b32 %s, [b]; } st.global.u32 [%out], %s; ret;",
           functions);
  k.buffer("out", zeros(32));
  const KernelProfile profile = k.run_clean();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 2 ? 0 - i : 2 * i) << i;
  EXPECT_EQ(counters(profile, ptx::Op::st, 1).warps, 1u);
}

TEST(Control, AWildFunctionPointerIsAFault) {
  Kernel k(std::string(kRegisters) +
           "mov.u64 %f, 12345; { .param .b32 a; .param .b32 b; st.param.b32 [a], %lane;\n"
           "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
           "call (b), %f, (a), proto; ld.param.b32 %s, [b]; } ret;");
  EXPECT_NE(fault(k.run(), FaultKind::invalid_instruction), nullptr);
  EXPECT_EQ(k.error, "");
}

TEST(Control, AConstantSetBehindItsUseInTheText) {
  // Text order is not execution order: clang writes a loop's body in front of its head.
  Kernel k(std::string(kRegisters) + kMine +
           "bra head;\n"
           "body: add.u32 %s, %r, %lane; st.global.u32 [%out], %s; bra done;\n"
           "head: mov.b32 %r, 4096; bra body;\n"
           "done: ret;");
  k.buffer("out", zeros(32));
  k.run_clean();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 4096 + i) << i;
}

TEST(Rendezvous, ShuffleMeetsAcrossBothSidesOfABranch) {
  // The lanes below 16 and those above shuffle at different instructions with one mask: they exchange values.
  Kernel k(std::string(kRegisters) + kMine +
           "add.u32 %r, %lane, 100; setp.lt.u32 %p, %lane, 16; @%p bra low;\n"
           "shfl.sync.bfly.b32 %s, %r, 16, 31, -1; bra done;\n"
           "low: shfl.sync.bfly.b32 %s, %r, 16, 31, -1;\n"
           "done: st.global.u32 [%out], %s; ret;");
  k.buffer("out", zeros(32));
  k.run_clean();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], (i ^ 16) + 100) << i;
}

TEST(Rendezvous, VotesWithMasksOfTheirOwnDoNotMix) {
  // Each side votes with its own mask.
  Kernel k(std::string(kRegisters) + kMine +
           "setp.lt.u32 %p, %lane, 12; and.b32 %r, %lane, 1; setp.eq.u32 %q, %r, 1; @%p bra low;\n"
           "vote.sync.ballot.b32 %s, %q, 0xfffff000; bra done;\n"
           "low: vote.sync.ballot.b32 %s, %q, 0xfff;\n"
           "done: st.global.u32 [%out], %s; ret;");
  k.buffer("out", zeros(32));
  k.run_clean();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 12 ? 0xaaau : 0xaaaaa000u) << i;
}

TEST(Rendezvous, LanesThatExitedCountAsArrived) {
  Kernel k(std::string(kRegisters) + kMine +
           "setp.ge.u32 %p, %lane, 20; @%p exit; setp.ne.u32 %q, %lane, 99;\n"
           "vote.sync.ballot.b32 %s, %q, -1; st.global.u32 [%out], %s; ret;");
  k.buffer("out", zeros(32));
  k.run_clean();
  EXPECT_EQ(k.values<uint32_t>("out")[0], 0xfffffu);
}

constexpr const char* kLock =
    "ld.param.u64 %f, [lock];\n"
    "spin: atom.global.cas.b32 %r, [%f], 0, 1; setp.ne.u32 %p, %r, 0; @%p bra spin;\n"
    "ld.volatile.global.u32 %s, [%f+4]; add.u32 %s, %s, 1; st.volatile.global.u32 [%f+4], %s;\n"
    "membar.gl; atom.global.exch.b32 %r, [%f], 0; ret;";

TEST(Locks, LanesWarpsAndBlocksTakeTurns) {
  Kernel k(std::string(kRegisters) + kLock);
  k.buffer("lock", zeros(2)).grid({3, 1, 1}).block({48, 1, 1});
  k.run_clean();
  EXPECT_EQ(k.values<uint32_t>("lock"), (std::vector<uint32_t>{0, 144}));
}

TEST(Locks, ALaneMayWaitForALaneOnTheOtherSide) {
  // Lane 0 waits in a loop for a word that lane 1 writes behind the branch.
  Kernel k(std::string(kRegisters) +
           "ld.param.u64 %f, [flag]; setp.ne.u32 %p, %lane, 0; @%p bra give;\n"
           "wait: ld.volatile.global.u32 %r, [%f]; setp.eq.u32 %q, %r, 0; @%q bra wait; bra done;\n"
           "give: st.volatile.global.u32 [%f], 7;\n"
           "done: ret;");
  k.buffer("flag", zeros(1)).block({2, 1, 1});
  k.run_clean();
  EXPECT_EQ(k.values<uint32_t>("flag")[0], 7u);
}

TEST(Locks, ALoopThatNeverEndsStopsAtTheLimit) {
  Kernel k(std::string(kRegisters) + "forever: add.u32 %r, %thr, 1; bra forever;");
  Options options;
  options.step_limit = 100000;
  const KernelProfile profile = k.run(options);
  ASSERT_NE(fault(profile, FaultKind::step_limit), nullptr);
  EXPECT_EQ(profile.faults.size(), 1u) << faults(profile);
  EXPECT_LT(profile.warp_instructions, 200000u);
}

TEST(Barriers, ThreadsThatExitedCountAsArrived) {
  // 96 threads, the last 40 end before the barrier: a warp as a whole and part of another.
  Kernel k(std::string(kRegisters) + kMine +
           ".shared .u32 word; setp.ge.u32 %p, %thr, 56; @%p exit;\n"
           "setp.eq.u32 %q, %thr, 0; @%q st.shared.u32 [word], 5; bar.sync 0;\n"
           "ld.shared.u32 %r, [word]; st.global.u32 [%out], %r; ret;");
  k.buffer("out", zeros(96)).block({96, 1, 1});
  const KernelProfile profile = k.run();
  EXPECT_EQ(k.error, "");
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 96; ++i) EXPECT_EQ(out[i], i < 56 ? 5u : 0u) << i;
  // It works, and is reported: some threads never reach the barrier.
  EXPECT_EQ(profile.faults.size(), 1u) << faults(profile);
  EXPECT_NE(fault(profile, FaultKind::barrier_divergence), nullptr);
}

TEST(Barriers, NamedBarriersOfHalfABlock) {
  // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; each thread reads its partner warp's word.
  Kernel k(std::string(kRegisters) + kMine +
           ".shared .u32 words[128]; mov.u32 %s, words; shl.b32 %t, %thr, 2; add.u32 %s, %s, %t;\n"
           "st.shared.u32 [%s], %thr; shr.u32 %r, %thr, 6; add.u32 %r, %r, 1; bar.sync %r, 64;\n"
           "mov.u32 %s, words; xor.b32 %t, %thr, 32; shl.b32 %t, %t, 2; add.u32 %s, %s, %t;\n"
           "ld.shared.u32 %n, [%s]; st.global.u32 [%out], %n; ret;");
  k.buffer("out", zeros(128)).block({128, 1, 1});
  k.run_clean();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], i ^ 32) << i;
}

TEST(Barriers, ReductionsOverTheBlock) {
  Kernel k(std::string(kRegisters) + kMine +
           "setp.lt.u32 %p, %thr, 37; bar.red.popc.u32 %r, 0, %p;\n"
           "bar.red.and.pred %q, 0, %p; selp.u32 %s, 1000, 0, %q; add.u32 %r, %r, %s;\n"
           "bar.red.or.pred %q, 0, %p; selp.u32 %s, 2000, 0, %q; add.u32 %r, %r, %s;\n"
           "st.global.u32 [%out], %r; ret;");
  k.buffer("out", zeros(80)).block({80, 1, 1});
  k.run_clean();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 80; ++i) EXPECT_EQ(out[i], 2037u) << i;
}

TEST(Barriers, WaitingForThreadsThatNeverComeIsADeadlock) {
  // One warp waits at barrier 1, the other at barrier 2, each for 64 threads.
  Kernel k(std::string(kRegisters) + "shr.u32 %r, %thr, 5; add.u32 %r, %r, 1; bar.sync %r, 64; ret;");
  k.block({64, 1, 1});
  const KernelProfile profile = k.run();
  EXPECT_EQ(k.error, "");
  EXPECT_NE(fault(profile, FaultKind::deadlock), nullptr) << faults(profile);
}

TEST(Barriers, TwoBarrierInstructionsInOneWarpAreReported) {
  Kernel k(std::string(kRegisters) +
           "setp.lt.u32 %p, %lane, 16; @%p bra low; bar.sync 0; bra done; low: bar.sync 0; done: ret;");
  const KernelProfile profile = k.run();
  EXPECT_EQ(k.error, "");
  EXPECT_NE(fault(profile, FaultKind::barrier_divergence), nullptr) << faults(profile);
}

TEST(Barriers, TheGridsBarrierOrdersAllBlocks) {
  // What grid.sync() of cooperative groups is: a counter in the launch's workspace whose top bit flips. Every
  // block reads what another one wrote before; with more blocks than run at once otherwise.
  constexpr uint32_t kBlocks = 300;
  const std::string wait =
      "mov.u32 %r, %envreg1; mov.u32 %s, %envreg2; mov.b64 %f, {%s, %r};\n"
      "bar.sync 0; setp.ne.u32 %p, %thr, 0; @%p bra there;\n"
      "mov.u32 %n, %ctaid.x; setp.eq.u32 %q, %n, 0; selp.b32 %t, 2147483349, 1, %q;\n"  // 2^31 - 299
      "atom.add.release.gpu.u32 %r, [%f+4], %t;\n"
      "again: ld.acquire.gpu.u32 %s, [%f+4]; xor.b32 %s, %s, %r; setp.ge.s32 %p, %s, 0; @%p bra again;\n"
      "there: bar.sync 0;\n";
  const auto body = [&](const std::string& barrier) {
    return std::string(kRegisters) + kMine + ".reg .b64 %in, %other; mov.u32 %n, %ctaid.x;\n" +
           "ld.param.u64 %in, [in]; mad.wide.u32 %other, %n, 4, %in; add.u32 %t, %n, 7; st.global.u32 "
           "[%other], %t;\n" +
           barrier +
           "mov.u32 %n, %ctaid.x; sub.u32 %r, 299, %n; mad.wide.u32 %other, %r, 4, %in; ld.global.u32 %s, "
           "[%other];\n"
           "ld.param.u64 %out, [out]; mad.wide.u32 %other, %n, 4, %out; st.global.u32 [%other], %s; ret;";
  };
  Kernel k(body(wait));
  k.buffer("in", zeros(kBlocks)).buffer("out", zeros(kBlocks)).grid({kBlocks, 1, 1}).block({64, 1, 1});
  k.run_clean();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < kBlocks; ++i) EXPECT_EQ(out[i], kBlocks - 1 - i + 7) << i;
  Kernel without(body(""));
  without.buffer("in", zeros(kBlocks)).buffer("out", zeros(kBlocks)).grid({kBlocks, 1, 1}).block({64, 1, 1});
  EXPECT_NE(fault(without.run(), FaultKind::global_race), nullptr);
}

TEST(Counts, DoNotDependOnThreads) {
  // Every block walks a different number of rounds, gathers from `in` and adds to `sum`.
  const std::string body =
      std::string(kRegisters) +
      "mov.u32 %n, %ctaid.x; mov.u32 %r, 0; mov.u32 %s, 0; ld.param.u64 %out, [in];\n"
      "again: mad.lo.u32 %t, %thr, 37, %n; add.u32 %t, %t, %r; and.b32 %t, %t, 1023; mul.wide.u32 %rd, %t, "
      "4;\n"
      "add.u64 %f, %out, %rd; ld.global.u32 %t, [%f]; add.u32 %s, %s, %t; add.u32 %r, %r, 1;\n"
      "setp.lt.u32 %p, %r, %thr; setp.le.and.u32 %p, %r, %n, %p; @%p bra again;\n"
      "ld.param.u64 %f, [sum]; red.global.add.u32 [%f], %s; ret;";
  std::vector<uint32_t> in(1024);
  for (uint32_t i = 0; i < 1024; ++i) in[i] = i * i;
  auto run = [&](unsigned threads, KernelProfile* profile) {
    Kernel k(body);
    k.buffer("in", in).buffer("sum", zeros(1)).grid({40, 1, 1}).block({50, 1, 1});
    Options options;
    options.threads = threads;
    *profile = k.run_clean(options);
    return k.values<uint32_t>("sum")[0];
  };
  KernelProfile one, other;
  const uint32_t sum = run(1, &one);
  // Many times: which worker gets which block, and in which order, is another each time.
  for (unsigned round = 0; round < 40; ++round) {
    EXPECT_EQ(run(2 + round % 4, &other), sum);
    EXPECT_EQ(one.warp_instructions, other.warp_instructions);
    EXPECT_EQ(one.lane_instructions, other.lane_instructions);
    ASSERT_EQ(one.executed.size(), other.executed.size());
    for (size_t f = 0; f < one.executed.size(); ++f) {
      ASSERT_EQ(one.executed[f].size(), other.executed[f].size());
      for (size_t i = 0; i < one.executed[f].size(); ++i) {
        const ExecutionCounters &a = one.executed[f][i], &b = other.executed[f][i];
        EXPECT_EQ(std::tie(a.warps, a.lanes, a.lanes_on, a.divergent),
                  std::tie(b.warps, b.lanes, b.lanes_on, b.divergent));
      }
    }
    ASSERT_EQ(one.memory.size(), other.memory.size());
    for (size_t i = 0; i < one.memory.size(); ++i) {
      const profile::MemoryCounters &a = one.memory[i], &b = other.memory[i];
      EXPECT_EQ(std::tie(a.requests, a.lanes, a.bytes_asked, a.sectors, a.ideal_sectors, a.lines,
                         a.wavefronts, a.misaligned_requests, a.extra_copies, a.uniform_requests,
                         a.example.access.address, a.example.warp),
                std::tie(b.requests, b.lanes, b.bytes_asked, b.sectors, b.ideal_sectors, b.lines,
                         b.wavefronts, b.misaligned_requests, b.extra_copies, b.uniform_requests,
                         b.example.access.address, b.example.warp));
      EXPECT_EQ(a.example.block.x, b.example.block.x);
    }
    ASSERT_EQ(one.buffers.size(), other.buffers.size());
    for (size_t i = 0; i < one.buffers.size(); ++i) {
      const profile::BufferCounters &a = one.buffers[i], &b = other.buffers[i];
      EXPECT_EQ(std::tie(a.name, a.loaded_bytes_asked, a.stored_bytes_asked, a.loaded_bytes_touched,
                         a.stored_bytes_touched, a.block_load_sectors, a.blocks_loading),
                std::tie(b.name, b.loaded_bytes_asked, b.stored_bytes_asked, b.loaded_bytes_touched,
                         b.stored_bytes_touched, b.block_load_sectors, b.blocks_loading));
    }
  }
}

TEST(Stack, AllocaGivesEachLaneRoomOfItsOwnSize) {
  // Lane i asks for 4 * (i + 1) bytes, fills the last word with 100 + i and reads it back; the stack's top is
  // where it was once it is restored.
  Kernel k(
      std::string(kRegisters) + kMine +
      ".reg .b64 %size, %at, %top, %after;\n"
      "stacksave.u64 %top; add.u32 %n, %lane, 1; mul.wide.u32 %size, %n, 4; alloca.u64 %at, %size, 16;\n"
      "add.u64 %at, %at, %size; add.u32 %r, %lane, 100; st.local.u32 [%at+-4], %r; ld.local.u32 %s, "
      "[%at+-4];\n"
      "stackrestore.u64 %top; stacksave.u64 %after; sub.u64 %after, %after, %top; cvt.u32.u64 %t, %after;\n"
      "add.u32 %s, %s, %t; st.global.u32 [%out], %s; ret;");
  k.buffer("out", zeros(32));
  k.run_clean();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 100 + i) << i;
}

TEST(Stack, AnAllocaBeyondTheThreadsMemoryIsAFault) {
  Kernel k(std::string(kRegisters) + kMine +
           ".reg .b64 %at; alloca.u64 %at, 1073741824; st.global.u32 [%out], 1; ret;");
  k.buffer("out", zeros(32));
  const KernelProfile profile = k.run();
  ASSERT_NE(fault(profile, FaultKind::stack_overflow), nullptr);
  EXPECT_EQ(k.values<uint32_t>("out"), zeros(32));
}

TEST(Counts, ASampleOfTheBlocksIsEven) {
  // 4 of 16 blocks: 0, 4, 8, 12.
  Kernel k(
      std::string(kRegisters) +
      "ld.param.u64 %out, [out]; mov.u32 %r, %ctaid.x; mul.wide.u32 %rd, %r, 4; add.u64 %out, %out, %rd;\n"
      "st.global.u32 [%out], 1; ret;");
  k.buffer("out", zeros(16)).grid({16, 1, 1}).block({1, 1, 1});
  Options options;
  options.max_blocks = 4;
  EXPECT_EQ(k.run_clean(options).blocks_run, 4u);
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t i = 0; i < 16; ++i) EXPECT_EQ(out[i], i % 4 == 0 ? 1u : 0u) << i;
}

// Two parts of a warp come to one place one after the other; the first waits there for the second. What it
// has computed before it waits is its own, what nobody reads any more is not.
TEST(Divergence, WhatWaitingLanesHaveIsKept) {
  Kernel k(
      ".reg .pred %p; .reg .b32 %i, %t, %x, %y; .reg .b64 %a;\n"
      "mov.u32 %i, %tid.x; mov.u32 %t, %i; setp.lt.u32 %p, %i, 16; @%p bra meet;\n"
      "setp.eq.u32 %p, %i, 31; @%p bra end;\n"
      "meet: mul.lo.u32 %x, %t, 3; mov.u32 %t, 1000; add.u32 %y, %t, %x; mov.u32 %t, %y;\n"
      "bar.warp.sync 0x7fffffff;\n"
      "add.u32 %y, %x, 1; ld.param.u64 %a, [out]; mad.wide.u32 %a, %i, 8, %a; st.global.v2.u32 [%a], {%y, "
      "%t};\n"
      "end: ret;");
  k.buffer("out", std::vector<uint32_t>(64, 7)).block({32, 1, 1});
  k.run_clean();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (unsigned i = 0; i < 31; ++i) {
    EXPECT_EQ(out[2 * i], 3 * i + 1) << i;
    EXPECT_EQ(out[2 * i + 1], 3 * i + 1000) << i;
  }
  EXPECT_EQ(out[62], 7u);
}

}  // namespace
}  // namespace fullwarp::exec::test
