// Times of products, convolutions and attention in closed form: what the measured points are compared with
// before what is left is interpolated (time_table.h). The constants of each group of kernels come from
// hw/shapes_table.py, whose functions these are.
#pragma once

#include <array>
#include <cstdint>

#include "shapes/operation.h"

namespace fullwarp::shapes {

// How well the operands of a product keep to 16 bytes: pitch, contiguous extent and base address together.
// Measured on an H200: a padded pitch under an extent that is no multiple gains nothing.
enum class Alignment : uint8_t {
  odd,
  even,
  full
};  // even: 16-bit elements in pairs; 32-bit ones have no such step
std::string_view to_string(Alignment alignment);
Alignment alignment_of(int64_t extent, int64_t pitch, uint32_t base_bytes, Dtype dtype);

struct GemmAlignment {
  Alignment ab = Alignment::full;  // the worse of A and B
  Alignment c = Alignment::full;
};
GemmAlignment alignment_of(const Gemm& gemm);

struct GemmConstants {
  double launch_us = 2.4;       // until work starts, and from the end to the next kernel
  double flop_per_us_sm = 8e6;  // of one SM, with tiles of unlimited size
  double bytes_per_us = 3.5e6;  // of device memory
  double tile_us = 1;           // per tile besides its multiplications
  double edge = 25;             // elements of a tile's side at which half of the rate is lost to loading
};

struct Machine {
  uint32_t sms = 132;
  double compute = 1, memory = 1;  // relative to the GPU that was measured: per SM, and of device memory
};

double gemm_us(const Gemm& gemm, const GemmConstants& constants, const Machine& machine = {});
double conv_us(const Conv& conv, const GemmConstants& constants, const Machine& machine = {});

struct AttentionConstants {
  double launch_us = 6, us_per_score = 3e-7, us_per_product = 4e-9, bytes_per_us = 4e6;
};
double attention_us(const Attention& attention, const AttentionConstants& constants,
                    const Machine& machine = {});

// Tiles of 128 x 256, and of 128 x 128 for convolutions, as the fastest kernels here have: how they fill the
// SMs.
struct TileFit {
  int64_t tile_m = 128, tile_n = 256;
  double tiles = 0;
  double waves = 0;   // tiles / SMs
  double filled = 1;  // part of the SM slots of all waves that have a tile
  double useful = 1;  // part of the tiles' area that lies inside C
};
TileFit tile_fit(const Gemm& gemm, uint32_t sms);

}  // namespace fullwarp::shapes
