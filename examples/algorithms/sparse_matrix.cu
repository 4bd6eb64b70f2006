// Sparse matrix times vector, rows of different lengths (CSR): one thread a row, and one warp a row.
//
// Row r holds (7 r) % 40 values. With a thread a row the lanes end at different times and read far apart;
// with a warp a row they read neighbours.
// Look at: active lanes and sectors per request of the two.
//
// fullwarp: starts = i32[501]
// fullwarp: row_starts<<<1, 1>>>(starts, 500)
// fullwarp: columns = u32[20000] : below(500, 2)
// fullwarp: values = i32[20000] : below(10, 3)
// fullwarp: x = i32[500] : below(10, 4)
// fullwarp: by_thread = i32[500]
// fullwarp: by_warp = i32[500]
// fullwarp: want = i32[500]
// fullwarp: multiply_by_thread<<<4, 128>>>(starts, columns, values, x, by_thread, 500)
// fullwarp: multiply_by_warp<<<125, 128>>>(starts, columns, values, x, by_warp, 500)
// fullwarp: multiply_reference<<<500, 1>>>(columns, values, x, want)
// fullwarp: expect by_thread = want
// fullwarp: expect by_warp = want
#include <cuda_runtime.h>

__global__ void row_starts(int* starts, int rows) {
  int at = 0;
  for (int row = 0; row <= rows; ++row) {
    starts[row] = at;
    at += 7 * row % 40;
  }
}

__global__ void multiply_by_thread(const int* __restrict__ starts, const unsigned* __restrict__ columns,
                                   const int* __restrict__ values, const int* __restrict__ x,
                                   int* __restrict__ y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int sum = 0;
  for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}

__global__ void multiply_by_warp(const int* __restrict__ starts, const unsigned* __restrict__ columns,
                                 const int* __restrict__ values, const int* __restrict__ x,
                                 int* __restrict__ y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  int sum = 0;
  for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i] * x[columns[i]];
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (lane == 0) y[row] = sum;
}

// The check: one block a row, which finds its start by adding up the lengths before it.
// fullwarp-ignore: partial-warp, fullwarp-ignore: low-occupancy the reference stays simple
__global__ void multiply_reference(const unsigned* columns, const int* values, const int* x, int* y) {
  int row = blockIdx.x, start = 0, sum = 0;
  for (int before = 0; before < row; ++before) start += 7 * before % 40;
  for (int i = 0; i < 7 * row % 40; ++i) sum += values[start + i] * x[columns[start + i]];
  y[row] = sum;
}
