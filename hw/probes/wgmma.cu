// Where does the hardware look for the multiplicands of wgmma? Products of every type and layout with matrix
// descriptors drawn at random: swizzles, leading and stride offsets, starts that are aligned or not, base
// offsets. And how many wavefronts of shared memory does it count for them?
//
//   nvcc -gencode arch=compute_90a,code=sm_90a -o wgmma hw/probes/wgmma.cu && ./wgmma
//   ncu --clock-control none --csv --page raw --metrics memory_l1_wavefronts_shared ./wgmma one-by-one
//   nvcc -arch=sm_90a -ptx -o tests/hardware/wgmma.ptx hw/probes/wgmma.cu
//
// Prints one line a case: form, descriptors of A and B with starts from the beginning of the image, and a
// hash of the 64 x N results; tests/hardware/h200_wgmma.csv has the profiler's count beside them.
// tests/hardware/wgmma_test.cpp runs the same kernels on the CPU and compares. All numbers are small
// integers, so that results are exact in any order.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

constexpr unsigned kImageBytes = 64 * 1024, kThreads = 128, kImageAlignment = 1024;

enum Form {
  kF16,
  kF16TransposedA,
  kF16TransposedB,
  kF16TransposedBoth,
  kBf16Narrow,
  kTf32,
  kS8,
  kFp8,
  kF16Sums,
  kRegistersOfA,
  kBf16Wide,
  kU8Clamped,
  kForms
};

template <int kForm>
struct Of {
  static constexpr unsigned n = kForm == kBf16Narrow  ? 24
                                : kForm == kS8        ? 16
                                : kForm == kBf16Wide  ? 256
                                : kForm == kU8Clamped ? 32
                                                      : 64;
  static constexpr unsigned registers = kForm == kF16Sums ? n / 4 : n / 2;
};

// Four bytes of the image: two or four elements, or one, of a small value.
template <int kForm>
__device__ uint32_t image_word(uint32_t i) {
  uint32_t h = i * 2654435761u;
  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  if (kForm == kS8 || kForm == kU8Clamped) return h;
  uint32_t word = 0;
  const unsigned bits = kForm == kTf32 ? 32 : kForm == kFp8 ? 8 : 16;
  for (unsigned at = 0; at < 32; at += bits, h >>= 3) {
    const uint32_t magnitude = h & 3, negative = h >> 2 & 1;
    uint32_t code = 0;  // of 0, 1, 2, 3
    if (kForm == kTf32) {
      code = magnitude == 0 ? 0 : magnitude == 1 ? 0x3f800000u : magnitude == 2 ? 0x40000000u : 0x40400000u;
    } else if (kForm == kFp8) {  // e4m3 and e5m2 give these bits different values, all of them exact
      code = magnitude == 0 ? 0 : magnitude == 1 ? 0x38u : magnitude == 2 ? 0x40u : 0x44u;
    } else if (kForm == kBf16Narrow || kForm == kBf16Wide) {
      code = magnitude == 0 ? 0 : magnitude == 1 ? 0x3f80u : magnitude == 2 ? 0x4000u : 0x4040u;
    } else {
      code = magnitude == 0 ? 0 : magnitude == 1 ? 0x3c00u : magnitude == 2 ? 0x4000u : 0x4200u;
    }
    word |= (code | negative << (bits - 1)) << at;
  }
  return word;
}

