// The table is complete and consistent; names are found as people write them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "gpu/gpu.h"

namespace fullwarp::gpu {
namespace {

TEST(Table, HoldsTheGpusOfTheIssue) {
  for (const char* name :
       {"h200", "h100", "a100", "l4", "rtx4090", "t4", "b200", "rtx5090", "v100", "a10", "rtx3090", "gh200"})
    EXPECT_NE(find_gpu(name), nullptr) << name;
}

TEST(Table, EveryFigureHasASource) {
  for (const Gpu& gpu : gpus()) {
    ASSERT_NE(gpu.sm, nullptr) << gpu.name;
    EXPECT_GT(gpu.sms, 0u) << gpu.name;
    EXPECT_GT(gpu.boost_mhz, 0u) << gpu.name;
    EXPECT_GT(gpu.l2_kb, 0u) << gpu.name;
    EXPECT_GT(gpu.dram_gb_per_s, 0.0) << gpu.name;
    for (const Limit& limit : limits(gpu)) {
      EXPECT_FALSE(limit.source.empty()) << gpu.name << " " << limit.name;
      EXPECT_FALSE(limit.value.empty()) << gpu.name << " " << limit.name;
    }
  }
}

TEST(Table, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const Gpu& gpu : gpus()) EXPECT_TRUE(names.insert(gpu.name).second) << gpu.name;
  std::set<uint32_t> versions;
  for (const Sm& sm : sms()) EXPECT_TRUE(versions.insert(sm.version).second) << sm.version;
}

// hardware.md, "Blocks, registers, occupancy".
TEST(Table, SmRows) {
  const struct {
    uint32_t version, warps, blocks, shared_kb;
  } rows[] = {{70, 64, 32, 96},   {75, 32, 16, 64},   {80, 64, 32, 164},  {86, 48, 16, 100},
              {87, 48, 16, 164},  {89, 48, 24, 100},  {90, 64, 32, 228},  {100, 64, 32, 228},
              {103, 64, 32, 228}, {110, 48, 24, 228}, {120, 48, 24, 100}, {121, 48, 24, 100}};
  EXPECT_EQ(sms().size(), std::size(rows));
  for (const auto& row : rows) {
    const Sm* sm = find_sm(row.version);
    ASSERT_NE(sm, nullptr) << row.version;
    EXPECT_EQ(sm->warps, row.warps) << row.version;
    EXPECT_EQ(sm->blocks, row.blocks) << row.version;
    EXPECT_EQ(sm->shared_bytes, row.shared_kb * 1024) << row.version;
    EXPECT_EQ(sm->carve_outs_kb.value.back(), row.shared_kb) << row.version;
    EXPECT_EQ(sm->shared_unit_bytes, row.version >= 80 ? 128u : 256u) << row.version;
    EXPECT_EQ(sm->block_shared_optin_bytes + sm->block_shared_reserved_bytes, sm->shared_bytes)
        << row.version;
  }
}

// The fp32 rate that a data sheet states is SMs x operations x 2 x clock, which catches a mistyped row.
TEST(Table, RatesFollowFromClocks) {
  for (const Gpu& gpu : gpus()) {
    const double product = double(gpu.sms) * gpu.sm->fp32_per_clock * 2 * gpu.boost_mhz * 1e-6;
    EXPECT_LT(std::abs(product / gpu.fp32_tflops - 1), 0.03) << gpu.name << " " << product;
  }
}

// Multiply-adds of fp16 with fp32 sums that one SM's tensor cores do in a clock, by hand from the makers'
// counts: 4 tensor cores x 128 (Volta 8 x 64) in 7.x, 4 x 256 in 8.0, 4 x 128 in 8.6 and 8.9, half of that on
// GeForce boards, 4 x 512 in 9.0, 4 x 1024 in 10.0. Hopper and Blackwell data sheets count a lower clock than
// the boards reach.
TEST(Table, TensorRatesFollowFromClocks) {
  const std::map<uint32_t, double> per_clock = {{70, 512}, {75, 512},  {80, 1024},  {86, 512},
                                                {89, 512}, {90, 2048}, {100, 4096}, {120, 512}};
  for (const Gpu& gpu : gpus()) {
    const double halved = gpu.title.find("GeForce") != std::string_view::npos ? 0.5 : 1;
    const double product =
        double(gpu.sms) * per_clock.at(gpu.sm->version) * halved * 2 * gpu.boost_mhz * 1e-6;
    EXPECT_LT(product / gpu.f16_tensor_tflops, gpu.sm->version >= 90 ? 1.1 : 1.02) << gpu.name;
    EXPECT_GT(product / gpu.f16_tensor_tflops, 0.98) << gpu.name;
  }
}

TEST(Find, IgnoresCaseAndPunctuation) {
  EXPECT_EQ(find_gpu("H200"), find_gpu("h200"));
  EXPECT_EQ(find_gpu("RTX 4090"), find_gpu("rtx4090"));
  EXPECT_EQ(find_gpu("NVIDIA GeForce RTX-4090"), find_gpu("rtx4090"));
  EXPECT_EQ(find_gpu("A100_40GB")->name, "a100-40gb");
  EXPECT_EQ(find_gpu(""), nullptr);
  EXPECT_EQ(find_gpu("nvidia"), nullptr);
  EXPECT_EQ(find_gpu(std::string(1 << 20, 'x')), nullptr);
  EXPECT_EQ(default_gpu().name, "h200");
  EXPECT_EQ(find_sm(61), nullptr);
}

TEST(Find, SuggestsTheNearestName) {
  const auto slip = gpu_named("h20O");
  ASSERT_FALSE(slip.ok());
  EXPECT_EQ(slip.error().message, "unknown GPU `h20O`");
  EXPECT_THAT(slip.error().hint, testing::StartsWith("did you mean `h200`? known: h200, h100"));
  EXPECT_THAT(gpu_named("4090").error().hint, testing::HasSubstr("did you mean `rtx4090`?"));
  EXPECT_THAT(gpu_named("rtx409").error().hint, testing::HasSubstr("did you mean `rtx4090`?"));
  EXPECT_THAT(gpu_named("banana").error().hint, testing::StartsWith("known: "));
  EXPECT_TRUE(gpu_named("T4").ok());
}

}  // namespace
}  // namespace fullwarp::gpu
