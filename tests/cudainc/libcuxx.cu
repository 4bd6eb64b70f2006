// cuda::barrier, cuda::pipeline and cuda::atomic compile to mbarrier, cp.async and scoped atomics.
// ptx: mbarrier.init.shared.b64
// ptx: mbarrier.arrive.shared.b64
// ptx: mbarrier.test_wait.shared.b64
// ptx: cp.async.cg.shared.global
// ptx: cp.async.commit_group
// ptx: cp.async.mbarrier.arrive.shared.b64
// ptx: atom.cta.
// ptx: cas.b64
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/atomic>

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void barriers(float* out, const float4* in) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ float4 staged[128];
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&staged[threadIdx.x], in + threadIdx.x, sizeof(float4), bar);
  auto token = bar.arrive();
  bar.wait(std::move(token));
  out[threadIdx.x] = staged[127 - threadIdx.x].x;
  bar.arrive_and_wait();
}

__global__ void pipelines(float* out, const float4* in) {
  __shared__ float4 staged[2][128];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  cg::thread_block block = cg::this_thread_block();
  const auto four = cuda::aligned_size_t<alignof(float4)>(sizeof(float4));
  cuda::pipeline<cuda::thread_scope_thread> own = cuda::make_pipeline();
  own.producer_acquire();
  cuda::memcpy_async(&staged[0][threadIdx.x], in + threadIdx.x, four, own);
  own.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(own);
  own.consumer_release();
  auto shared = cuda::make_pipeline(block, &state, threadIdx.x < 64 ? cuda::pipeline_role::producer
                                                                    : cuda::pipeline_role::consumer);
  if (threadIdx.x < 64) {
    shared.producer_acquire();
    cuda::memcpy_async(&staged[1][threadIdx.x], in + threadIdx.x, four, shared);
    shared.producer_commit();
  } else {
    shared.consumer_wait();
    out[threadIdx.x] = staged[1][threadIdx.x - 64].y + staged[0][threadIdx.x].x;
    shared.consumer_release();
  }
}

__global__ void atomics(unsigned* n, double* d, cuda::atomic<int>* a, long long* l) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_block> count(*n);
  count.fetch_add(1, cuda::memory_order_relaxed);
  cuda::atomic_ref<double, cuda::thread_scope_device>(*d).fetch_max(2.5);
  cuda::atomic_ref<long long, cuda::thread_scope_device>(*l).fetch_min(-3);
  ++*a;
  a->store(a->load(cuda::std::memory_order_acquire) | 4);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
}

// nvcc takes alignas behind __shared__, with a number or a type.
// ptx: .shared .align 64 .b8
// ptx: .shared .align 16 .b8 
struct alignas(32) Aligned {
  int a;
};
template <class T, int N>
struct alignas(N * 8) Twice {
  T t;
};
static_assert(alignof(Aligned) == 32 && alignof(Twice<int, 4>) == 32, "");
__global__ void aligned(float* out, const float* in) {
  __shared__ alignas(64) float first[33];
  __shared__ alignas(float4) float second[33];
  first[threadIdx.x] = in[threadIdx.x];
  second[threadIdx.x + 1] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = first[31 - threadIdx.x] + second[threadIdx.x];
}
