// wgmma and what surrounds it, as PTX (sm_90a): descriptors, fences, barriers, tensor copies.
//
// Layouts in shared memory are those of the tensor copy engine with 128-byte swizzle: rows of 128 bytes, in
// which 16-byte chunk c of row r lies at place c ^ (r & 7); eight rows are an atom of 1024 bytes.
//
//   contiguous along k     a row is one index of M or N and 64 values of k;
//                          atoms follow along M or N every 1024 bytes
//   contiguous along M, N  a row is one k and 64 indices; atoms follow along k every 1024 bytes,
//                          the next 64 indices lie 64 rows (8192 bytes) further
#ifndef FULLWARP_GEMM_SRC_WGMMA_CUH_
#define FULLWARP_GEMM_SRC_WGMMA_CUH_

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace fullwarp::gemm::sm90 {

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// A matrix descriptor with 128-byte swizzle (PTX ISA, "Matrix descriptor"). kAlongK: contiguous along k.
template <bool kAlongK>
__device__ __forceinline__ uint64_t descriptor(uint32_t address) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62;
  constexpr uint64_t kStride = uint64_t{1024 / 16} << 32;                 // from atom to atom
  constexpr uint64_t kLeading = uint64_t{kAlongK ? 1 : 8192 / 16} << 16;  // to the next 64 of M or N
  return kSwizzle128 | kStride | kLeading | ((address & 0x3ffff) >> 4);
}

// What a step of 16 along k adds to a descriptor.
template <bool kAlongK>
constexpr uint64_t kStep16 = kAlongK ? 32 / 16 : 16 * 128 / 16;

__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kLeft>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}

template <class T>
constexpr bool kIsBf16 = false;
template <>
constexpr bool kIsBf16<__nv_bfloat16> = true;

// clang-format off
#define FULLWARP_R4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define FULLWARP_R16(d, i) FULLWARP_R4(d, i), FULLWARP_R4(d, i + 4), FULLWARP_R4(d, i + 8), FULLWARP_R4(d, i + 12)
#define FULLWARP_R64(d, i) FULLWARP_R16(d, i), FULLWARP_R16(d, i + 16), FULLWARP_R16(d, i + 32), FULLWARP_R16(d, i + 48)

// d (64 x N, this thread's N/2 values) += a (64 x 16) b (16 x N); the first product of a tile overwrites (add = 0).

#define FULLWARP_WGMMA_64(type)                                                                        \
  asm volatile(                                                                                        \
      "{.reg .pred p; setp.ne.b32 p, %34, 0;"                                                          \
      "wgmma.mma_async.sync.aligned.m64n64k16.f32." type "." type " {"                                 \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "     \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"     \
      "}, %32, %33, p, 1, 1, %35, %36;}"                                                         \
      : FULLWARP_R16(d, 0), FULLWARP_R16(d, 16)                                                                       \
      : "l"(a), "l"(b), "r"(add), "n"(kAAlongK ? 0 : 1), "n"(kBAlongK ? 0 : 1))

template <class T, bool kAAlongK, bool kBAlongK>
__device__ __forceinline__ void wgmma(float (&d)[32], uint64_t a, uint64_t b, int add) {
  if constexpr (kIsBf16<T>) {
    FULLWARP_WGMMA_64("bf16");
  } else {
    FULLWARP_WGMMA_64("f16");
  }
}

#define FULLWARP_WGMMA_128(type)                                                                       \
  asm volatile(                                                                                        \
      "{.reg .pred p; setp.ne.b32 p, %66, 0;"                                                          \
      "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type " {"                                 \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "     \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "     \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "     \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"     \
      "}, %64, %65, p, 1, 1, %67, %68;}"                                                         \
      : FULLWARP_R64(d, 0)                                                                       \
      : "l"(a), "l"(b), "r"(add), "n"(kAAlongK ? 0 : 1), "n"(kBAlongK ? 0 : 1))

template <class T, bool kAAlongK, bool kBAlongK>
__device__ __forceinline__ void wgmma(float (&d)[64], uint64_t a, uint64_t b, int add) {
  if constexpr (kIsBf16<T>) {
    FULLWARP_WGMMA_128("bf16");
  } else {
    FULLWARP_WGMMA_128("f16");
  }
}

#define FULLWARP_WGMMA_192(type)                                                                       \
  asm volatile(                                                                                        \
      "{.reg .pred p; setp.ne.b32 p, %98, 0;"                                                          \
      "wgmma.mma_async.sync.aligned.m64n192k16.f32." type "." type " {"                                 \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "     \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "     \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "     \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "     \
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "     \
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"     \
      "}, %96, %97, p, 1, 1, %99, %100;}"                                                         \
      : FULLWARP_R64(d, 0), FULLWARP_R16(d, 64), FULLWARP_R16(d, 80)                                                                       \
      : "l"(a), "l"(b), "r"(add), "n"(kAAlongK ? 0 : 1), "n"(kBAlongK ? 0 : 1))

template <class T, bool kAAlongK, bool kBAlongK>
__device__ __forceinline__ void wgmma(float (&d)[96], uint64_t a, uint64_t b, int add) {
  if constexpr (kIsBf16<T>) {
    FULLWARP_WGMMA_192("bf16");
  } else {
    FULLWARP_WGMMA_192("f16");
  }
}

#define FULLWARP_WGMMA_256(type)                                                                       \
  asm volatile(                                                                                        \
      "{.reg .pred p; setp.ne.b32 p, %130, 0;"                                                          \
      "wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type " {"                                 \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "     \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "     \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "     \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "     \
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "     \
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "     \
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "     \
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"     \
      "}, %128, %129, p, 1, 1, %131, %132;}"                                                         \
      : FULLWARP_R64(d, 0), FULLWARP_R64(d, 64)                                                                       \
      : "l"(a), "l"(b), "r"(add), "n"(kAAlongK ? 0 : 1), "n"(kBAlongK ? 0 : 1))

template <class T, bool kAAlongK, bool kBAlongK>
__device__ __forceinline__ void wgmma(float (&d)[128], uint64_t a, uint64_t b, int add) {
  if constexpr (kIsBf16<T>) {
    FULLWARP_WGMMA_256("bf16");
  } else {
    FULLWARP_WGMMA_256("f16");
  }
}
// clang-format on

__device__ __forceinline__ void barrier_init(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void barrier_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void barrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// At the same place in another block of the cluster. Without a wider scope: what is handed back is a stage
// that was only read, and a fence here costs a quarter of the kernel's time (measured).
__device__ __forceinline__ void barrier_arrive_remote(uint32_t barrier, uint32_t block) {
  asm volatile(
      "{.reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1;"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];}" ::"r"(barrier),
      "r"(block)
      : "memory");
}

__device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{.reg .pred done;"
      "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;"
      "@!done bra again;}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// A box of two dimensions at (x, y); `mask` names the cluster's blocks that receive it, 0: this block alone.
__device__ __forceinline__ void tensor_load(uint32_t to, const CUtensorMap* map, int x, int y,
                                            uint32_t barrier, uint16_t mask) {
  if (mask == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
        "%3}], [%4];" ::"r"(to),
        "l"(map), "r"(x), "r"(y), "r"(barrier)
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], "
        "[%1, {%2, %3}], [%4], %5;" ::"r"(to),
        "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(mask)
        : "memory");
  }
}

__device__ __forceinline__ uint32_t cluster_rank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

template <int kRegisters>
__device__ __forceinline__ void more_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

template <int kRegisters>
__device__ __forceinline__ void fewer_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

}  // namespace fullwarp::gemm::sm90
#endif  // FULLWARP_GEMM_SRC_WGMMA_CUH_
