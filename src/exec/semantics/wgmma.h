// Where the multiplicands of wgmma lie in shared memory: the 64-bit matrix descriptor of sm_90 (PTX ISA 9.0,
// "Asynchronous Warpgroup Level Matrix Instructions"). Held against an H200: tests/hardware/wgmma_test.cpp.
//
//    63 62      51 49     45    32    29     16    13   0
//   [swizzle]   [base]   [stride]     [leading]   [start]     the last three in units of 16 bytes
//
// A multiplicand is read in units of 16 bytes. Where K is contiguous, a line (a row of A, a column of B) is
// two units along K; else (16-bit elements only) a unit is eight lines at one k. Eight units make a core: of
// eight lines, or of eight k. In a core they lie `width` bytes apart: 16 without swizzle, else 32, 64 or 128.
//
//                K contiguous                     lines contiguous
//   no swizzle   next eight lines: stride         next eight lines: stride
//                second unit along K: leading     next eight k: leading
//   swizzle      next eight lines: stride         next eight lines: 16 bytes, but `leading` every `width`
//                second unit along K: 16 bytes    next eight k: stride
//
// The swizzle exchanges units: the bits of an address from 4 on are xor-ed with those from 7 on, less `base`.
#pragma once

#include <cstdint>

namespace fullwarp::exec::sem {

struct MatrixDescriptor {
  uint32_t start = 0, leading = 0, stride = 0;  // bytes
  uint32_t base = 0;                            // of the swizzle's pattern, in its rows of 128 bytes
  uint32_t width = 16;                          // of the swizzle; 16: none

  explicit MatrixDescriptor(uint64_t bits)
      : start(bytes(bits)),
        leading(bytes(bits >> 16)),
        stride(bytes(bits >> 32)),
        base(static_cast<uint32_t>(bits >> 49) & 7) {
    constexpr uint32_t kWidths[] = {16, 128, 64, 32};
    width = kWidths[bits >> 62];
  }

  // K contiguous: unit 0 or 1 along K of a line.
  uint32_t unit_of_line(uint32_t line, uint32_t unit) const {
    const uint32_t across = width == 16 ? unit * leading : unit * 16;
    return swizzled(start + line % 8 * width + line / 8 * stride + across);
  }

  // Lines contiguous: those from 8 `eight` on, at one k.
  uint32_t unit_of_k(uint32_t eight, uint32_t k) const {
    if (width == 16) return swizzled(start + eight * stride + k % 8 * 16 + k / 8 * leading);
    const uint32_t in_row = width / 16;
    return swizzled(start + eight % in_row * 16 + eight / in_row * leading + k % 8 * width + k / 8 * stride);
  }

 private:
  static uint32_t bytes(uint64_t field) { return (static_cast<uint32_t>(field) & 0x3fff) << 4; }

  uint32_t swizzled(uint32_t address) const {
    const uint32_t row = (address >> 7) - base;
    return (address ^ (row & (width / 16 - 1)) << 4) & 0x3ffff;
  }
};

}  // namespace fullwarp::exec::sem
