// A call through an address that nobody set.
// fullwarp: apply<<<1, 32>>>(u64[1] : zero, f32[32] : iota)
using Function = float (*)(float);
__global__ void apply(const unsigned long long* functions, float* data) {
  data[threadIdx.x] = reinterpret_cast<Function>(functions[0])(data[threadIdx.x]);
}
