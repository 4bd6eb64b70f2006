// fullwarp: out = f32[64]
// fullwarp: add<<<1, 64>>>(f32[64] : iota, out)
// fullwarp: expect out = f32[64] : iota
__global__ void add(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }
