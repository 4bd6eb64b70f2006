// Gravity between all pairs of bodies: tiles of 128 bodies in shared memory, each read by the whole warp at
// once.
//
// fullwarp: bodies = f32[4*600] : uniform(1)
// fullwarp: forces = f32[4*600]
// fullwarp: want = f32[4*600]
// fullwarp: gravity<<<5, 128>>>(bodies, forces, 600)
// fullwarp: gravity_reference<<<5, 128>>>(bodies, want, 600)
// fullwarp: expect forces ~ want (rtol 1e-3, atol 1e-2)
#include <cuda_runtime.h>

constexpr int kTile = 128;
constexpr float kSoftening = 0.01f;  // keeps the force between close bodies finite

// bodies: x, y, z, mass; forces: x, y, z, 0.
__global__ void __launch_bounds__(kTile)
    gravity(const float4* __restrict__ bodies, float4* __restrict__ forces, int n) {
  __shared__ float4 tile[kTile];
  int i = blockIdx.x * kTile + threadIdx.x;
  float4 here = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float3 force = make_float3(0, 0, 0);
  for (int first = 0; first < n; first += kTile) {
    int other = first + threadIdx.x;
    tile[threadIdx.x] = other < n ? bodies[other] : make_float4(0, 0, 0, 0);  // no mass, no force
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < kTile; ++j) {
      float dx = tile[j].x - here.x, dy = tile[j].y - here.y, dz = tile[j].z - here.z;
      float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + kSoftening);
      float pull = tile[j].w * inverse * inverse * inverse;
      force.x += dx * pull;
      force.y += dy * pull;
      force.z += dz * pull;
    }
    __syncthreads();
  }
  if (i < n) forces[i] = make_float4(force.x, force.y, force.z, 0);
}

// The check: in double, no tile.
__global__ void gravity_reference(const float* bodies, float* forces, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double force[3] = {};
  for (int j = 0; j < n; ++j) {
    double d[3], squared = kSoftening;
    for (int axis = 0; axis < 3; ++axis)
      // fullwarp-ignore: redundant-global-loads the reference stays simple
      d[axis] = static_cast<double>(bodies[4 * j + axis]) - bodies[4 * i + axis];
    for (int axis = 0; axis < 3; ++axis) squared += d[axis] * d[axis];
    for (int axis = 0; axis < 3; ++axis)
      force[axis] += d[axis] * bodies[4 * j + 3] / (squared * sqrt(squared));
  }
  for (int axis = 0; axis < 3; ++axis) forces[4 * i + axis] = static_cast<float>(force[axis]);
}
