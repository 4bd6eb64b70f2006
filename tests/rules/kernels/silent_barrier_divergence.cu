// The barrier stands outside the condition.
// fullwarp: halves<<<1, 128>>>(f32[128] : iota)
__global__ void halves(float* data) {
  __shared__ float row[128];
  row[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  if (threadIdx.x % 2 != 0) row[threadIdx.x] += 1.0f;
  data[threadIdx.x] = row[threadIdx.x];
}
