// Races beyond the plain ones of engine_memory_test.cpp: atomics against plain accesses, warps of one block
// in global memory, copies that nobody waited for, matrix instructions with lanes missing; and that a race
// names both accesses. Each kernel that must be reported has a twin that must not.
#include <cstdint>
#include <string>
#include <vector>

#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

using profile::Fault;
using profile::FaultKind;
using profile::KernelProfile;

constexpr const char* kRegisters =
    ".reg .pred %p, %q; .reg .b32 %thr, %r, %s, %t, %at, %mine, %other; .reg .b64 %rd, %out, %gmine, "
    "%gother, %in;\n"
    ".shared .align 16 .b8 words[1024];\n"
    "mov.u32 %thr, %tid.x; mov.u32 %at, words; shl.b32 %t, %thr, 2; add.u32 %mine, %at, %t;\n"
    "xor.b32 %s, %t, 128; add.u32 %other, %at, %s;\n"  // of thread t ^ 32, in the other warp
    "ld.param.u64 %out, [out]; cvt.u64.u32 %rd, %t; add.u64 %gmine, %out, %rd;\n"
    "cvt.u64.u32 %rd, %s; add.u64 %gother, %out, %rd;\n";
const std::string kBarrier = "bar.sync 0;\n";

// Runs the body with 64 threads a block over a buffer `out` of 256 words.
KernelProfile run(const std::string& body, unsigned threads = 64, unsigned blocks = 1,
                  unsigned cpu_threads = 1) {
  Kernel k(kRegisters + body + "\nret;");
  k.buffer("out", std::vector<uint32_t>(256)).block({threads, 1, 1}).grid({blocks, 1, 1});
  Options options;
  options.threads = cpu_threads;
  KernelProfile profile = k.run(options);
  EXPECT_EQ(k.error, "") << body;
  return profile;
}

std::string kinds(const KernelProfile& profile) {
  std::string text;
  for (const Fault& f : profile.faults)
    text += (text.empty() ? "" : " ") + std::string(f.kind == FaultKind::shared_race     ? "shared"
                                                    : f.kind == FaultKind::global_race   ? "global"
                                                    : f.kind == FaultKind::uninitialised ? "uninitialised"
                                                    : f.kind == FaultKind::invalid_instruction ? "invalid"
                                                                                               : "other");
  return text;
}

// ---- atomics and plain accesses of one word of shared memory ----

const std::string kZero = "st.shared.u32 [%mine], 0;\n";
const std::string kAdd = "red.shared.add.u32 [%at], 1;\n";
const std::string kLoadFirst = "ld.shared.u32 %r, [%at];\n";

TEST(AtomicRaces, APlainLoadOfWhatOtherWarpsAdd) {
  const KernelProfile profile = run(kZero + kBarrier + kAdd + kLoadFirst);
  // Warp 1's load meets warp 0's additions (and its own).
  ASSERT_EQ(kinds(profile), "shared shared");
  EXPECT_EQ(kinds(run(kZero + kBarrier + kAdd + kBarrier + kLoadFirst)), "");
  // One warp alone: which lane's addition was the last is not looked at.
  EXPECT_EQ(kinds(run(kZero + kBarrier + kAdd + kLoadFirst, 32)), "");
}

TEST(AtomicRaces, AnAdditionToWhatAnotherWarpStored) {
  const std::string store = "setp.eq.u32 %p, %thr, 0; @%p st.shared.u32 [%at], 0;\n";
  const KernelProfile profile = run(store + kAdd);
  ASSERT_NE(kinds(profile).find("shared"), std::string::npos);
  EXPECT_EQ(kinds(run(store + kBarrier + kAdd)), "");
}

TEST(AtomicRaces, AnAdditionToWhatAnotherWarpRead) {
  EXPECT_EQ(kinds(run(kZero + kBarrier + kLoadFirst + kAdd)), "shared shared");
  EXPECT_EQ(kinds(run(kZero + kBarrier + kLoadFirst + kBarrier + kAdd)), "");
}

TEST(AtomicRaces, AmongThemselvesTheyAreInOrder) {
  EXPECT_EQ(kinds(run(kZero + kBarrier + kAdd + "atom.shared.max.u32 %r, [%at], %thr;\n")), "");
}

