// What is done with a product: plain, staged or fused, and where the workspace's parts lie.
#include "plan.h"

#include <gtest/gtest.h>

#include "convert.h"

namespace fullwarp::gemm {
namespace {

constexpr uintptr_t kBase = 0x7f0000000000;
constexpr size_t kRoom = size_t{1} << 30;

// Row-major, packed, from aligned addresses.
Problem rows(fwGemmType type, bool ta, bool tb, int64_t m, int64_t n, int64_t k) {
  fwGemmProblem given{};
  given.type = type;
  given.order = FW_GEMM_ROW_MAJOR;
  given.transpose_a = ta;
  given.transpose_b = tb;
  given.m = m, given.n = n, given.k = k;
  given.lda = ta ? m : k;
  given.ldb = tb ? k : n;
  given.ldd = given.ldc = n;
  given.batch = 1;
  given.alpha = 1;
  given.a = reinterpret_cast<void*>(kBase);
  given.b = reinterpret_cast<void*>(2 * kBase);
  given.d = reinterpret_cast<void*>(3 * kBase);
  Problem p;
  EXPECT_EQ(convert(given, p), nullptr);
  return p;
}

Plan plan_of(const Problem& p, Mode mode = Mode::kStaged, bool can_fuse = false, size_t room = kRoom) {
  return make_plan(p, Costs{}, room, mode, can_fuse);
}

TEST(Plan, AlignedProductsArePlain) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      EXPECT_EQ(plan_of(rows(FW_GEMM_BF16, ta, tb, 4096, 1024, 512)).choice, Choice::kPlain);
      EXPECT_EQ(plan_of(rows(FW_GEMM_TF32, ta, tb, 36, 44, 52)).choice, Choice::kPlain);
    }
  }
}

TEST(Plan, AnExtentThatNoOperandIsContiguousAlongMayBeOdd) {
  EXPECT_EQ(plan_of(rows(FW_GEMM_BF16, false, false, 4095, 4096, 4096)).choice,
            Choice::kPlain);  // M, A by rows
  EXPECT_EQ(plan_of(rows(FW_GEMM_BF16, true, false, 4096, 4096, 4095)).choice,
            Choice::kPlain);  // K, both along K
}

TEST(Plan, OddNStagesBAndD) {
  const Plan plan = plan_of(rows(FW_GEMM_BF16, false, false, 4096, 4095, 4096));
  EXPECT_EQ(plan.choice, Choice::kStaged);
  EXPECT_TRUE(plan.a.used);  // cuBLAS's A is the caller's B
  EXPECT_FALSE(plan.b.used);
  EXPECT_TRUE(plan.stage_holds_d);
  EXPECT_EQ(plan.m, 4096);
  EXPECT_EQ(plan.d.ld, 4096);
}

TEST(Plan, OddKStagesBothOperandsThatHaveIt) {
  const Plan plan = plan_of(rows(FW_GEMM_BF16, false, false, 4096, 4096, 4095));
  EXPECT_EQ(plan.choice, Choice::kStaged);
  EXPECT_TRUE(plan.a.used);  // its pitch is aligned, but it needs a row of zeros
  EXPECT_TRUE(plan.b.used);
  EXPECT_FALSE(plan.d.used);
  EXPECT_EQ(plan.k, 4096);
}

TEST(Plan, AMisalignedBaseAloneStagesThatOperandAlone) {
  Problem p = rows(FW_GEMM_BF16, false, false, 512, 512, 512);
  p.b.data += 2;
  const Plan plan = plan_of(p);
  EXPECT_EQ(plan.choice, Choice::kStaged);
  EXPECT_FALSE(plan.a.used);
  EXPECT_TRUE(plan.b.used);
  EXPECT_FALSE(plan.d.used);
}

TEST(Plan, CGoesThroughTheStageOfDWhereItIsRead) {
  Problem p = rows(FW_GEMM_FP16, false, false, 100, 101, 100);
  EXPECT_FALSE(plan_of(p).stage_holds_c);
  p.reads_c = true;
  EXPECT_TRUE(plan_of(p).stage_holds_c);
}

TEST(Plan, FusedNeedsNoStageOfDAndNoEvenExtents) {
  const Plan plan = plan_of(rows(FW_GEMM_BF16, false, false, 4096, 4095, 4095), Mode::kFused, true);
  EXPECT_EQ(plan.choice, Choice::kFused);
  EXPECT_TRUE(plan.a.used);
  EXPECT_TRUE(plan.b.used);
  EXPECT_FALSE(plan.d.used);
  EXPECT_EQ(plan.k, 4095);
}

