// half and bfloat16: one instruction each.
// ptx: mul.f16
// ptx: add.f16
// ptx: fma.rn.f16x2
// ptx: max.f16x2
// ptx: neg.f16
// ptx: cvt.rn.f16.f32
// ptx: cvt.f32.f16
// ptx: setp.gt.f16
// ptx: atom.add.noftz.f16x2
// ptx: fma.rn.bf16
// ptx: fma.rn.bf16x2
// ptx: cvt.rn.bf16.f32
// ptx: cvt.rn.bf16x2.f32
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void halves(const half* a, const half2* b, half* c, half2* d, float* f) {
  const int i = threadIdx.x;
  half v = a[i] * a[i + 1] + __float2half(f[0]);
  v += half(1);
  v = -v;
  half2 w = __hfma2(b[i], b[i], __halves2half2(v, v));
  if (v > a[3]) w = __hmax2(w, b[2]);
  c[i] = __shfl_xor_sync(~0u, v, 1);
  d[i] = h2exp(w);
  f[i] = __half2float(v) + __half22float2(w).y + __hbeq2(w, d[1]) + __half2int_rz(v);
  atomicAdd(d, w);
}

__global__ void brains(const nv_bfloat16* a, const nv_bfloat162* b, nv_bfloat16* c, nv_bfloat162* d, float* f) {
  const int i = threadIdx.x;
  c[i] = a[i] * a[i + 1] - __float2bfloat16(f[i]);
  d[i] = __hfma2(b[i], b[i + 1], __floats2bfloat162_rn(f[i], f[i + 1]));
  f[i] = __bfloat162float(a[i]) + static_cast<int>(a[2]);
}

int main() {
  half a = __float2half(1.f);
  const half2 b = __float2half2_rn(a);
  return static_cast<int>(__low2float(b * b));
}
