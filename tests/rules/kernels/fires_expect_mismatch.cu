// The kernel adds 2 where the statement expects its input unchanged.
// fullwarp: out = f32[64]
// fullwarp: add<<<1, 64>>>(f32[64] : zero, out)
// fullwarp: expect out = f32[64] : zero
__global__ void add(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x] + 2.0f; }
