// The device side of cuRAND: XORWOW, the default, and Philox4x32-10, with the values of NVIDIA's library
// (tests/cudainc/random.cu holds them). Written from the generators' papers: Marsaglia, "Xorshift RNGs" (2003), and
// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
//
// A jump of n steps in XORWOW is a multiplication by x^n modulo the characteristic polynomial of its five words
// (160 bits), whose lower words are fullwarp/xorwow_jumps.h: x^(2^j) for each bit j of the offset and, as a
// subsequence has 2^67 values, of the subsequence's number.
#pragma once

#include "cuda_runtime.h"
#include "curand.h"
#include "fullwarp/xorwow_jumps.h"

#define FW_D static __device__ __forceinline__

struct curandStateXORWOW {
  unsigned d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned STATE;
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

// ---- XORWOW ----

namespace fw_random {
FW_D void xorshift(unsigned (&v)[5]) {
  const unsigned t = v[0] ^ (v[0] >> 2);
  v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
  v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
}
static __device__ void jump(unsigned (&v)[5], unsigned long long times, unsigned first_power) {
  for (unsigned j = first_power; times != 0; ++j, times >>= 1) {
    if (!(times & 1)) continue;
    unsigned sum[5] = {0, 0, 0, 0, 0};
    for (unsigned word = 0; word < 5; ++word) {
      for (unsigned bits = xorwow_jumps[j][word], left = 32; left != 0; --left, bits >>= 1) {
        if (bits & 1)
          for (unsigned i = 0; i < 5; ++i) sum[i] ^= v[i];
        xorshift(v);
      }
    }
    for (unsigned i = 0; i < 5; ++i) v[i] = sum[i];
  }
}
}  // namespace fw_random

FW_D void skipahead(unsigned long long n, curandStateXORWOW_t* s) {
  fw_random::jump(s->v, n, 0);
  s->d += 362437u * (unsigned)n;
}
FW_D void skipahead_sequence(unsigned long long n, curandStateXORWOW_t* s) { fw_random::jump(s->v, n, 67); }
FW_D void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                      curandStateXORWOW_t* s) {
  const unsigned low = 1099087573u * ((unsigned)seed ^ 0xaad26b49u);
  const unsigned high = 2591861531u * ((unsigned)(seed >> 32) ^ 0xf7dcefddu);
  s->d = 6615241u + high + low;
  s->v[0] = 123456789u + low;
  s->v[1] = 362436069u ^ low;
  s->v[2] = 521288629u + high;
  s->v[3] = 88675123u ^ high;
  s->v[4] = 5783321u + low;
  skipahead_sequence(subsequence, s);
  skipahead(offset, s);
  s->boxmuller_flag = s->boxmuller_flag_double = 0;
  s->boxmuller_extra = 0;
  s->boxmuller_extra_double = 0;
}
FW_D unsigned curand(curandStateXORWOW_t* s) {
  fw_random::xorshift(s->v);
  s->d += 362437u;
  return s->v[4] + s->d;
}

// ---- Philox ----

namespace fw_random {
FW_D uint4 philox_round(uint4 c, uint2 k) {
  const unsigned high0 = __umulhi(0xd2511f53u, c.x), high1 = __umulhi(0xcd9e8d57u, c.z);
  return make_uint4(high1 ^ c.y ^ k.x, 0xcd9e8d57u * c.z, high0 ^ c.w ^ k.y, 0xd2511f53u * c.x);
}
FW_D uint4 philox(uint4 c, uint2 k) {
  for (int round = 0; round < 9; ++round) {
    c = philox_round(c, k);
    k.x += 0x9e3779b9u;
    k.y += 0xbb67ae85u;
  }
  return philox_round(c, k);
}
FW_D void advance(curandStatePhilox4_32_10_t* s, unsigned long long blocks) {
  const unsigned low = (unsigned)blocks;
  unsigned high = (unsigned)(blocks >> 32);
  s->ctr.x += low;
  if (s->ctr.x < low) ++high;
  s->ctr.y += high;
  if (high <= s->ctr.y) return;
  if (++s->ctr.z == 0) ++s->ctr.w;
}
FW_D unsigned word_of(uint4 v, unsigned i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }
}  // namespace fw_random

