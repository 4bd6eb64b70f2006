// An array of 20-byte structs read member by member: each request spans 20 sectors to use 4 sectors' bytes.
// fullwarp: particles = f32[4096*5] : uniform(1)
// fullwarp: energy = f32[4096]
// fullwarp: kinetic<<<16, 256>>>(particles, energy, 4096)
struct Particle {
  float x, y, z, mass, charge;
};
__global__ void kinetic(const Particle* particles, float* energy, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = particles[i].x;
  float y = particles[i].y;
  float z = particles[i].z;
  energy[i] = 0.5f * particles[i].mass * (x * x + y * y + z * z);
}
