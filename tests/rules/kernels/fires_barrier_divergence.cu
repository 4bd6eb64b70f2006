// Half of the block's threads never reach the barrier.
// fullwarp: halves<<<1, 128>>>(f32[128] : iota)
__global__ void halves(float* data) {
  __shared__ float row[128];
  row[threadIdx.x] = data[threadIdx.x];
  if (threadIdx.x % 2 == 0) __syncthreads();
  else row[threadIdx.x] += 1.0f;
  data[threadIdx.x] = row[threadIdx.x];
}