FW_D void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* s) {
  const unsigned low = (unsigned)n;
  unsigned high = (unsigned)(n >> 32);
  s->ctr.z += low;
  if (s->ctr.z < low) ++high;
  s->ctr.w += high;
  s->output = fw_random::philox(s->ctr, s->key);
}
FW_D void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* s) {
  s->STATE += (unsigned)n & 3;
  n /= 4;
  if (s->STATE > 3) {
    ++n;
    s->STATE -= 4;
  }
  fw_random::advance(s, n);
  s->output = fw_random::philox(s->ctr, s->key);
}
FW_D void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                      curandStatePhilox4_32_10_t* s) {
  s->ctr = make_uint4(0, 0, 0, 0);
  s->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
  s->STATE = 0;
  s->boxmuller_flag = s->boxmuller_flag_double = 0;
  s->boxmuller_extra = 0;
  s->boxmuller_extra_double = 0;
  skipahead_sequence(subsequence, s);
  skipahead(offset, s);
}
FW_D unsigned curand(curandStatePhilox4_32_10_t* s) {
  const unsigned r = fw_random::word_of(s->output, s->STATE++);
  if (s->STATE == 4) {
    fw_random::advance(s, 1);
    s->output = fw_random::philox(s->ctr, s->key);
    s->STATE = 0;
  }
  return r;
}
FW_D uint4 curand4(curandStatePhilox4_32_10_t* s) {
  const uint4 before = s->output;
  fw_random::advance(s, 1);
  const uint4 after = s->output = fw_random::philox(s->ctr, s->key);
  switch (s->STATE) {
    case 1: return make_uint4(before.y, before.z, before.w, after.x);
    case 2: return make_uint4(before.z, before.w, after.x, after.y);
    case 3: return make_uint4(before.w, after.x, after.y, after.z);
    default: return before;
  }
}

// ---- Distributions ----

namespace fw_random {
constexpr float kTo32 = 2.3283064e-10f;              // 2^-32
constexpr double kTo32Double = 2.3283064365386963e-10;
constexpr double kTo53 = 1.1102230246251565e-16;     // 2^-53
FW_D float uniform(unsigned x) { return x * kTo32 + (kTo32 / 2.0f); }
FW_D unsigned long long bits53(unsigned x, unsigned y) { return x ^ ((unsigned long long)y << (53 - 32)); }
FW_D double uniform(unsigned x, unsigned y) { return bits53(x, y) * kTo53 + (kTo53 / 2.0); }
FW_D float2 normal(unsigned x, unsigned y) {
  constexpr float kAngle = kTo32 * 6.2831855f;
  const float u = x * kTo32 + (kTo32 / 2), v = y * kAngle + (kAngle / 2);
  const float radius = sqrtf(-2.0f * logf(u));
  float2 r;
  __sincosf(v, &r.x, &r.y);
  return make_float2(r.x * radius, r.y * radius);
}
FW_D double2 normal(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
  const double u = bits53(x0, x1) * kTo53 + (kTo53 / 2.0);
  const double v = bits53(y0, y1) * (kTo53 * 2.0) + kTo53;
  const double radius = sqrt(-2.0 * log(u));
  double2 r;
  sincospi(v, &r.x, &r.y);
  return make_double2(r.x * radius, r.y * radius);
}
}  // namespace fw_random

