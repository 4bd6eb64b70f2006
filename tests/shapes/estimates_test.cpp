// Times on GPUs of architectures on which nothing was measured: ranges, marked as estimates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shapes/advise.h"
#include "shapes/bounds.h"
#include "shapes/read.h"
#include "shapes/render.h"

namespace fullwarp::shapes {
namespace {

using testing::HasSubstr;
using testing::Not;

const gpu::Gpu& named(const char* name) { return *gpu::find_gpu(name); }
Operation product(Dtype dtype, int64_t m, int64_t n, int64_t k, Layout layout = Layout::nn) {
  return {.work = dense_gemm(dtype, layout, m, n, k)};
}
Advice advice_of(const std::string& lines, const char* gpu) {
  return advise(*read_list(*bytes_of(lines), "list.csv"), {}, named(gpu));
}

// A100: 312 TFLOP/s. 2 x 4096^3 = 137.44 10^9 operations: 440.5 us; its 67 MB of operands take 33.
TEST(Bound, IsOperationsAtThePeak) {
  EXPECT_NEAR(bound_us(product(Dtype::bf16, 4096, 4096, 4096), named("a100")), 440.5, 0.1);
}

// A100: 2039 GB/s. One row by 16384 x 16384 of 2 bytes: 536.9 MB, 263.3 us.
TEST(Bound, IsOperandsOnceThroughMemory) {
  EXPECT_NEAR(bound_us(product(Dtype::bf16, 1, 16384, 16384), named("a100")), 263.3, 0.1);
}

// A100: the L2 of 40 MB may keep that much of a result; 8192 x 8192 x 2 bytes are 134.2 MB, so 92.3 MB are
// written, and 2 x 8192 x 64 x 2 = 2.1 MB are read: 46.3 us.
TEST(Bound, LeavesToL2WhatItHoldsOfTheResult) {
  EXPECT_NEAR(bound_us(product(Dtype::bf16, 8192, 8192, 64), named("a100")), 46.3, 0.1);
}

// An RTX 4090 may run 10 % above the clock behind its 165.2 TFLOP/s: 137.44e9 / 181.72e6.
TEST(Bound, GivesGeForceBoardsHeadroom) {
  EXPECT_NEAR(bound_us(product(Dtype::bf16, 4096, 4096, 4096), named("rtx4090")), 756.3, 0.1);
}

// bf16, TFLOP/s of N x N x N. RTX 4090, odd sizes and even: github.com/pytorch/pytorch/issues/181718. RTX
// 5090 at 400 W, A100 SXM 40 GB and B200, cuBLAS 13.0, B by columns: github.com/gau-nernst/learn-cuda,
// 02_matmul_sm80 and 02_matmul_sm100; 107.73 on the A100 in an older version of the former.
TEST(Estimates, HoldWhatOthersMeasured) {
  const struct {
    const char* gpu;
    int64_t n;
    double tflops;
    Layout layout = Layout::nn;
  } measured[] = {{"rtx4090", 2040, 155.9},
                  {"rtx4090", 2055, 115.6},
                  {"rtx4090", 2056, 89.6},
                  {"rtx4090", 2057, 106.8},
                  {"rtx4090", 2071, 110.9},
                  {"rtx4090", 2072, 83.6},
                  {"rtx4090", 2073, 112.0},
                  {"rtx5090", 2048, 164.48, Layout::nt},
                  {"rtx5090", 4096, 173.51, Layout::nt},
                  {"rtx5090", 8192, 166.13, Layout::nt},
                  {"a100-40gb", 2048, 155.31, Layout::nt},
                  {"a100-40gb", 2048, 107.73, Layout::nt},
                  {"a100-40gb", 4096, 246.29, Layout::nt},
                  {"a100-40gb", 8192, 261.82, Layout::nt},
                  {"b200", 2048, 1077.67, Layout::nt},
                  {"b200", 4096, 1358.69, Layout::nt},
                  {"b200", 8192, 1414.29, Layout::nt}};
  for (const auto& row : measured) {
    const double n = static_cast<double>(row.n), us = 2 * n * n * n / row.tflops / 1e6;
    const std::optional<Estimate> each =
        TimeTable(named(row.gpu)).time(product(Dtype::bf16, row.n, row.n, row.n, row.layout));
    ASSERT_TRUE(each) << row.n;
    EXPECT_LE(each->low_us, us) << row.n;
    EXPECT_GE(each->high_us, us) << row.n;
  }
}

TEST(Estimates, BeginAtTheBoundOnEveryGpu) {
  for (const gpu::Gpu& gpu : gpu::gpus()) {
    const TimeTable table(gpu);
    if (table.basis() != Basis::estimated) continue;
    for (const Operation& operation :
         {product(Dtype::fp16, 4096, 4096, 4096), product(Dtype::fp16, 1, 4096, 4096),
          product(Dtype::fp16, 8192, 50257, 768, Layout::nt), product(Dtype::fp16, 3, 5, 7)}) {
      const std::optional<Estimate> each = table.time(operation);
      ASSERT_TRUE(each) << gpu.name;
      EXPECT_EQ(each->low_us, bound_us(operation, gpu)) << gpu.name;
      EXPECT_GT(each->high_us, each->low_us) << gpu.name;
    }
  }
}

TEST(Estimates, NoGpuRunsSizesOffTheCliffFasterThanThoseThatFit) {
  for (const gpu::Gpu& gpu : gpu::gpus()) {
    const TimeTable table(gpu);
    if (table.basis() != Basis::estimated) continue;
    for (int64_t size : {512, 1024, 2048, 4096, 8192}) {
      const Estimate odd = *table.time(product(Dtype::fp16, 4096, size - 1, 4096, Layout::nt));
      const Estimate fits = *table.time(product(Dtype::fp16, 4096, size, 4096, Layout::nt));
      EXPECT_GE(odd.high_us, 0.95 * fits.high_us) << gpu.name << " " << size;
    }
  }
}

// The CUDA programming guide's table of tensor-core types by compute capability.
TEST(Estimates, TypesThatTensorCoresLackHaveNoTime) {
  const auto timed = [](const char* gpu, Dtype dtype) {
    return TimeTable(named(gpu)).time(product(dtype, 4096, 4096, 4096, Layout::nt)).has_value();
  };
  EXPECT_TRUE(timed("t4", Dtype::fp16));
  EXPECT_TRUE(timed("t4", Dtype::int8));
  EXPECT_FALSE(timed("t4", Dtype::bf16));
  EXPECT_FALSE(timed("t4", Dtype::tf32));
  EXPECT_FALSE(timed("v100", Dtype::int8));
  EXPECT_TRUE(timed("a100", Dtype::bf16));
  EXPECT_FALSE(timed("a100", Dtype::fp8));
  EXPECT_TRUE(timed("l4", Dtype::fp8));
  EXPECT_TRUE(timed("b200", Dtype::fp8));
}

TEST(Estimates, AMissingTypeIsNamedAndItsLeastIsGiven) {
  const Advice advice = advice_of("4096,4095,4096,bf16,NT\n", "t4");
  EXPECT_THAT(advice.notes,
              testing::Contains(HasSubstr("the tensor cores of t4 have no bf16, only fp16, int8")));
  EXPECT_THAT(render_text(advice), HasSubstr("what the changes gain is not known"));
  ASSERT_TRUE(advice.rows[0].least_us);
  EXPECT_FALSE(advice.findings.empty());  // sizes are judged all the same
  EXPECT_TRUE(nlohmann::json::parse(render_json({{advice}}, {}))["models"][0]["total"].is_null());
}

TEST(Estimates, AreSaidToBeRanges) {
  const Advice advice = advice_of("8192,50257,768,bf16,NT\n", "a100");
  EXPECT_EQ(advice.basis, Basis::estimated);
  const std::string text = render_text(advice);
  EXPECT_THAT(text,
              HasSubstr("times: estimated ranges for a100, on whose architecture nothing was measured"));
  EXPECT_THAT(text, HasSubstr("takes, by an estimate, 2.03 ms to "));  // 632.5e9 operations at 312 TFLOP/s
  EXPECT_THAT(text, HasSubstr("estimated, for 1 products"));
  EXPECT_THAT(text, Not(HasSubstr("measurements on this GPU")));
  const auto json = nlohmann::json::parse(render_json({{advice}}, {}));
  EXPECT_EQ(json["models"][0]["basis"], "estimated");
  EXPECT_EQ(json["models"][0]["operations"][0]["time"]["uncertain"], true);
  EXPECT_THAT(render_sarif({{advice}}, {}), HasSubstr("by an estimate"));
  EXPECT_THAT(render_html({{advice}}, {}, {}), HasSubstr("an estimated range"));
}

// NVIDIA's guide asks for 128 bytes on the A100.
TEST(Estimates, PadTo128BytesWhereThatCostsLittle) {
  const Advice wide = advice_of("8192,50257,768,bf16,NT\n", "a100");
  ASSERT_FALSE(wide.changes.empty());
  EXPECT_EQ(wide.changes[0].to % 64, 0);
  const Advice narrow = advice_of("8192,4096,100,bf16,NT\n", "a100");  // 128 would be 28 % more
  ASSERT_FALSE(narrow.changes.empty());
  EXPECT_EQ(narrow.changes[0].to, 104);
}

TEST(Estimates, ThePictureSaysSo) {
  const Model model = *read_list(*bytes_of("4096,4095,4096,bf16,NT\n"), "list.csv");
  const Advice advice = advise(model, {}, named("a100"));
  const std::string svg = render_svg(*curve_of(model, advice, named("a100"), ""), advice);
  EXPECT_THAT(svg, HasSubstr("estimated for a100, where nothing was measured"));
}

}  // namespace
}  // namespace fullwarp::shapes
