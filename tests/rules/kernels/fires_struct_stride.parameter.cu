// Loaded whole, without a member's name in the line: the parameter's type says that it is a struct.
// fullwarp: scale<<<16, 256>>>(f32[5*4096], f32[5*4096], 2.0)
struct Particle {
  float x, y, z, mass, charge;
};
__global__ void scale(const Particle* __restrict__ in, Particle* __restrict__ out, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Particle particle = in[i];
  particle.mass *= factor;
  out[i] = particle;
}
