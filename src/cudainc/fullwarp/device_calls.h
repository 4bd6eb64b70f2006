// What a kernel may call without an intrinsic: printf, assert, malloc, free, and the conversions of the built-in
// variables. clang turns printf into vprintf; glibc's assert ends in __assert_fail.
#pragma once

extern "C" {
__device__ int vprintf(const char*, const char*);
__device__ void free(void*) __attribute__((nothrow));
__device__ void* malloc(size_t) __attribute__((nothrow, malloc));
__device__ int printf(const char*, ...);
__device__ void __assertfail(const char* message, const char* file, unsigned line, const char* function,
                             size_t char_size);
__device__ static inline void __assert_fail(const char* message, const char* file, unsigned line,
                                            const char* function) {
  __assertfail(message, file, line, function, sizeof(char));
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0, void* stream = nullptr);
}

namespace std {
__device__ static inline void free(void* p) { ::free(p); }
__device__ static inline void* malloc(size_t bytes) { return ::malloc(bytes); }
}  // namespace std

#define FW_BUILTIN_CONVERSIONS(NAME)                                                                \
  __device__ inline __cuda_builtin_##NAME##_t::operator dim3() const { return dim3(x, y, z); }      \
  __device__ inline __cuda_builtin_##NAME##_t::operator uint3() const { return {x, y, z}; }
FW_BUILTIN_CONVERSIONS(threadIdx)
FW_BUILTIN_CONVERSIONS(blockIdx)
FW_BUILTIN_CONVERSIONS(blockDim)
FW_BUILTIN_CONVERSIONS(gridDim)
#undef FW_BUILTIN_CONVERSIONS
