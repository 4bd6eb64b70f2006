#include "shapes/formula.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fullwarp::shapes {

namespace {

struct Tile {
  double m, n;
};
constexpr Tile kTiles[] = {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128},
                           {64, 64},   {64, 256},  {256, 64},  {32, 64},  {64, 32},
                           {32, 32},   {16, 64},   {64, 16},   {16, 128}, {128, 16}};
constexpr double kSplits[] = {1, 2, 4, 8, 16, 32};
constexpr double kReductionBytesPerUs = 3e6;

double up(double value, double unit) { return std::ceil(value / unit) * unit; }

uint32_t power_of_two_in(int64_t value, uint32_t most) {
  uint32_t result = 1;
  while (result < most && value % (2 * static_cast<int64_t>(result)) == 0) result *= 2;
  return result;
}

}  // namespace

std::string_view to_string(Alignment alignment) {
  static constexpr std::string_view kNames[] = {"odd", "even", "full"};
  return kNames[static_cast<size_t>(alignment)];
}

Alignment alignment_of(int64_t extent, int64_t pitch, uint32_t base_bytes, Dtype dtype) {
  const uint32_t unit = vector_elements(dtype);
  const uint32_t base = std::max<uint32_t>(1, base_bytes / element_bytes(dtype));
  const uint32_t common = std::min({power_of_two_in(extent, unit), power_of_two_in(pitch, unit), base});
  if (common >= unit) return Alignment::full;
  return common > 1 && unit == 8 ? Alignment::even : Alignment::odd;
}

GemmAlignment alignment_of(const Gemm& g) {
  const std::array<int64_t, 3> extents = contiguous_extents(g);
  const Alignment a = alignment_of(extents[0], g.lda, g.base_bytes[0], g.dtype);
  const Alignment b = alignment_of(extents[1], g.ldb, g.base_bytes[1], g.dtype);
  return {std::min(a, b), alignment_of(extents[2], g.ldc, g.base_bytes[2], g.dtype)};
}

double gemm_us(const Gemm& g, const GemmConstants& c, const Machine& machine) {
  const double m = static_cast<double>(g.m), n = static_cast<double>(g.n), k = static_cast<double>(g.k);
  const double batch = static_cast<double>(g.batch);
  const double rate = c.flop_per_us_sm * machine.compute;
  double best = std::numeric_limits<double>::infinity();
  for (const Tile& tile : kTiles) {
    const double tiles = std::ceil(m / tile.m) * std::ceil(n / tile.n) * batch;
    const double efficiency = 1 / (1 + c.edge * (1 / tile.m + 1 / tile.n));
    for (double split : kSplits) {
      const double depth = split > 1 ? up(k / split, 64) : up(k, 32);
      double us = std::ceil(tiles * split / machine.sms) *
                  (2 * tile.m * tile.n * depth / (rate * efficiency) + c.tile_us);
      if (split > 1) us += batch * m * n * 4 * split / (kReductionBytesPerUs * machine.memory) + c.tile_us;
      best = std::min(best, us);
    }
  }
  const double size = bytes(Operation{.work = g});
  return c.launch_us + std::max(best, size / (c.bytes_per_us * machine.memory));
}

double conv_us(const Conv& v, const GemmConstants& c, const Machine& machine) {
  const double m =
      static_cast<double>(v.batch) * static_cast<double>(v.out_height) * static_cast<double>(v.out_width);
  const double n = static_cast<double>(v.out);
  const double k =
      static_cast<double>(v.in) * static_cast<double>(v.kernel_h) * static_cast<double>(v.kernel_w);
  const double side = n <= 32 ? 32 : n <= 64 ? 64 : 128;
  const double waves = std::ceil(std::ceil(m / 128) * std::ceil(n / side) / machine.sms);
  const double rate = c.flop_per_us_sm * machine.compute;
  const double compute =
      waves * (2 * 128 * side * up(k, 32) / rate * (1 + c.edge * (1 / 128.0 + 1 / side)) + c.tile_us);
  return c.launch_us + std::max(compute, bytes(Operation{.work = v}) / (c.bytes_per_us * machine.memory));
}

double attention_us(const Attention& a, const AttentionConstants& c, const Machine& machine) {
  const double heads = static_cast<double>(a.batch) * static_cast<double>(a.heads);
  const double pairs = heads * scores(a);
  // Grouped heads share their keys; that decides the time of a step behind a cache, which reads them all.
  const auto sharing = static_cast<double>(a.keys > a.queries ? a.kv_heads : a.heads);
  const double size = 4.0 * static_cast<double>(a.batch) * static_cast<double>(a.head_size) *
                      (static_cast<double>(a.heads) * static_cast<double>(a.queries) +
                       sharing * static_cast<double>(keys_read(a)));
  const double compute = machine.compute * machine.sms / 132;
  return c.launch_us +
         pairs * (c.us_per_score + c.us_per_product * up(static_cast<double>(a.head_size), 64)) / compute +
         size / (c.bytes_per_us * machine.memory);
}

TileFit tile_fit(const Gemm& g, uint32_t sms) {
  TileFit fit;
  fit.tile_m = 128;
  fit.tile_n = g.n <= 128 ? 128 : 256;
  const int64_t rows = (g.m + fit.tile_m - 1) / fit.tile_m, columns = (g.n + fit.tile_n - 1) / fit.tile_n;
  fit.tiles = static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(g.batch);
  fit.waves = fit.tiles / sms;
  fit.filled = fit.waves / std::ceil(fit.waves);
  fit.useful = static_cast<double>(g.m) * static_cast<double>(g.n) /
               (static_cast<double>(rows * fit.tile_m) * static_cast<double>(columns * fit.tile_n));
  return fit;
}

}  // namespace fullwarp::shapes
