// Every wmma shape, type and layout; the instructions' names are nvcc's.
// ptx: wmma.load.a.sync.aligned.row.m16n16k16.f16
// ptx: wmma.load.b.sync.aligned.col.m32n8k16.bf16
// ptx: wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32
// ptx: wmma.mma.sync.aligned.col.row.m8n32k16.f16.f16
// ptx: wmma.mma.sync.aligned.row.row.m16n16k16.f32.bf16.bf16.f32
// ptx: wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32
// ptx: wmma.mma.sync.aligned.col.col.m32n8k16.s32.s8.s8.s32
// ptx: wmma.mma.sync.aligned.row.col.m8n32k16.s32.u8.u8.s32.satfinite
// ptx: wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn
// ptx: wmma.store.d.sync.aligned.row.m16n16k16.f32
// ptx: cvt.rna.tf32.f32
#include <mma.h>

using namespace nvcuda;

template <int M, int N, int K, class T, class Acc, class LayoutA, class LayoutB>
__global__ void product(const T* a, const T* b, Acc* c, int pitch) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Acc> fc, fd;
  wmma::load_matrix_sync(fa, a, pitch);
  wmma::load_matrix_sync(fb, b, pitch);
  wmma::fill_fragment(fc, Acc(0));
  wmma::load_matrix_sync(fd, c, pitch, wmma::mem_col_major);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::mma_sync(fd, fa, fb, fd);
  for (int i = 0; i < fd.num_elements; ++i) fd.x[i] = fd.x[i] + fc.x[i];
  wmma::store_matrix_sync(c, fd, pitch, wmma::mem_row_major);
}
#define INSTANCE(M, N, K, T, ACC, A, B) \
  template __global__ void product<M, N, K, T, ACC, wmma::A, wmma::B>(const T*, const T*, ACC*, int);
#define LAYOUTS(M, N, K, T, ACC)                    \
  INSTANCE(M, N, K, T, ACC, row_major, row_major)   \
  INSTANCE(M, N, K, T, ACC, row_major, col_major)   \
  INSTANCE(M, N, K, T, ACC, col_major, row_major)   \
  INSTANCE(M, N, K, T, ACC, col_major, col_major)
#define SHAPES(T, ACC)            \
  LAYOUTS(16, 16, 16, T, ACC)     \
  LAYOUTS(32, 8, 16, T, ACC)      \
  LAYOUTS(8, 32, 16, T, ACC)
SHAPES(half, half)
SHAPES(half, float)
SHAPES(__nv_bfloat16, float)
SHAPES(signed char, int)
SHAPES(unsigned char, int)
LAYOUTS(8, 8, 4, double, double)

__global__ void tf32(const float* a, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
  wmma::load_matrix_sync(fa, a, 8);
  wmma::load_matrix_sync(fb, a, 8);
  wmma::fill_fragment(fc, 0.f);
  for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

__global__ void saturated(const unsigned char* a, int* c) {
  wmma::fragment<wmma::matrix_a, 8, 32, 16, unsigned char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 32, 16, unsigned char, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 32, 16, int> fc;
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, a, 16);
  wmma::fill_fragment(fc, 0);
  wmma::mma_sync(fc, fa, fb, fc, true);
  wmma::store_matrix_sync(c, fc, 32, wmma::mem_row_major);
}
