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
  int only_columns = 0;      // not 0: our own kernel's tiles have this width (for checks)
  double least_gain = 0.97;  // staged or fused must take at most this part of plain

  // TFLOP/s of cuBLAS where all multiprocessors are busy: aligned, 4 or 8 bytes, 2 bytes.
  double rate16 = 830, rate16_half = 282, rate16_odd = 150;
  double rate_tf32 = 425, rate_tf32_off = 140;

  // Our own kernel: TFLOP/s within a tile, and what a tile and a launch cost beside.
  double rate_fused = 843;
  // Copies that it makes while it multiplies: what the first tiles wait, source bytes a microsecond that it
  // loses, and the rate at which they arrive. What a launch before it copies stays in the L2 cache if it is
  // small.
  double ahead_start_us = 7, ahead_bytes_per_us = 5.0e6, ahead_alone_bytes_per_us = 0.9e6;
  double cached_copy_bytes = 40e6, cached_copy_bytes_per_us = 5.0e6;
  double cold_us = 1.7;  // narrow tiles, where one operand was just copied and the other comes from memory
  double fused_tile_us = 1.5, fused_misaligned_tile_us = 3.0, fused_start_us = 2.0;

  static Costs with_tiles(int columns) {
    Costs costs;
    costs.only_columns = columns;
    return costs;
  }
  static double flops(const Problem& p) {
    return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
           static_cast<double>(p.batch);
  }
  static int64_t ceil_div(int64_t value, int64_t by) { return (value + by - 1) / by; }
  static double bytes(const Matrix& x, int64_t batch) {
    return static_cast<double>(x.rows) * static_cast<double>(x.cols) * x.bytes *
           static_cast<double>(x.stride == 0 && !x.by_pointers ? 1 : batch);
  }
  // The part of the GPU's time that tiles of 128 x 256 on 132 multiprocessors keep busy.
  static double wave_efficiency(const Problem& p) {
    const double tiles = static_cast<double>(ceil_div(p.m, 128)) * static_cast<double>(ceil_div(p.n, 128)) *
                         static_cast<double>(p.batch);
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
  // How the fused product is done: the width of its tiles, and whether it copies its operands itself.
  struct Fused {
    int columns = 256;
    bool ahead = false;
    double us = 0;
  };
  // A cluster's tile is 256 rows of D (p's columns) by `columns`; 128 by 128 where these are 64. 66 clusters.
  static double fused_waves(const Problem& p, int columns) {
    const int64_t rows = columns == 64 ? 128 : 256, width = columns == 64 ? 128 : columns;
    return static_cast<double>(ceil_div(ceil_div(p.n, rows) * ceil_div(p.m, width), 66));
  }
  // In tiles of 256 x 256; a wide tile needs fewer reads for each product.
  static double fused_relative_time(const Problem& p, int columns) {
    const double step = columns == 256 ? 1.0 : columns == 192 ? 0.78 : columns == 128 ? 0.57 : 0.39;
    return fused_waves(p, columns) * step;
  }
  // a, b: the operands to copy; `may_copy_ahead`: the product may copy them itself.
  Fused fused(const Problem& p, bool a, bool b, bool may_copy_ahead, bool must_copy_ahead = false) const {
    const double in = (a ? bytes(p.a, 1) : 0) + (b ? bytes(p.b, 1) : 0);
    const double tile = 2.0 * 256 * 256 * static_cast<double>(p.k) / (rate_fused * 1e6 / 66);
    const double edge = alignment_of(p.d, 1) < kAlignmentBytes ? fused_misaligned_tile_us : fused_tile_us;
    const double memory = (bytes(p.a, 1) + bytes(p.b, 1) + bytes(p.d, 1)) / memory_bytes_per_us;
    const double rate = in < cached_copy_bytes ? cached_copy_bytes_per_us : copy_bytes_per_us;
    const double launched = in == 0 ? 0 : launch_us + small_copy_us + 2 * in / rate;
    const bool must = must_copy_ahead && may_copy_ahead && in > 0 && only_columns != 64;
    Fused best;
    for (const int columns : {256, 192, 128, 64}) {
      if (only_columns != 0 && columns != only_columns) continue;
      const double time = fused_start_us + std::max(fused_relative_time(p, columns) * (tile + edge), memory);
      for (const bool ahead : {false, true}) {
        if (ahead ? !may_copy_ahead || in == 0 || columns == 64 : must) continue;
        const double us =
            !ahead ? time + launched + (columns == 64 && a != b ? cold_us : 0)
                   : ahead_start_us + std::max(time + in / ahead_bytes_per_us, in / ahead_alone_bytes_per_us);
        if (best.us == 0 || us < best.us) best = {columns, ahead, us};
      }
    }
    return best;
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
