// fullwarp: overwrite<<<1, 32>>>(1.0f)
__device__ float weights[32];
__global__ void overwrite(float value) { weights[threadIdx.x] = value; }
