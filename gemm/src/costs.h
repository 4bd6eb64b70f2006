// Predicted times, from constants measured on one H200 (gemm/measured/, docs/gemm.md). They decide between
// plain and staged only, so that a prediction that is off by a fifth costs nothing unless both ways take
// about the same.
#ifndef FULLWARP_GEMM_SRC_COSTS_H_
#define FULLWARP_GEMM_SRC_COSTS_H_

#include <algorithm>

#include "problem.h"

namespace fullwarp::gemm {

struct Costs {
  double launch_us = 1.2;            // of one more kernel in a stream
  double small_copy_us = 1.2;        // of a copy beyond its bytes
  double copy_bytes_per_us = 4.1e6;  // read plus written
  double memory_bytes_per_us = 4.0e6;
  double gemm_floor_us = 3.0;
  double least_gain = 0.97;  // staged or fused must take at most this part of plain

  // TFLOP/s of cuBLAS where all multiprocessors are busy: aligned, 4 or 8 bytes, 2 bytes.
  double rate16 = 830, rate16_half = 282, rate16_odd = 150;
  double rate_tf32 = 425, rate_tf32_off = 140;

  // Our own kernel: TFLOP/s within a tile, and what a tile and a launch cost beside.
  double rate_fused = 843;
  double fused_tile_us = 1.5, fused_misaligned_tile_us = 3.0, fused_start_us = 2.0;

  static double flops(const Problem& p) {
    return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
           static_cast<double>(p.batch);
  }
  static double bytes(const Matrix& x, int64_t batch) {
    return static_cast<double>(x.rows) * static_cast<double>(x.cols) * x.bytes *
           static_cast<double>(x.stride == 0 && !x.by_pointers ? 1 : batch);
  }
  // The part of the GPU's time that tiles of 128 x 256 on 132 multiprocessors keep busy.
  static double wave_efficiency(const Problem& p) {
    const auto up = [](int64_t a, int64_t b) { return static_cast<double>((a + b - 1) / b); };
    const double tiles = up(p.m, 128) * up(p.n, 128) * static_cast<double>(p.batch);
    const double waves = tiles / 132.0;
    return std::min(1.0, std::max(waves / (waves + 0.5), 0.02));
  }
  double timed(const Problem& p, double tflops) const {
    const double math = flops(p) / (tflops * 1e6 * wave_efficiency(p));
    const double memory =
        (bytes(p.a, p.batch) + bytes(p.b, p.batch) + bytes(p.d, p.batch)) / memory_bytes_per_us;
    return std::max(gemm_floor_us, std::max(math, memory));
  }
  double aligned_us(const Problem& p) const {
    return timed(p, p.type == Type::kF32 ? 50 : p.type == Type::kTf32 ? rate_tf32 : rate16);
  }
  double plain_us(const Problem& p) const {
    const int alignment = alignment_of(p);
    if (alignment >= kAlignmentBytes || p.type == Type::kF32) return aligned_us(p);
    if (p.type == Type::kTf32) return timed(p, rate_tf32_off);
    return timed(p, alignment >= 4 ? rate16_half : rate16_odd);
  }
  double copy_us(double bytes) const { return small_copy_us + 2 * bytes / copy_bytes_per_us; }
  // Tiles of 256 rows by `columns` on 66 clusters; a wide tile needs fewer reads for each product.
  static double fused_waves(const Problem& p, int columns) {
    const int64_t tiles = (p.n + 255) / 256 * ((p.m + columns - 1) / columns);
    return static_cast<double>((tiles + 65) / 66);
  }
  static double fused_relative_time(const Problem& p, int columns) {
    const double step = columns == 256   ? 1.0
                        : columns == 192 ? 0.78
                                         : 0.57;  // of a tile, against 256 columns
    return fused_waves(p, columns) * step;
  }
  static int fused_tile(const Problem& p) {
    int best = 256;
    for (const int columns : {192, 128}) {
      if (fused_relative_time(p, columns) < fused_relative_time(p, best)) best = columns;
    }
    return best;
  }
  double fused_us(const Problem& p, bool a, bool b, int columns) const {
    const double in = (a ? bytes(p.a, 1) : 0) + (b ? bytes(p.b, 1) : 0);
    const double k = static_cast<double>(p.k);
    const double tile = 2.0 * 256 * 256 * k / (rate_fused * 1e6 / 66);
    const double edge = alignment_of(p.d, 1) < kAlignmentBytes ? fused_misaligned_tile_us : fused_tile_us;
    const double math = fused_relative_time(p, columns) * (tile + edge);
    const double memory = (bytes(p.a, 1) + bytes(p.b, 1) + bytes(p.d, 1)) / memory_bytes_per_us;
    double time = fused_start_us + std::max(math, memory);
    if (in > 0) time += launch_us + copy_us(in);
    return time;
  }
  double staged_us(const Problem& p, bool a, bool b, bool c, bool d) const {
    double in = 0;
    if (a) in += bytes(p.a, p.batch);
    if (b) in += bytes(p.b, p.batch);
    if (c) in += bytes(p.c, p.batch);
    double time = aligned_us(p);
    if (in > 0) time += launch_us + copy_us(in);
    if (d) time += launch_us + copy_us(bytes(p.d, p.batch));
    return time;
  }
};

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_SRC_COSTS_H_
