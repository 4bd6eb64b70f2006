// cuRAND's device side with no toolkit. The values to compare with are those of NVIDIA's curand_kernel.h: this file,
// compiled by nvcc 13 and executed (`fullwarp check --compiler nvcc`, with `save o -> random/xorwow_o.npy` and so on).
// fullwarp: o = u32[64]; f = f32[128]; d = f64[96]
// fullwarp: xorwow<<<1, 32>>>(o, f, d, 123456789012345, 777)
// fullwarp: expect o = @random/xorwow_o.npy
// fullwarp: expect f ~ @random/xorwow_f.npy (rtol 1e-5, atol 1e-6)
// fullwarp: expect d ~ @random/xorwow_d.npy (rtol 1e-13, atol 1e-14)
// fullwarp: philox<<<1, 32>>>(o, f, d, 123456789012345, 777)
// fullwarp: expect o = @random/philox_o.npy
// fullwarp: expect f ~ @random/philox_f.npy (rtol 1e-5, atol 1e-6)
// fullwarp: expect d ~ @random/philox_d.npy (rtol 1e-13, atol 1e-14)
// ptx: .entry _Z6philox
#include <curand_kernel.h>

template <class State>
__device__ void common(State* s, float* f, double* d) {
  f[0] = curand_uniform(s);
  f[1] = curand_normal(s);
  f[2] = curand_normal(s);
  f[3] = curand_log_normal(s, 0.5f, 0.25f);
  d[0] = curand_uniform_double(s);
  d[1] = curand_normal_double(s);
  d[2] = curand_normal_double(s);
}

__global__ void xorwow(unsigned* o, float* f, double* d, unsigned long long seed, unsigned long long offset) {
  curandState s;
  const unsigned i = threadIdx.x;
  curand_init(seed, i * 1001, offset, &s);
  o[2 * i] = curand(&s);
  o[2 * i + 1] = curand(&s);
  common(&s, f + 4 * i, d + 3 * i);
}

__global__ void philox(unsigned* o, float* f, double* d, unsigned long long seed, unsigned long long offset) {
  curandStatePhilox4_32_10_t s;
  const unsigned i = threadIdx.x;
  curand_init(seed, i * 1001, offset + i, &s);
  o[2 * i] = curand(&s);
  const uint4 q = curand4(&s);
  o[2 * i + 1] = q.x ^ q.y * 3 ^ q.z * 5 ^ q.w * 7;
  common(&s, f + 4 * i, d + 3 * i);
  const float4 n = curand_normal4(&s);
  f[4 * i] += n.x + 2 * n.y + 4 * n.z + 8 * n.w;
}