TEST(Plan, FusedIsOnlyForWhatTheKernelDoes) {
  const auto choice = [](const auto& change) {
    Problem p = rows(FW_GEMM_BF16, false, false, 4096, 4095, 4095);
    change(p);
    return plan_of(p, Mode::kFused, true).choice;
  };
  EXPECT_EQ(choice([](Problem&) {}), Choice::kFused);
  EXPECT_EQ(choice([](Problem& p) { p.reads_c = true; }), Choice::kStaged);
  EXPECT_EQ(choice([](Problem& p) { p.activation = 2; }), Choice::kStaged);
  EXPECT_EQ(choice([](Problem& p) { p.scalars_known = false; }), Choice::kStaged);
  EXPECT_EQ(choice([](Problem& p) { p.sums_in_fp32 = false; }), Choice::kStaged);
  EXPECT_EQ(choice([](Problem& p) { p.d.bytes = 4; }), Choice::kStaged);
  Problem tf32 = rows(FW_GEMM_TF32, false, false, 4096, 4095, 4095);
  EXPECT_EQ(plan_of(tf32, Mode::kFused, true).choice, Choice::kStaged);
}

// Measured (docs/gemm.md): operands of more than 20 MB are better copied while the product runs, smaller ones
// by a launch before it, which leaves them in the L2 cache.
TEST(Plan, LargeOperandsAreCopiedWhileTheProductRuns) {
  const auto fused = [](bool ta, bool tb, int64_t m, int64_t n, int64_t k) {
    const Plan plan = plan_of(rows(FW_GEMM_BF16, ta, tb, m, n, k), Mode::kAuto, true);
    EXPECT_EQ(plan.choice, Choice::kFused) << m << ' ' << n << ' ' << k;
    return plan;
  };
  EXPECT_TRUE(fused(false, false, 4095, 4095, 4095).copy_ahead);
  EXPECT_TRUE(fused(false, false, 8191, 8191, 8191).copy_ahead);
  EXPECT_FALSE(fused(false, false, 2047, 2047, 2047).copy_ahead);
  const Plan data_gradient = fused(false, false, 8192, 768, 50257);
  EXPECT_TRUE(data_gradient.copy_ahead);
  EXPECT_EQ(data_gradient.tile_columns, 192);  // two rounds of 66 clusters, both nearly full
  EXPECT_FALSE(data_gradient.a.used);          // the weights, which are aligned
  EXPECT_TRUE(data_gradient.b.used);
  EXPECT_TRUE(fused(true, false, 50257, 768, 8192).copy_ahead);
  EXPECT_FALSE(fused(false, true, 8192, 50257, 768).copy_ahead);  // D alone is misaligned
}

TEST(Plan, NarrowTilesWhereFewBlocksWouldBeBusy) {
  const Plan plan = plan_of(rows(FW_GEMM_BF16, false, true, 1024, 1023, 1024), Mode::kAuto, true);
  EXPECT_EQ(plan.choice, Choice::kFused);
  EXPECT_EQ(plan.tile_columns, 64);
  EXPECT_FALSE(plan.copy_ahead);
  EXPECT_EQ(plan_of(rows(FW_GEMM_BF16, false, true, 4096, 4095, 4096), Mode::kAuto, true).tile_columns, 256);
}

TEST(Plan, AheadIsForcedOnlyWhereItCanBe) {
  EXPECT_TRUE(plan_of(rows(FW_GEMM_BF16, false, false, 300, 301, 303), Mode::kAhead, true).copy_ahead);
  EXPECT_FALSE(plan_of(rows(FW_GEMM_BF16, false, true, 304, 301, 304), Mode::kAhead, true).copy_ahead);
  // More blocks of 256 rows than the kernel's table holds.
  const Plan tall = plan_of(rows(FW_GEMM_BF16, false, false, 300001, 129, 129), Mode::kAhead, true);
  EXPECT_EQ(tall.choice, Choice::kFused);
  EXPECT_FALSE(tall.copy_ahead);
  const Plan narrow = make_plan(rows(FW_GEMM_BF16, false, false, 300, 301, 303), Costs::with_tiles(64), kRoom,
                                Mode::kAhead, true);
  EXPECT_EQ(narrow.tile_columns, 64);
  EXPECT_FALSE(narrow.copy_ahead);
}

TEST(Plan, SmallProductsAndFp32StayPlain) {
  for (const int64_t size : {63, 127, 255}) {
    EXPECT_EQ(plan_of(rows(FW_GEMM_BF16, false, false, size, size, size), Mode::kAuto, true).choice,
              Choice::kPlain)
        << size;
  }
  EXPECT_EQ(plan_of(rows(FW_GEMM_FP32, false, false, 4095, 4095, 4095), Mode::kAuto, true).choice,
            Choice::kPlain);
}

TEST(Plan, LargeMisalignedProductsAreNeverPlain) {
  for (const int64_t size : {2047, 4095, 8191}) {
    for (const fwGemmType type : {FW_GEMM_BF16, FW_GEMM_FP16, FW_GEMM_TF32}) {
      for (const bool can_fuse : {false, true}) {
        EXPECT_NE(plan_of(rows(type, false, false, size, size, size), Mode::kAuto, can_fuse).choice,
                  Choice::kPlain)
            << size;
      }
    }
  }
}

// Measured: 1040 us for 4095 cubed with all pitches 4096, 172 us for 4096 cubed.
TEST(Plan, OddExtentsOnAlignedPitchesAreSlowToo) {
  Problem p = rows(FW_GEMM_BF16, false, false, 4095, 4095, 4095);
  p.a.ld = p.b.ld = p.d.ld = p.c.ld = 4096;
  EXPECT_EQ(plan_of(p, Mode::kAuto, false).choice, Choice::kStaged);
  const Plan fused = plan_of(p, Mode::kAuto, true);
  EXPECT_EQ(fused.choice, Choice::kFused);
  EXPECT_EQ(fused.bytes, 0u);  // nothing is copied
}

