// The same members as a struct of arrays.
// fullwarp: x = f32[4096] : uniform(1)
// fullwarp: y = f32[4096] : uniform(2)
// fullwarp: z = f32[4096] : uniform(3)
// fullwarp: mass = f32[4096] : uniform(4)
// fullwarp: energy = f32[4096]
// fullwarp: kinetic<<<16, 256>>>({x, y, z, mass}, energy, 4096)
struct Particles {
  const float *x, *y, *z, *mass;
};
__global__ void kinetic(Particles p, float* energy, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = p.x[i], y = p.y[i], z = p.z[i];
  energy[i] = 0.5f * p.mass[i] * (x * x + y * y + z * z);
}
