// A store through a generic pointer to a __constant__ variable (nvcc drops the store where it sees it in C++).
// fullwarp: overwrite<<<1, 32>>>(1.0f)
__constant__ float weights[32];
__global__ void overwrite(float value) {
  asm volatile("st.f32 [%0], %1;" ::"l"(weights + threadIdx.x), "f"(value));
}
