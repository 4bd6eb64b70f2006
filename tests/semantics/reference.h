// Correctly rounded arithmetic in any binary format, by MPFR: the reference for every floating-point test.
#pragma once

#include <mpfr.h>

#include <array>
#include <cmath>

#include "exec/semantics/float_bits.h"

namespace fullwarp::exec::sem::test {

struct Format {
  mpfr_prec_t precision;  // with the hidden bit
  mpfr_exp_t least, end;  // of numbers written 0.1xxx * 2^e: e of the least subnormal, and of the largest
};
inline constexpr Format kF64{53, -1073, 1024};
inline constexpr Format kF32{24, -148, 128};
inline constexpr Format kF16{11, -23, 16};
inline constexpr Format kBf16{8, -132, 128};
inline constexpr Format kE5m2{3, -15, 16};
inline constexpr Format kTf32{11, -135, 128};

inline mpfr_rnd_t mpfr_mode(Rounding rounding) {
  switch (rounding) {
    case Rounding::rz: return MPFR_RNDZ;
    case Rounding::rm: return MPFR_RNDD;
    case Rounding::rp: return MPFR_RNDU;
    default: return MPFR_RNDN;
  }
}

class Number {
 public:
  explicit Number(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(value_); }
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

// operation(result, mode) computes one MPFR operation into `result` and returns its ternary value. The result
// comes back as a double, which holds every number of the formats above exactly.
template <class F>
double rounded(Format format, Rounding rounding, F operation) {
  Number result(format.precision);
  const mpfr_rnd_t mode = mpfr_mode(rounding);
  mpfr_set_emin(format.least);
  mpfr_set_emax(format.end);
  const int inexact = operation(static_cast<mpfr_ptr>(result), mode);
  mpfr_subnormalize(result, mpfr_check_range(result, inexact, mode), mode);
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  return mpfr_get_d(result, MPFR_RNDN);
}

enum class Arithmetic { add, sub, mul, div, fma, sqrt };

// The operands must be numbers of the format (or infinities, NaN).
inline double reference(Arithmetic operation, Format format, Rounding rounding, double a, double b = 0,
                        double c = 0) {
  Number x(53), y(53), z(53);
  mpfr_set_d(x, a, MPFR_RNDN);
  mpfr_set_d(y, b, MPFR_RNDN);
  mpfr_set_d(z, c, MPFR_RNDN);
  return rounded(format, rounding, [&](mpfr_ptr r, mpfr_rnd_t mode) {
    switch (operation) {
      case Arithmetic::add: return mpfr_add(r, x, y, mode);
      case Arithmetic::sub: return mpfr_sub(r, x, y, mode);
      case Arithmetic::mul: return mpfr_mul(r, x, y, mode);
      case Arithmetic::div: return mpfr_div(r, x, y, mode);
      case Arithmetic::fma: return mpfr_fma(r, x, y, z, mode);
      default: return mpfr_sqrt(r, x, mode);
    }
  });
}

// A double in another format.
inline double reference_convert(Format format, Rounding rounding, double a) {
  Number x(53);
  mpfr_set_d(x, a, MPFR_RNDN);
  return rounded(format, rounding, [&](mpfr_ptr r, mpfr_rnd_t mode) { return mpfr_set(r, x, mode); });
}

// An f32 result as bits, NaN canonical.
inline uint32_t f32_bits(double result) {
  return std::isnan(result) ? kNanF32 : bits(static_cast<float>(result));
}

}  // namespace fullwarp::exec::sem::test