template <int kRegisters>
__device__ __forceinline__ void fence(uint32_t (&d)[kRegisters]) {
#pragma unroll
  for (int r = 0; r < kRegisters; ++r) asm volatile("" : "+r"(d[r])::"memory");
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

#define FULLWARP_4(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define FULLWARP_16(i) FULLWARP_4(i), FULLWARP_4(i + 4), FULLWARP_4(i + 8), FULLWARP_4(i + 12)
#define FULLWARP_32 FULLWARP_16(0), FULLWARP_16(16)
#define FULLWARP_D32                                                                                        \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27," \
  "%28,%29,%30,%31}"
#define FULLWARP_PRODUCT32(text, end)                                                                      \
  asm volatile("{.reg .pred p; setp.ne.b32 p, %34, 0; wgmma.mma_async.sync.aligned." text " " FULLWARP_D32 \
               ", %32, %33, p" end ";}"                                                                    \
               : FULLWARP_32                                                                               \
               : "l"(a), "l"(b), "r"(accumulate)                                                           \
               : "memory")

template <int kForm, unsigned kRegisters>
__device__ __forceinline__ void multiply(uint32_t (&d)[kRegisters], uint64_t a, uint64_t b, int accumulate) {
  if constexpr (kForm == kF16) {
    FULLWARP_PRODUCT32("m64n64k16.f32.f16.f16", ", 1, 1, 0, 0");
  } else if constexpr (kForm == kF16TransposedA) {
    FULLWARP_PRODUCT32("m64n64k16.f32.f16.f16", ", -1, 1, 1, 0");
  } else if constexpr (kForm == kF16TransposedB) {
    FULLWARP_PRODUCT32("m64n64k16.f32.f16.f16", ", 1, -1, 0, 1");
  } else if constexpr (kForm == kF16TransposedBoth) {
    FULLWARP_PRODUCT32("m64n64k16.f32.f16.f16", ", -1, -1, 1, 1");
  } else if constexpr (kForm == kTf32) {
    FULLWARP_PRODUCT32("m64n64k8.f32.tf32.tf32", ", 1, 1");
  } else if constexpr (kForm == kFp8) {
    FULLWARP_PRODUCT32("m64n64k32.f32.e4m3.e5m2", ", 1, -1");
  } else if constexpr (kForm == kBf16Narrow) {
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %14, 0; wgmma.mma_async.sync.aligned.m64n24k16.f32.bf16.bf16 "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11}, %12, %13, p, 1, 1, 0, 0;}"
        : FULLWARP_4(0), FULLWARP_4(4), FULLWARP_4(8)
        : "l"(a), "l"(b), "r"(accumulate)
        : "memory");
  } else if constexpr (kForm == kS8) {
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %10, 0; wgmma.mma_async.sync.aligned.m64n16k32.s32.s8.s8 "
        "{%0,%1,%2,%3,%4,%5,%6,%7}, %8, %9, p;}"
        : FULLWARP_4(0), FULLWARP_4(4)
        : "l"(a), "l"(b), "r"(accumulate)
        : "memory");
  } else if constexpr (kForm == kU8Clamped) {
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %18, 0; wgmma.mma_async.sync.aligned.m64n32k32.s32.u8.s8.satfinite "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, %16, %17, p;}"
        : FULLWARP_16(0)
        : "l"(a), "l"(b), "r"(accumulate)
        : "memory");
  } else if constexpr (kForm == kF16Sums) {
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %18, 0; wgmma.mma_async.sync.aligned.m64n64k16.f16.f16.f16 "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, %16, %17, p, 1, 1, 0, 0;}"
        : FULLWARP_16(0)
        : "l"(a), "l"(b), "r"(accumulate)
        : "memory");
  } else if constexpr (kForm == kRegistersOfA) {  // A's registers: whatever the thread has at that place
    const uint32_t a0 = image_word<kF16>(threadIdx.x), a1 = image_word<kF16>(threadIdx.x + 1000),
                   a2 = image_word<kF16>(threadIdx.x + 2000), a3 = image_word<kF16>(threadIdx.x + 3000);
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %37, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 " FULLWARP_D32
        ", {%32,%33,%34,%35}, %36, p, -1, 1, 1;}"
        : FULLWARP_32
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "r"(accumulate)
        : "memory");
  } else {
    asm volatile(
        "{.reg .pred p; setp.ne.b32 p, %130, 0; wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
        "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,"
        "%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,"
        "%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"
        "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,"
        "%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,"
        "%126,%127}, %128, %129, p, 1, 1, 0, 1;}"
        : FULLWARP_16(0), FULLWARP_16(16), FULLWARP_16(32), FULLWARP_16(48), FULLWARP_16(64), FULLWARP_16(80),
          FULLWARP_16(96), FULLWARP_16(112)
        : "l"(a), "l"(b), "r"(accumulate)
        : "memory");
  }
}

