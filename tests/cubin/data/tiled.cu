extern "C" __global__ void mm(const float* a, const float* b, float* c, int n) {
  __shared__ float as[32][32];
  __shared__ float bs[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  float sum = 0;
  for (int t = 0; t < n / 32; ++t) {
    as[threadIdx.y][threadIdx.x] = a[y * n + t * 32 + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t * 32 + threadIdx.y) * n + x];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}
extern "C" __global__ void misc(float* p, int* q, const float4* v, int n) {
  __shared__ int h[256];
  float loc[40];
  for (int i = 0; i < 40; ++i) loc[i] = p[i];
  atomicAdd(&h[q[0] & 255], 1);
  __syncthreads();
