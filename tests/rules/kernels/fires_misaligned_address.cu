// Rows of 33 columns read as float4: every second row begins off a 16-byte boundary.
// fullwarp: sums<<<1, 32>>>(f32[32*33] : iota, f32[32], 33)
__global__ void sums(const float* in, float* out, int columns) {
  float4 v = *reinterpret_cast<const float4*>(in + threadIdx.x * columns);
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