TEST(AtomicRaces, AFlagBehindAFenceHandsOverWhatWasStored) {
  // Thread 0 stores a word, fences, raises a flag by an atomic; warp 1 waits for it, then reads the word.
  const std::string hand_over =
      "st.shared.u32 [%mine], 0; bar.sync 0; setp.ge.u32 %p, %thr, 32; @%p bra wait;\n"
      "setp.ne.u32 %q, %thr, 0; @%q bra done; st.shared.u32 [%at+8], 7; FENCE atom.shared.exch.b32 %r, "
      "[%at+4], 1; bra done;\n"
      "wait: atom.shared.add.u32 %r, [%at+4], 0; setp.eq.u32 %q, %r, 0; @%q bra wait; FENCE ld.shared.u32 "
      "%r, [%at+8];\n"
      "done:\n";
  auto with = [&](const std::string& fence) {
    std::string text = hand_over;
    for (size_t at; (at = text.find("FENCE")) != std::string::npos;) text.replace(at, 5, fence);
    return kinds(run(text));
  };
  EXPECT_EQ(with("membar.cta;"), "");
  EXPECT_EQ(with(""), "shared");
}

// ---- warps of one block in global memory ----

TEST(WarpsInGlobalMemory, AStoreThatAnotherWarpReads) {
  const std::string store = "st.global.u32 [%gmine], %thr;\n", load = "ld.global.u32 %r, [%gother];\n";
  const KernelProfile profile = run(store + load);
  ASSERT_EQ(kinds(profile),
            "global global");  // warp 1 stores what warp 0 read before, and reads what it stored
  EXPECT_NE(profile.faults[0].detail.find("by warp 0 of the same block"), std::string::npos)
      << profile.faults[0].detail;
  EXPECT_EQ(kinds(run(store + kBarrier + load)), "");
  EXPECT_EQ(kinds(run(store + "ld.global.u32 %r, [%gmine];\n")), "");  // one's own
}

TEST(WarpsInGlobalMemory, TwoStoresToOnePlace) {
  EXPECT_EQ(kinds(run("st.global.u32 [%out], %thr;\n")), "global");
  EXPECT_EQ(kinds(run("st.global.u32 [%out], %thr;\n", 32)), "");  // one warp: not looked at
  EXPECT_EQ(kinds(run("setp.lt.u32 %p, %thr, 32; @%p st.global.u32 [%gmine], 1;" + kBarrier +
                      "@!%p st.global.u32 [%gother], 2;\n")),
            "");
}

TEST(WarpsInGlobalMemory, NeighboursDoNotMeet) {
  // Two warps in one line, in one sector, byte by byte; strided; every block its own part.
  EXPECT_EQ(kinds(run("cvt.u64.u32 %rd, %thr; add.u64 %rd, %out, %rd; st.global.u8 [%rd], %thr;\n")), "");
  EXPECT_EQ(kinds(run("and.b32 %r, %thr, 31; shl.b32 %r, %r, 1; shr.u32 %s, %thr, 5; add.u32 %r, %r, %s; "
                      "shl.b32 %r, %r, 2;\n"
                      "cvt.u64.u32 %rd, %r; add.u64 %rd, %out, %rd; st.global.u32 [%rd], %thr; ld.global.u32 "
                      "%r, [%rd];\n")),
            "");
}

TEST(WarpsInGlobalMemory, AtomicsAndVolatileAccessesAreLeftOut) {
  EXPECT_EQ(kinds(run("red.global.add.u32 [%out], 1;\n")), "");
  EXPECT_EQ(kinds(run("st.volatile.global.u32 [%out], %thr;\n")), "");
  // With a fence in the kernel warps may order each other: nothing is said.
  EXPECT_EQ(kinds(run("st.global.u32 [%gmine], %thr; membar.gl; ld.global.u32 %r, [%gother];\n")), "");
}

TEST(WarpsInGlobalMemory, AreFoundOnAnyNumberOfCpus) {
  const std::string body = "st.global.u32 [%out], %thr;\n";  // blocks meet too
  const KernelProfile one = run(body, 64, 9, 1), three = run(body, 64, 9, 3);
  ASSERT_EQ(one.faults.size(), 1u);
  ASSERT_EQ(three.faults.size(), 1u);
  EXPECT_EQ(one.faults[0].detail, three.faults[0].detail);
  EXPECT_EQ(one.faults[0].count, three.faults[0].count);
}