// One value of a pair now, the other by the next call of the same kind; log-normal values do not share the
// normal ones' pair.
#define FW_PAIR(STATE, T, PAIR, NAME, SUFFIX, KIND, PARAMETERS, VALUE)                                         \
  FW_D T NAME##SUFFIX(STATE* s PARAMETERS) {                                                                   \
    if (s->boxmuller_flag##SUFFIX == KIND) {                                                                   \
      s->boxmuller_flag##SUFFIX = 0;                                                                           \
      return s->boxmuller_extra##SUFFIX;                                                                       \
    }                                                                                                          \
    const PAIR v = curand_normal2##SUFFIX(s);                                                                  \
    s->boxmuller_extra##SUFFIX = VALUE(v.y);                                                                   \
    s->boxmuller_flag##SUFFIX = KIND;                                                                          \
    return VALUE(v.x);                                                                                         \
  }
#define FW_AND ,
#define FW_NORMAL(X) (X)
#define FW_LOG_NORMAL(X) exp(mean + deviation * (X))
#define FW_DISTRIBUTIONS(STATE)                                                                                \
  FW_D float curand_uniform(STATE* s) { return fw_random::uniform(curand(s)); }                                \
  FW_D float2 curand_normal2(STATE* s) {                                                                       \
    const unsigned x = curand(s);                                                                              \
    return fw_random::normal(x, curand(s));                                                                    \
  }                                                                                                            \
  FW_D double2 curand_normal2_double(STATE* s) {                                                               \
    const unsigned x0 = curand(s), x1 = curand(s), y0 = curand(s);                                             \
    return fw_random::normal(x0, x1, y0, curand(s));                                                           \
  } \
  FW_PAIR(STATE, float, float2, curand_normal, , 1, , FW_NORMAL)                                               \
  FW_PAIR(STATE, double, double2, curand_normal, _double, 1, , FW_NORMAL)                                      \
  FW_PAIR(STATE, float, float2, curand_log_normal, , 2, FW_AND float mean FW_AND float deviation, FW_LOG_NORMAL) \
  FW_PAIR(STATE, double, double2, curand_log_normal, _double, 2, FW_AND double mean FW_AND double deviation,   \
          FW_LOG_NORMAL)                                                                                       \
  FW_D float2 curand_log_normal2(STATE* s, float mean, float deviation) {                                      \
    const float2 v = curand_normal2(s);                                                                        \
    return make_float2(expf(mean + deviation * v.x), expf(mean + deviation * v.y));                            \
  }
FW_DISTRIBUTIONS(curandStateXORWOW_t)
FW_DISTRIBUTIONS(curandStatePhilox4_32_10_t)
#undef FW_DISTRIBUTIONS
#undef FW_PAIR
#undef FW_AND
#undef FW_NORMAL
#undef FW_LOG_NORMAL

FW_D double curand_uniform_double(curandStateXORWOW_t* s) {
  const unsigned x = curand(s);
  return fw_random::uniform(x, curand(s));
}
FW_D double curand_uniform_double(curandStatePhilox4_32_10_t* s) {  // 32 random bits only
  return curand(s) * fw_random::kTo32Double + fw_random::kTo32Double;
}
FW_D float4 curand_uniform4(curandStatePhilox4_32_10_t* s) {
  const uint4 x = curand4(s);
  return make_float4(fw_random::uniform(x.x), fw_random::uniform(x.y), fw_random::uniform(x.z),
                     fw_random::uniform(x.w));
}
FW_D double2 curand_uniform2_double(curandStatePhilox4_32_10_t* s) {
  const uint4 x = curand4(s);
  return make_double2(fw_random::uniform(x.x, x.y), fw_random::uniform(x.z, x.w));
}
FW_D float4 curand_normal4(curandStatePhilox4_32_10_t* s) {
  const uint4 x = curand4(s);
  const float2 a = fw_random::normal(x.x, x.y), b = fw_random::normal(x.z, x.w);
  return make_float4(a.x, a.y, b.x, b.y);
}
FW_D float4 curand_log_normal4(curandStatePhilox4_32_10_t* s, float mean, float deviation) {
  const float4 v = curand_normal4(s);
  return make_float4(expf(mean + deviation * v.x), expf(mean + deviation * v.y), expf(mean + deviation * v.z),
                     expf(mean + deviation * v.w));
}

#undef FW_D
