// How long an operation takes, from what was measured on an H200 (src/shapes/data/, hw/shapes_grid.py).
//
// Sizes lie between measured ones, and between them time jumps with tiles and waves. So a formula that knows
// tiles, waves and bandwidth (formula.h) predicts every measured point first; measured / formula, which
// varies slowly, is interpolated between the nearest points in log M, log N, log K of the same type, layout
// and alignment; the formula's value times that is the estimate. Where neighbours disagree, the library's
// heuristics chose different kernels for them: that disagreement is the range.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "gpu/gpu.h"
#include "shapes/operation.h"

namespace fullwarp::shapes {

struct Estimate {
  double us = 0;
  double low_us = 0, high_us = 0;  // nine of ten measurements lie between (checked on sizes held back)
  bool operator==(const Estimate&) const = default;

  // The library's choice of a kernel decides, and the table cannot tell which.
  bool uncertain() const { return high_us > kUncertain * low_us; }
  static constexpr double kUncertain = 1.6;
};

enum class Basis : uint8_t {
  measured,  // interpolated between measurements on this GPU
  scaled,    // measured on another GPU of its architecture, scaled by published ceilings
  // Nothing measured on this architecture: a range from the least that operations and memory traffic allow
  // (bounds.h) to the H200's efficiency and cliff at the same size, scaled. `us` is its geometric middle and
  // serves comparisons only.
  estimated,
};

class TimeTable {
 public:
  explicit TimeTable(const gpu::Gpu& gpu);
  TimeTable(const TimeTable&) = delete;
  TimeTable& operator=(const TimeTable&) = delete;

  Basis basis() const { return basis_; }
  const std::string& conditions() const;  // of the measurements, one line
  // Nothing where no time can be told: a convolution that is grouped or over three dimensions, an fp8 product
  // whose rows are no multiples of 16 bytes (which cuBLASLt refuses), a type that the GPU's tensor cores
  // lack.
  std::optional<Estimate> time(const Operation& operation) const;
  // The least that any kernel takes, where time() knows none: each operand and the result once through
  // memory.
  double least_us(const Operation& operation) const;

 private:
  struct Data;
  static const Data& data();

  std::optional<Estimate> time(const Gemm& gemm) const;
  std::optional<Estimate> time(const Conv& conv) const;
  std::optional<Estimate> time(const Attention& attention) const;
  std::optional<Estimate> time(const Gather& gather) const;

  const gpu::Gpu& gpu_;
  Basis basis_;
  double fp32_ = 1, tf32_ = 1, half_ = 1, int8_ = 1;  // ceilings per SM relative to the measured GPU
  double memory_ = 1, clock_per_sm_ = 1;
  double spread_ = 0;  // of the logarithm, added where the GPU itself was not measured
  double clock_ = 1;   // how far its clock may fall below the boost clock, in estimates
};

}  // namespace fullwarp::shapes