TEST(BlocksInGlobalMemory, MeetAcrossCpusAtAnyDistance) {
  // Block b stores word 8 b; the last block stores word 0 as well.
  const std::string body =
      "setp.ne.u32 %p, %thr, 0; @%p ret; mov.u32 %r, %ctaid.x; shl.b32 %s, %r, 5; cvt.u64.u32 %rd, %s; "
      "add.u64 %rd, %out, %rd;\n"
      "st.global.u32 [%rd], %r; setp.eq.u32 %p, %r, WHO; @%p st.global.u32 [%out], 1;\n";
  auto with = [&](const std::string& who, unsigned cpus) {
    std::string text = body;
    text.replace(text.find("WHO"), 3, who);
    return kinds(run(text, 32, 16, cpus));
  };
  for (unsigned cpus : {1u, 2u, 5u}) {
    EXPECT_EQ(with("15", cpus), "global");
    EXPECT_EQ(with("99", cpus), "");
  }
}

TEST(BlocksInGlobalMemory, StartOverFromWhatStoodThere) {
  // 9 blocks on 3 CPUs meet in word 0, so that they run again in order: once memory that is only stored to,
  // once memory whose old value counts.
  const auto first_word = [](const std::string& body, unsigned cpus) {
    Kernel k(kRegisters + body + "ret;");
    k.buffer("out", std::vector<uint32_t>(256, 5)).block({64, 1, 1}).grid({9, 1, 1});
    Options options;
    options.threads = cpus;
    const KernelProfile profile = k.run(options);
    EXPECT_EQ(kinds(profile).substr(0, 6), "global");
    return k.values<uint32_t>("out")[0];
  };
  const std::string store = "mov.u32 %r, %ctaid.x; setp.eq.u32 %p, %thr, 0; @%p st.global.u32 [%out], %r;";
  const std::string add =
      "setp.ne.u32 %p, %thr, 0; @%p ret; ld.global.u32 %r, [%out]; add.u32 %r, %r, 2; st.global.u32 [%out], %r;";
  for (unsigned cpus : {1u, 3u}) {
    EXPECT_EQ(first_word(store, cpus), 8u);
    EXPECT_EQ(first_word(add, cpus), 23u);
  }
}

TEST(BlocksInGlobalMemory, StoreFragments) {
  const std::string fragment =
      ".reg .f32 %f; mov.f32 %f, 0f3f800000; mov.u32 %r, %ctaid.x; mul.lo.u32 %r, %r, STEP; cvt.u64.u32 %rd, "
      "%r; add.u64 %rd, %out, %rd;\n"
      "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd], {%f, %f, %f, %f, %f, %f, %f, %f}, 16;\n";
  auto with = [&](const std::string& step) {
    std::string text = fragment;
    text.replace(text.find("STEP"), 4, step);
    Kernel k(kRegisters + text + "ret;");
    k.buffer("out", std::vector<uint32_t>(512)).block({32, 1, 1}).grid({2, 1, 1});
    return kinds(k.run());
  };
  EXPECT_EQ(with("0"), "global");
  EXPECT_EQ(with("1024"), "");
}

// ---- blocks that order each other through memory ----

// Each of 8 blocks of one warp stores its word behind `out`; the pieces say how it goes on.
std::string between_blocks(const std::string& after_store) {
  const std::string body =
      "mov.u32 %r, %ctaid.x; shl.b32 %s, %r, 5; cvt.u64.u32 %rd, %s; add.u64 %gmine, %out, %rd;\n"
      "setp.ne.u32 %p, %thr, 0; @%p ret; st.global.u32 [%gmine+32], %r;\n";
  return kinds(run(body + after_store, 32, 8));
}

const std::string kTicket = "atom.global.add.u32 %s, [%out], 1;\n";
const std::string kLastReadsAll =
    "setp.ne.u32 %p, %s, 7; @%p ret; add.u64 %gother, %out, 32; mov.u32 %t, 0;\n"
    "again: ld.global.u32 %r, [%gother]; add.u64 %gother, %gother, 32; add.u32 %t, %t, 1;\n"
    "setp.lt.u32 %q, %t, 8; @%q bra again;\n";

TEST(BlocksInOrder, TheLastOneByTicketReadsWhatAllHaveLeft) {
  EXPECT_EQ(between_blocks("membar.gl;" + kTicket + kLastReadsAll), "");
  EXPECT_EQ(between_blocks("fence.acq_rel.gpu;" + kTicket + kLastReadsAll), "");
  EXPECT_EQ(between_blocks("atom.acq_rel.gpu.global.add.u32 %s, [%out], 1;" + kLastReadsAll), "");
  // No fence, one that reaches the block alone, one that comes too late.
  EXPECT_EQ(between_blocks(kTicket + kLastReadsAll), "global");
  EXPECT_EQ(between_blocks("membar.cta;" + kTicket + kLastReadsAll), "global");
  EXPECT_EQ(between_blocks(kTicket + "membar.gl;" + kLastReadsAll), "global");
  // What the last one writes there is ordered too.
  EXPECT_EQ(between_blocks("membar.gl;" + kTicket + kLastReadsAll + "st.global.u32 [%out+64], 5;"), "");
}

