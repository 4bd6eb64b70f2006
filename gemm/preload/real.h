// The functions that ours stand in front of.
#ifndef FULLWARP_GEMM_PRELOAD_REAL_H_
#define FULLWARP_GEMM_PRELOAD_REAL_H_

namespace fullwarp::gemm {

// The address of `name` in the cuBLAS (or cuBLASLt) that the program loaded, also where that was loaded with
// RTLD_LOCAL; null if there is none. Slow: keep the result.
void* find_real(const char* name);

// One look-up for each function: FULLWARP_REAL(cublasSgemm_v2) is a pointer of the function's own type.
#define FULLWARP_REAL(function) FULLWARP_REAL_AS(decltype(&::function), function)

// The same for a function that cublas_api.h overloads.
#define FULLWARP_REAL_AS(Pointer, function)                                                        \
  ([] {                                                                                            \
    static const auto address = reinterpret_cast<Pointer>(::fullwarp::gemm::find_real(#function)); \
    return address;                                                                                \
  }())

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_PRELOAD_REAL_H_
