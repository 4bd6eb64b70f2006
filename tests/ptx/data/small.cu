// Source of the PTX files beside it (make.sh): one small kernel that touches many forms.
__constant__ float weights[3] = {1, 2, 3};
__device__ int table[2][3] = {{1, 2, 3}, {4, 5}};
__device__ const char* names[2] = {"abc", "de"};
struct Item { int a; double b; float c[3]; };
__device__ __noinline__ int twice(int x) { return x * 2; }
__device__ __noinline__ int third(int x) { return x / 3; }
__device__ int (*functions[2])(int) = {twice, third};
__device__ __noinline__ Item changed(Item item, int k) {
  item.a += k;
  item.c[k & 1] = 2;
  return item;
}
extern __shared__ float dynamic[];
extern "C" __global__ void small(float* out, const float* __restrict__ in, int n, Item item) {
  __shared__ float tile[8][9];
  int x = threadIdx.x;
  tile[x & 7][x % 9] = in[x];
  __syncthreads();
  switch (n) {
    case 0: out[0] = 1; break;
    case 1: out[1] = 7; break;
    case 2: out[5] = 3; break;
    case 3: out[8] = 33; break;
    case 4: out[7] = x; break;
    default: break;
  }
  dynamic[x] = tile[3][x & 7];
  if (x < n) out[x] = functions[x & 1](x) + changed(item, x).a + names[x & 1][0] + weights[x % 3] + table[x & 1][x % 3];
  atomicAdd(out, 1.0f);
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %0, 0; @p bra DONE; bar.sync 0; DONE: }" ::"r"(x));
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %0, 0; @p bra DONE; bar.sync 0; DONE: }" ::"r"(x));
}
