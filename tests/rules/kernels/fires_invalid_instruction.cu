// A call through a pointer that nobody set.
// fullwarp: apply<<<1, 32>>>(u64[1] : zero, f32[32] : iota)
using Function = float (*)(float);
__global__ void apply(const Function* functions, float* data) {
  data[threadIdx.x] = functions[0](data[threadIdx.x]);
}