// Every stage lies within the workspace, aligned, and apart from the others.
TEST(Plan, StagesLieApartWithinTheWorkspace) {
  for (const size_t room : {size_t{3} << 20, size_t{9} << 20, kRoom}) {
    for (const bool tb : {false, true}) {
      for (const int64_t batch : {1, 7}) {
        Problem p = rows(FW_GEMM_BF16, true, tb, 1001, 999, 501);
        p.batch = batch;
        p.a.stride = 1001 * 999, p.b.stride = 1001 * 501, p.d.stride = 1001 * 999;
        p.bias = kBase + 2;
        const Plan plan = plan_of(p, Mode::kStaged, false, room);
        ASSERT_EQ(plan.choice, Choice::kStaged) << room;
        EXPECT_LE(plan.bytes, room);
        struct Part {
          size_t begin, end;
        };
        std::vector<Part> parts;
        const auto add = [&parts](const Stage& stage, int64_t cols, int64_t products) {
          if (!stage.used) return;
          EXPECT_EQ(stage.offset % 128, 0u);
          EXPECT_EQ(stage.ld * 2 % 128, 0);
          parts.push_back(
              {stage.offset,
               stage.offset + static_cast<size_t>((stage.stride * (products - 1) + stage.ld * cols) * 2)});
        };
        const int64_t columns = plan.piece_columns == p.n ? plan.n : plan.piece_columns;
        add(plan.a, p.transpose_a ? plan.m : plan.k, plan.piece_products);
        add(plan.b, p.transpose_b ? plan.k : columns, plan.piece_products);
        add(plan.d, columns, plan.piece_products);
        add(plan.bias, 1, 1);
        for (const Part& x : parts) {
          EXPECT_LE(x.end, plan.bytes);
          for (const Part& y : parts) EXPECT_TRUE(&x == &y || x.end <= y.begin || y.end <= x.begin);
        }
      }
    }
  }
}

TEST(Plan, WhatDoesNotFitIsPlain) {
  const Plan plan =
      plan_of(rows(FW_GEMM_BF16, false, false, 4096, 4095, 4096), Mode::kStaged, false, 1 << 20);
  EXPECT_EQ(plan.choice, Choice::kPlain);
  EXPECT_STREQ(plan.why, "does not fit into the workspace");
}

TEST(Plan, OneLineSaysWhatAndWhy) {
  const Problem p = rows(FW_GEMM_BF16, false, false, 4096, 4095, 4096);
  const std::string line = describe(p, plan_of(p));
  EXPECT_NE(line.find("bf16 NN m=4095 n=4096 k=4096"), std::string::npos) << line;
  EXPECT_NE(line.find("lda=4095*"), std::string::npos) << line;
  EXPECT_NE(line.find("staged (a pitch, base or contiguous extent is not a multiple of 16 bytes)"),
            std::string::npos)
      << line;
}

TEST(Convert, SaysWhatIsWrong) {
  fwGemmProblem p{};
  p.order = FW_GEMM_ROW_MAJOR;
  p.m = p.n = p.k = 8;
  p.lda = p.ldb = p.ldc = p.ldd = 8;
  p.batch = 1;
  p.a = p.b = reinterpret_cast<void*>(kBase);
  p.d = reinterpret_cast<void*>(kBase);
  Problem out;
  EXPECT_EQ(convert(p, out), nullptr);
  const auto wrong = [&](const auto& change) {
    fwGemmProblem q = p;
    change(q);
    const char* const text = convert(q, out);
    return std::string(text == nullptr ? "" : text);
  };
  EXPECT_EQ(wrong([](auto& q) { q.m = -1; }), "m, n or k is negative");
  EXPECT_EQ(wrong([](auto& q) { q.k = int64_t{1} << 40; }), "m, n, k or batch is above 2^31 - 1");
  EXPECT_EQ(wrong([](auto& q) { q.batch = 0; }), "batch is below 1");
  EXPECT_EQ(wrong([](auto& q) { q.lda = 7; }), "lda is smaller than a row of A");
  EXPECT_EQ(wrong([](auto& q) { q.ldb = 7; }), "ldb is smaller than a row of B");
  EXPECT_EQ(wrong([](auto& q) { q.ldd = 7; }), "ldd is smaller than a row of D");
  EXPECT_EQ(wrong([](auto& q) { q.d = nullptr; }), "d is null");
  EXPECT_EQ(wrong([](auto& q) { q.type = static_cast<fwGemmType>(9); }), "type is none of the four");
  EXPECT_EQ(wrong([](auto& q) { q.a = reinterpret_cast<void*>(kBase + 1); }),
            "an address is not a multiple of the element's size");
  EXPECT_EQ(wrong([](auto& q) { q.batch = 2; }), "stride_d makes products overlap");
}

}  // namespace
}  // namespace fullwarp::gemm
