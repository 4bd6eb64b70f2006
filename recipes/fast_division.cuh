// Division and remainder by a divisor that is not known when the kernel is compiled, without dividing.
//
// A division by a run-time value is about 20 machine instructions. The quotient of n by d is also the high
// half of a product with a constant that depends on d alone (Granlund and Montgomery, 1994): made once on the
// host, three instructions on the device.
//
//     shift      = ceil(log2 d)
//     multiplier = floor(2^32 (2^shift - d) / d) + 1
//     n / d      = (umulhi(n, multiplier) + n) >> shift      the sum has 33 bits
//
// Worth it where the divisor is one for the whole launch and the quotients are not in a loop that the
// compiler can simplify: in a plain loop of remainders by one value an H200 gained 5 % (docs/gemm.md).
// CUDA 13.1's cuda::fast_mod_div has the same interface; FastDivisor is that one where it is there, else
// ours.
#ifndef FULLWARP_RECIPES_FAST_DIVISION_CUH_
#define FULLWARP_RECIPES_FAST_DIVISION_CUH_

#include <cstdint>

#if defined(__has_include)
#if __has_include(<cuda/__cmath/fast_modulo_division.h>)
#define FULLWARP_HAS_FAST_MOD_DIV 1
#include <cuda/cmath>
#endif
#endif

namespace fullwarp::recipes {

// 1 <= divisor < 2^31; numerators below 2^32. Its members are what a launch passes: divisor, multiplier,
// shift.
class ReciprocalDivisor {
 public:
  __host__ __device__ explicit ReciprocalDivisor(uint32_t divisor) : divisor_(divisor), shift_(0) {
    while ((uint64_t{1} << shift_) < divisor) ++shift_;
    multiplier_ =
        static_cast<uint32_t>(((uint64_t{1} << 32) * ((uint64_t{1} << shift_) - divisor)) / divisor + 1);
  }
  __host__ __device__ friend uint32_t operator/(uint32_t n, const ReciprocalDivisor& d) {
    const uint32_t high = static_cast<uint32_t>((static_cast<uint64_t>(n) * d.multiplier_) >> 32);
    return static_cast<uint32_t>((static_cast<uint64_t>(high) + n) >> d.shift_);
  }
  __host__ __device__ friend uint32_t operator%(uint32_t n, const ReciprocalDivisor& d) {
    return n - n / d * d.divisor_;
  }

 private:
  uint32_t divisor_, multiplier_, shift_;
};

#if defined(FULLWARP_HAS_FAST_MOD_DIV)
using FastDivisor = ::cuda::fast_mod_div<uint32_t>;
#else
using FastDivisor = ReciprocalDivisor;
#endif

}  // namespace fullwarp::recipes
#endif  // FULLWARP_RECIPES_FAST_DIVISION_CUH_