// A block a case; every third starts from zero instead of from what the registers hold.
template <int kForm>
__global__ void __launch_bounds__(kThreads) products(const uint64_t* a, const uint64_t* b, uint32_t* out) {
  extern __shared__ uint8_t shared[];
  const uint32_t start = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  const uint32_t image = (start + kImageAlignment - 1) / kImageAlignment * kImageAlignment;
  for (uint32_t i = threadIdx.x; i < kImageBytes / 4; i += kThreads)
    reinterpret_cast<uint32_t*>(shared + (image - start))[i] = image_word<kForm>(i);
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  constexpr unsigned kRegisters = Of<kForm>::registers;
  uint32_t d[kRegisters];
  for (unsigned r = 0; r < kRegisters; ++r) {
    const uint32_t number = (threadIdx.x * 7 + r * 3) % 32;
    d[r] = kForm == kS8 || kForm == kU8Clamped ? (kForm == kU8Clamped ? 0x7fff0000u + number * 2048 : number)
           : kForm == kF16Sums                 ? 0x3c004000u
                                               : __float_as_uint(static_cast<float>(number));
  }
  fence(d);
  multiply<kForm>(d, a[blockIdx.x] + (image >> 4), b[blockIdx.x] + (image >> 4), blockIdx.x % 3 != 0);
  asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
  fence(d);
  for (unsigned r = 0; r < kRegisters; ++r)
    out[(blockIdx.x * kRegisters + r) * kThreads + threadIdx.x] = d[r];
}

namespace {

constexpr unsigned kCases = 48;

void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

uint64_t descriptor(std::mt19937& random, unsigned most_stride) {
  const bool usual = random() % 2;  // else whatever the fields can say
  const uint64_t swizzle = random() % 4;
  uint64_t start = random() % 1024;  // of 16 bytes
  if (usual) start &= ~uint64_t{63};
  const auto offset = [&] {
    return usual ? uint64_t{8} << random() % 4 : uint64_t{random()} % (most_stride / 16);
  };
  const uint64_t leading = offset(), stride = offset();
  const uint64_t base = !usual && random() % 2 ? random() % 8 : 0;
  return start | leading << 16 | stride << 32 | base << 49 | swizzle << 62;
}

template <int kForm>
void run(std::mt19937& random, bool one_by_one) {
  std::vector<uint64_t> a(kCases), b(kCases);
  for (unsigned k = 0; k < kCases; ++k) {
    a[k] = descriptor(random, 4096);
    b[k] = descriptor(random, kForm == kBf16Wide ? 1024 : 4096);
  }
  const size_t words = size_t{Of<kForm>::registers} * kThreads;
  uint64_t *device_a = nullptr, *device_b = nullptr;
  uint32_t* device_out = nullptr;
  must(cudaMalloc(&device_a, 8 * kCases));
  must(cudaMalloc(&device_b, 8 * kCases));
  must(cudaMalloc(&device_out, 4 * words * kCases));
  must(cudaMemcpy(device_a, a.data(), 8 * kCases, cudaMemcpyHostToDevice));
  must(cudaMemcpy(device_b, b.data(), 8 * kCases, cudaMemcpyHostToDevice));
  constexpr int kShared = kImageBytes + kImageAlignment;
  must(cudaFuncSetAttribute(products<kForm>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  for (unsigned k = 0; k < kCases && one_by_one; ++k)
    products<kForm><<<1, kThreads, kShared>>>(device_a + k, device_b + k, device_out + k * words);
  if (!one_by_one) products<kForm><<<kCases, kThreads, kShared>>>(device_a, device_b, device_out);
  must(cudaDeviceSynchronize());
  std::vector<uint32_t> out(words * kCases);
  must(cudaMemcpy(out.data(), device_out, 4 * out.size(), cudaMemcpyDeviceToHost));
  for (unsigned k = 0; k < kCases; ++k) {
    uint64_t hash = 14695981039346656037u;  // FNV-1a, by words
    for (size_t i = 0; i < words; ++i) hash = (hash ^ out[k * words + i]) * 1099511628211u;
    std::printf("%d,%016llx,%016llx,%016llx\n", kForm, static_cast<unsigned long long>(a[k]),
                static_cast<unsigned long long>(b[k]), static_cast<unsigned long long>(hash));
  }
  must(cudaFree(device_a));
  must(cudaFree(device_b));
  must(cudaFree(device_out));
}

template <int kForm>
void run_from(std::mt19937& random, bool one_by_one) {
  if constexpr (kForm < kForms) {
    run<kForm>(random, one_by_one);
    run_from<kForm + 1>(random, one_by_one);
  }
}

}  // namespace

int main(int argc, char**) {
  std::printf("form,a,b,hash\n");
  std::mt19937 random(1);
  run_from<0>(random, argc > 1);
}
