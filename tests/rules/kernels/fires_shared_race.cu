// Another warp's element is read with no barrier after it was written.
// fullwarp: reverse<<<1, 128>>>(f32[128] : iota, f32[128])
__global__ void reverse(const float* in, float* out) {
  __shared__ float row[128];
  row[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = row[127 - threadIdx.x];
}