TEST(BlocksInOrder, WhatComesAfterTheTicketIsNotHandedOver) {
  const auto with = [](const std::string& late_store) {
    return kinds(
        run("mov.u32 %r, %ctaid.x; shl.b32 %s, %r, 5; cvt.u64.u32 %rd, %s; add.u64 %gmine, %out, %rd;\n"
            "setp.ne.u32 %p, %thr, 0; @!%p st.global.u32 [%gmine+32], %r; membar.gl;\n"
            "@!%p atom.global.add.u32 %s, [%out], 1; bar.sync 0;" +
                late_store + "@%p ret;\n" + kLastReadsAll,
            32, 8));
  };
  EXPECT_EQ(with("@!%p st.global.u32 [%gmine+32], %thr;"), "global");
  EXPECT_EQ(with(""), "");
}

TEST(BlocksInOrder, AnotherPlaceOrdersNothing) {
  // Every block's ticket is a word of its own; the last block takes none of the others' over.
  EXPECT_EQ(
      between_blocks("membar.gl; atom.global.add.u32 %s, [%gmine+36], 1; mov.u32 %s, %r;" + kLastReadsAll),
      "global");
}

TEST(BlocksInOrder, AChainOfFlagsPassesOnWhatCameBefore) {
  // Block b waits for b - 1's flag and raises its own: the last one may read block 0's word, two blocks away.
  const std::string chain =
      "setp.eq.u32 %q, %r, 0; @%q bra raise;\n"
      "wait: ld.volatile.global.u32 %s, [%gmine+-28]; setp.eq.u32 %q, %s, 0; @%q bra wait;\n"
      "raise: membar.gl; st.volatile.global.u32 [%gmine+4], 1;\n"
      "setp.ne.u32 %p, %r, 7; @%p ret; ld.global.u32 %t, [%out+32];\n";
  EXPECT_EQ(between_blocks(chain), "");
  std::string without = chain;
  without.replace(without.find("membar.gl;"), 10, "");
  EXPECT_EQ(between_blocks(without), "global");
}

TEST(BlocksInOrder, ABarrierOfTheGridOrdersReadersBeforeWriters) {
  // All count up and wait for the eighth; each reads word 8, then, behind the barrier, block 3 writes it.
  const std::string meet =
      "ld.global.u32 %t, [%out+512]; FENCE atom.global.add.u32 %s, [%out], 1;\n"
      "wait: ld.volatile.global.u32 %s, [%out]; setp.lt.u32 %q, %s, 8; @%q bra wait;\n"
      "setp.ne.u32 %p, %r, 3; @%p ret; st.global.u32 [%out+512], %s;\n";
  auto with = [&](const std::string& fence) {
    std::string text = meet;
    return between_blocks(text.replace(text.find("FENCE"), 5, fence));
  };
  EXPECT_EQ(with("membar.gl;"), "");
  EXPECT_EQ(with(""), "global");
}

// ---- stores of one value ----

TEST(SameValue, IsSaidOfStoresThatChangeNothing) {
  const auto faults = [](const std::string& value) {
    return run("setp.ne.u32 %p, %thr, 0; @%p ret; mov.u32 %r, " + value + "; st.global.u32 [%out], %r;", 32,
               4)
        .faults;
  };
  const std::vector<Fault> same = faults("7"), other = faults("%ctaid.x");
  ASSERT_EQ(same.size(), 1u);
  EXPECT_TRUE(same[0].same_value);
  ASSERT_EQ(other.size(), 1u);
  EXPECT_FALSE(other[0].same_value);
  EXPECT_EQ(other[0].count, 3u);
  // Some harmless, some not, at one instruction: two faults.
  const std::vector<Fault> both =
      run("setp.ne.u32 %p, %thr, 0; @%p ret; mov.u32 %r, %ctaid.x; shr.u32 %r, %r, 1; st.global.u32 [%out], %r;",
          32, 4)
          .faults;
  ASSERT_EQ(both.size(), 2u);
  EXPECT_NE(both[0].same_value, both[1].same_value);
}

TEST(SameValue, HoldsForWholeVectors) {
  // Lanes t and t ^ 1 store two words to one place of shared memory: of the pair's number, or with the lane's
  // own.
  const auto store = [](const std::string& second) {
    return kinds(run(
        "shr.u32 %r, %thr, 1; shl.b32 %s, %r, 3; add.u32 %mine, %at, %s; st.shared.v2.u32 [%mine], {%r, " +
            second + "};",
        32));
  };
  EXPECT_EQ(store("%r"), "");
  EXPECT_EQ(store("%thr"), "shared");
}

// ---- both accesses are named ----

TEST(Races, NameTheOtherInstruction) {
  // Instructions 10 and 11 of the kernel: a store of one's word, a load of another's.
  Kernel k(kRegisters + std::string("st.shared.u32 [%mine], %thr; ld.shared.u32 %r, [%other]; ret;"));
  k.buffer("out", std::vector<uint32_t>(256)).block({64, 1, 1});
  const KernelProfile profile = k.run();
  bool load_found = false;
  for (const Fault& f : profile.faults) {
    if (f.kind != FaultKind::shared_race) continue;
    ASSERT_EQ(f.other.function, f.instruction.function);
    const bool load = f.access == mem::AccessKind::load;
    EXPECT_EQ(f.other.index + (load ? 1 : 0), f.instruction.index + (load ? 0 : 1));
    EXPECT_TRUE(f.other_thread_known);
    EXPECT_EQ(f.other_thread.x ^ f.thread.x, 32u);
    load_found |= load;
  }
  EXPECT_TRUE(load_found);
  const KernelProfile global = run("st.global.u32 [%gmine], %thr; ld.global.u32 %r, [%gother];\n");
  for (const Fault& f : global.faults) EXPECT_EQ(f.other.function, f.instruction.function);
}

// ---- cp.async ----

const std::string kCopy = "ld.param.u64 %in, [out]; cp.async.ca.shared.global [%mine], [%gmine], 4;\n";

TEST(Copies, ReadBeforeTheWait) {
  const std::string read = "ld.shared.u32 %r, [%mine];\n";
  const KernelProfile profile = run(kCopy + read, 32);
  ASSERT_EQ(kinds(profile), "shared");
  EXPECT_NE(profile.faults[0].detail.find("not waited for"), std::string::npos) << profile.faults[0].detail;
  EXPECT_EQ(kinds(run(kCopy + "cp.async.commit_group; cp.async.wait_group 0;\n" + read, 32)), "");
  EXPECT_EQ(kinds(run(kCopy + "cp.async.wait_all;\n" + read, 32)), "");
  EXPECT_EQ(kinds(run(kCopy + "cp.async.wait_group 0;\n" + read, 32)),
            "shared");  // its group was never closed
  // A barrier does not wait for copies.
  EXPECT_EQ(kinds(run(kCopy + "cp.async.commit_group;\n" + kBarrier + "ld.shared.u32 %r, [%other];\n")),
            "shared");
  EXPECT_EQ(kinds(run(kCopy + "cp.async.commit_group; cp.async.wait_group 0;\n" + kBarrier +
                      "ld.shared.u32 %r, [%other];\n")),
            "");
}

TEST(Copies, TheLatestGroupsMayBeLeftUnderWay) {
  const std::string two =
      kCopy +
      "cp.async.commit_group; cp.async.ca.shared.global [%mine+256], [%gmine], 4; cp.async.commit_group;\n"
      "cp.async.wait_group 1;\n";
  EXPECT_EQ(kinds(run(two + "ld.shared.u32 %r, [%mine];\n", 32)), "");
  EXPECT_EQ(kinds(run(two + "ld.shared.u32 %r, [%mine+256];\n", 32)), "shared");
}

// ---- matrix instructions ----

TEST(Matrices, NeedAllLanes) {
  const std::string mma =
      ".reg .b32 %a0, %a1, %b0, %d0, %d1; mov.b32 %a0, 0; mov.b32 %a1, 0; mov.b32 %b0, 0;\n"
      "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%d0, %d1}, {%a0, %a1}, {%b0}, {%a0, %a1};\n";
  EXPECT_EQ(kinds(run(mma, 32)), "");
  EXPECT_EQ(kinds(run(mma, 48)), "invalid");  // the second warp has 16 lanes
  EXPECT_EQ(kinds(run("setp.eq.u32 %p, %thr, 5; @%p ret;\n" + mma, 32)), "invalid");
}

}  // namespace
}  // namespace fullwarp::exec::test
