#include <cuda_fp16.h>
#include <cstdint>
#include <cuda_bf16.h>
extern "C" __global__ void widths(char* g, int n, long long* q, float* pf, double* pd, __half2* ph, unsigned long long* pu) {
  __shared__ __align__(16) char s[4096];
  int t = threadIdx.x;
  volatile char* vg=g;
  ((uint8_t*)g)[4096+t] = ((volatile uint8_t*)g)[t];
  ((int8_t*)g)[8192+t*4] = ((volatile int8_t*)g)[t] + 1;
  ((int*)g)[9000+t] = ((volatile signed char*)g)[t];
  ((uint16_t*)g)[10000+t] = ((volatile uint16_t*)g)[t];
  ((int*)g)[11000+t] = ((volatile int16_t*)g)[t];
  ((int*)g)[12000+t] = ((volatile int*)g)[t];
  ((uint64_t*)g)[13000+t] = ((volatile uint64_t*)g)[t];
  ((int4*)g)[14000+t] = ((int4*)g)[t+50000];
  // shared
  ((uint8_t*)s)[t] = g[1]; __syncthreads();
  ((uint16_t*)s)[t+64] = g[2]; __syncthreads();
  ((uint32_t*)s)[t+64] = g[3]; __syncthreads();
  ((uint64_t*)s)[t+64] = g[4]; __syncthreads();
  ((int4*)s)[t+64] = make_int4(n,t,n,t); __syncthreads();
  ((int*)g)[15000+t] = ((volatile uint8_t*)s)[t+n];
  ((int*)g)[16000+t] = ((volatile int8_t*)s)[t+n];
  ((int*)g)[17000+t] = ((volatile uint16_t*)s)[t+n];
  ((int*)g)[18000+t] = ((volatile int16_t*)s)[t+n];
  ((int*)g)[19000+t] = ((volatile int*)s)[t+n];
  ((uint64_t*)g)[20000+t] = ((volatile uint64_t*)s)[t+n];
  ((int4*)g)[21000+t] = ((int4*)s)[t+n];
  // atomics
  pf[t+100] = atomicAdd(pf+t, 1.0f); atomicAdd(pf+t+1, 2.f);
  pd[t+100] = atomicAdd(pd+t, 1.0); atomicAdd(pd+t+1, 2.);
  ph[t+100] = atomicAdd(ph+t, __half2(1,2)); atomicAdd(ph+t+1, __half2(1,2));
  pu[t+100] = atomicAdd(pu+t, 7); atomicAdd(pu+t+1, 7); pu[t+1000]=atomicCAS(pu+t+5, 1ull, 2ull); pu[t+1001]=atomicExch(pu+t+5, 1ull);
  q[t+101] = atomicMax(q+t, 7); atomicMin(q+t+1, 7);
  int* qi=(int*)q; qi[t+8000]=atomicCAS(qi+t,1,t); qi[t+8001]=atomicAnd(qi+t,1); atomicMax(qi+t+5,n); qi[t+8002]=atomicMin((unsigned*)qi+t+5,n);
  int* si=(int*)s; qi[t+9000]=atomicAdd(si+t,1); atomicAdd(si+t+1,2); qi[t+9001]=atomicCAS(si+t+n,2,3); qi[t+9002]=atomicExch(si+n,5);
  unsigned long long*su=(unsigned long long*)s; pu[t+9003]=atomicCAS(su+t+n,2,3); pu[t+9004]=atomicExch(su+n,5); pu[t+9005]=atomicAdd(su+n,5);
  atomicAdd((float*)s+t, 2.f); atomicAdd((double*)s+t, 2.);
  atomicMax(si+n,7);
  unsigned short* us=(unsigned short*)g; us[7]=atomicCAS(us+t,1,2);
}
extern "C" __global__ void generic(char* g, int n, char** pp) {
  __shared__ __align__(16) char s[4096]; __shared__ char* ps;
  char* p = n ? s+n : g; int t=threadIdx.x; s[t]=n;__syncthreads();
  *(volatile char*)(p+t)=2; *(volatile short*)(p+8*t)=2; *(volatile int*)(p+16*t)=3; *(volatile long long*)(p+32*t)=3; *(int4*)(p+64*t)=make_int4(n,n,n,t);
  g[t]=*(volatile char*)(p+t); g[t+100]=*(volatile short*)(p+t); g[t+200]=*(volatile int*)(p+t*4); *(long long*)(g+t*8+1024)=*(volatile long long*)(p+t*8);*(int4*)(g+t*16+8192)=*(int4*)(p+t*16);
  atomicAdd((int*)p,n); g[5]=atomicAdd((int*)p,n);  *(float*)(g+32)=atomicAdd((float*)p,n); g[6]=atomicCAS((int*)p,1,2);
  asm volatile("{.reg .b64 a; cvta.to.shared.u64 a,%0; cp.async.ca.shared.global [a],[%1],4; cp.async.ca.shared.global [a+16],[%1+16],8;cp.async.ca.shared.global [a+32],[%1+32],16;cp.async.cg.shared.global [a+48],[%1+48],16;}"::"l"(s+64*t),"l"(g+64*t));
  asm volatile("cp.async.wait_all;"); __syncthreads();
  int a,b,c,d; unsigned sa=(unsigned)__cvta_generic_to_shared(s+16*t);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0},[%1];":"=r"(a):"r"(sa)); ((int*)g)[400+t]=a;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1},[%2];":"=r"(a),"=r"(b):"r"(sa)); ((int*)g)[500+t]=a+b;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];":"=r"(a),"=r"(b),"=r"(c),"=r"(d):"r"(sa)); ((int*)g)[600+t]=a+b+c+d;
#if __CUDA_ARCH__>=900
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%1],{%0};"::"r"(a),"r"(sa));
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%2],{%0,%1};"::"r"(a),"r"(b),"r"(sa));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%4],{%0,%1,%2,%3};"::"r"(a),"r"(b),"r"(c),"r"(d),"r"(sa));
#endif
  volatile char loc[512];
  for(int i=0;i<n;i++) loc[(i*7)&511]=g[i];
  ((volatile short*)loc)[n]=n; ((volatile int*)loc)[n+1]=n; ((volatile long long*)loc)[n+2]=n; *(int4*)(loc+(n&15)*16)=make_int4(n,t,a,b);
  g[9]=loc[n]; g[10]=((volatile short*)loc)[n+3]; g[11]=((volatile int*)loc)[n+3]; g[12]=((volatile long long*)loc)[n+3]; int4 l4=*(int4*)(loc+((n+1)&15)*16); ((int4*)g)[7000]=l4;
}
