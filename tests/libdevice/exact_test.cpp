// Integer, bit, conversion and special-value behaviour, by hand and by definitions bit by bit.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "call.h"

namespace fullwarp::libdevice {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr double kInfD = std::numeric_limits<double>::infinity();
constexpr double kNaND = std::numeric_limits<double>::quiet_NaN();
constexpr int32_t kMin = std::numeric_limits<int32_t>::min(), kMax = std::numeric_limits<int32_t>::max();
uint32_t bits(float f) { return std::bit_cast<uint32_t>(f); }

TEST(Table, HoldsLibdevice) {
  EXPECT_EQ(all().size(), 349u);  // functions that libdevice.10.bc of CUDA 13.0 defines under these names
  std::set<std::string_view> names;
  for (const Function& f : all()) EXPECT_TRUE(names.insert(f.name).second) << f.name;
  EXPECT_EQ(find("__nv_nothing"), nullptr);
  EXPECT_EQ(find("__nv_remquof")->parameters[2], Type::kOutI32);
  EXPECT_EQ(find("__nv_sincos")->result, Type::kNone);
  EXPECT_EQ(find("__nv_normf")->parameters[1], Type::kInF32);
}

TEST(Table, InactiveLanesStayUntouched) {
  Lanes<float> in{}, out{};
  out.fill(7.0f);
  void* args[] = {in.data()};
  find("__nv_cosf")->run(0x80000001u, out.data(), args);
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    EXPECT_EQ(out[lane], lane == 0 || lane == 31 ? 1.0f : 7.0f);
}

TEST(Integer, Edges) {
  EXPECT_EQ(call<int32_t>("__nv_abs", kMin), kMin);
  EXPECT_EQ(call<int32_t>("__nv_clz", 0), 32);
  EXPECT_EQ(call<int32_t>("__nv_clzll", int64_t{1}), 63);
  EXPECT_EQ(call<int32_t>("__nv_ffs", 0), 0);
  EXPECT_EQ(call<int32_t>("__nv_ffsll", std::numeric_limits<int64_t>::min()), 64);
  EXPECT_EQ(call<int32_t>("__nv_popcll", int64_t{-1}), 64);
  EXPECT_EQ(call<uint32_t>("__nv_brev", 0x00000001u), 0x80000000u);
  EXPECT_EQ(call<uint64_t>("__nv_brevll", uint64_t{0x8}), uint64_t{1} << 60);
  EXPECT_EQ(call<uint32_t>("__nv_byte_perm", 0x33221100u, 0x77665544u, 0x7610u), 0x77661100u);
  EXPECT_EQ(call<uint32_t>("__nv_byte_perm", 0x000000f0u, 0u, 0x1118u), 0x000000ffu);  // sign of byte 0
  EXPECT_EQ(call<int32_t>("__nv_hadd", kMin, kMin), kMin);
  EXPECT_EQ(call<int32_t>("__nv_rhadd", -2, -1), -1);
  EXPECT_EQ(call<uint32_t>("__nv_uhadd", 0xffffffffu, 0xffffffffu), 0xffffffffu);
  EXPECT_EQ(call<uint32_t>("__nv_sad", kMin, kMax, 1u), 0u);  // |min - max| = 2^32 - 1
  EXPECT_EQ(call<int32_t>("__nv_mul24", 0x00800000, 1),
            static_cast<int32_t>(0xff800000));  // bit 23 is the sign
  EXPECT_EQ(call<uint32_t>("__nv_umul24", 0xff000003u, 5u), 15u);
}

#ifdef __SIZEOF_INT128__
TEST(Integer, HighHalvesOfProducts) {
  __extension__ using Wide = __int128;
  __extension__ using UnsignedWide = unsigned __int128;
  std::mt19937_64 random{5};
  for (int i = 0; i < 5000; ++i) {
    const int64_t a = static_cast<int64_t>(random()), b = static_cast<int64_t>(random() >> (random() % 64));
    EXPECT_EQ(call<int64_t>("__nv_mul64hi", a, b), static_cast<int64_t>(Wide{a} * b >> 64));
    const uint64_t ua = random(), ub = random();
    EXPECT_EQ(call<uint64_t>("__nv_umul64hi", ua, ub), static_cast<uint64_t>(UnsignedWide{ua} * ub >> 64));
  }
  EXPECT_EQ(call<int32_t>("__nv_mulhi", kMin, kMin), 0x40000000);
  EXPECT_EQ(call<uint32_t>("__nv_umulhi", 0xffffffffu, 0xffffffffu), 0xfffffffeu);
}
#endif

TEST(Conversion, SaturatesAndMapsNaN) {
  EXPECT_EQ(call<int32_t>("__nv_float2int_rn", 2.5f), 2);
  EXPECT_EQ(call<int32_t>("__nv_float2int_rn", 3.5f), 4);
  EXPECT_EQ(call<int32_t>("__nv_float2int_ru", -0.5f), 0);
  EXPECT_EQ(call<int32_t>("__nv_float2int_rd", -0.5f), -1);
  EXPECT_EQ(call<int32_t>("__nv_float2int_rz", 1e20f), kMax);
  EXPECT_EQ(call<int32_t>("__nv_float2int_rz", -kInf), kMin);
  EXPECT_EQ(call<int32_t>("__nv_float2int_rz", kNaN), 0);
  EXPECT_EQ(call<uint32_t>("__nv_float2uint_rz", -3.0f), 0u);
  EXPECT_EQ(call<uint32_t>("__nv_float2uint_rz", 4294967040.0f), 4294967040u);
  EXPECT_EQ(call<uint32_t>("__nv_float2uint_rz", 4294967296.0f), 4294967295u);
  EXPECT_EQ(call<int64_t>("__nv_float2ll_rz", kNaN), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(call<int32_t>("__nv_double2int_rz", kNaND), kMin);
  EXPECT_EQ(call<uint32_t>("__nv_double2uint_rn", kNaND), 0x80000000u);
  EXPECT_EQ(call<uint64_t>("__nv_double2ull_rn", 0x1p63), uint64_t{1} << 63);
  EXPECT_EQ(call<int32_t>("__nv_double2int_rn", 2147483647.5), kMax);
  EXPECT_EQ(call<int64_t>("__nv_llroundf", -2.5f), -3);
  EXPECT_EQ(call<int64_t>("__nv_llrint", 2.5), 2);
}

TEST(Conversion, HalfGoesThereAndBack) {
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const float f = call<float>("__nv_half2float", h);
    if ((h & 0x7fff) > 0x7c00) {
      EXPECT_EQ(bits(f), 0x7fffffffu);
    } else {
      ASSERT_EQ(call<uint32_t>("__nv_float2half_rn", f), h);
    }
  }
  EXPECT_EQ(call<float>("__nv_half2float", 0x3555u), 0x1.554p-2f);
  EXPECT_EQ(call<float>("__nv_half2float", 0x0001u), 0x1p-24f);
}

TEST(Conversion, FloatToHalfTakesTheNearest) {
  std::mt19937 random{2};
  for (int i = 0; i < 20000; ++i) {
    const float f = std::ldexp(static_cast<float>(random() >> 8), static_cast<int>(random() % 45) - 52);
    const uint32_t h = call<uint32_t>("__nv_float2half_rn", f);
    // 65536 stands for the infinity's place in the row.
    const auto value = [](uint32_t x) { return x >= 0x7c00 ? 65536.0 : call<float>("__nv_half2float", x); };
    const double error = std::fabs(value(h) - f);
    const double below = h > 0 ? std::fabs(value(h - 1) - f) : 1e9;
    const double above = h < 0x7c00 ? std::fabs(value(h + 1) - f) : 1e9;
    EXPECT_LE(error, std::fmin(below, above)) << f;
    if (error == below || error == above) {
      EXPECT_EQ(h & 1, 0u) << f;
    }
  }
  EXPECT_EQ(call<uint32_t>("__nv_float2half_rn", 65520.0f), 0x7c00u);
  EXPECT_EQ(call<uint32_t>("__nv_float2half_rn", 0x1p-25f), 0u);  // a tie between 0 and the least denormal
  EXPECT_EQ(call<uint32_t>("__nv_float2half_rn", 0x1.8p-25f), 1u);
}

TEST(Special, NaNsAreCanonical) {
  const float payload = std::bit_cast<float>(0xffc12345u);
  for (const char* name :
       {"__nv_sinf", "__nv_expf", "__nv_floorf", "__nv_sqrtf", "__nv_erff", "__nv_fabsf"}) {
    EXPECT_EQ(bits(call<float>(name, payload)), 0x7fffffffu) << name;
  }
  EXPECT_EQ(bits(call<float>("__nv_sqrtf", -1.0f)), 0x7fffffffu);
  EXPECT_EQ(bits(call<float>("__nv_fadd_rn", kInf, -kInf)), 0x7fffffffu);
  EXPECT_EQ(bits(call<float>("__nv_copysignf", payload, 1.0f)), 0x7fc12345u);  // only bits move
}

TEST(Special, MinimumAndMaximum) {
  EXPECT_EQ(call<float>("__nv_fmaxf", kNaN, 2.0f), 2.0f);
  EXPECT_EQ(call<float>("__nv_fminf", 2.0f, kNaN), 2.0f);
  EXPECT_EQ(bits(call<float>("__nv_fmaxf", -0.0f, 0.0f)), 0u);
  EXPECT_EQ(bits(call<float>("__nv_fminf", 0.0f, -0.0f)), 0x80000000u);
  EXPECT_EQ(bits(call<float>("__nv_fmaxf", kNaN, kNaN)), 0x7fffffffu);
  EXPECT_EQ(bits(call<float>("__nv_saturatef", kNaN)), 0u);
  EXPECT_EQ(bits(call<float>("__nv_saturatef", -0.0f)), 0u);
  EXPECT_EQ(call<float>("__nv_fdimf", 5.0f, 3.0f), 2.0f);
}

TEST(Special, PartsOfNumbers) {
  int32_t e = 0;
  EXPECT_EQ(call_out<float>("__nv_frexpf", &e, 0x1.8p-140f), 0.75f);
  EXPECT_EQ(e, -139);
  EXPECT_EQ(call_out<double>("__nv_frexp", &e, kInfD), kInfD);
  EXPECT_EQ(e, 0);
  float whole = 0;
  EXPECT_EQ(bits(call_out<float>("__nv_modff", &whole, -kInf)), 0x80000000u);
  EXPECT_EQ(whole, -kInf);
  EXPECT_EQ(call_out<float>("__nv_modff", &whole, -2.75f), -0.75f);
  EXPECT_EQ(whole, -2.0f);
  int32_t q = 0;
  EXPECT_EQ(call_out<float>("__nv_remquof", &q, 7.0f, 2.0f), -1.0f);  // 7 = 4 x 2 - 1: 3.5 rounds to even
  EXPECT_EQ(q & 7, 4);
  EXPECT_EQ(call<int32_t>("__nv_ilogbf", 0.0f), kMin);
  EXPECT_EQ(call<int32_t>("__nv_ilogb", -kInfD), kMax);
  EXPECT_EQ(call<int32_t>("__nv_ilogbf", 0x1p-149f), -149);
  EXPECT_EQ(call<float>("__nv_ldexpf", 1.0f, -150), 0.0f);
  EXPECT_EQ(call<float>("__nv_scalbnf", 0x1p-149f, 270), 0x1p121f);
}

TEST(Special, ExactPointsOfElementaryFunctions) {
  EXPECT_EQ(call<double>("__nv_sinpi", 1e15), 0.0);
  EXPECT_EQ(call<double>("__nv_sinpi", 0.5), 1.0);
  EXPECT_EQ(call<double>("__nv_sinpi", -1.5), 1.0);
  EXPECT_EQ(call<double>("__nv_cospi", 1.0), -1.0);
  EXPECT_EQ(call<double>("__nv_cospi", 0.5), 0.0);
  EXPECT_EQ(call<double>("__nv_cospi", 1e300), 1.0);
  EXPECT_TRUE(std::isnan(call<double>("__nv_sinpi", kInfD)));
  EXPECT_EQ(call<float>("__nv_rsqrtf", 0.0f), kInf);
  EXPECT_EQ(call<float>("__nv_exp10f", 3.0f), 1000.0f);
  EXPECT_EQ(call<float>("__nv_erfinvf", 1.0f), kInf);
  EXPECT_TRUE(std::isnan(call<float>("__nv_erfinvf", 1.5f)));
  EXPECT_EQ(call<double>("__nv_erfcinv", 0.0), kInfD);
  EXPECT_EQ(call<double>("__nv_normcdfinv", 0.5), 0.0);
  EXPECT_EQ(call<double>("__nv_normcdfinv", 1.0), kInfD);
  EXPECT_EQ(call<double>("__nv_erfcx", -kInfD), kInfD);
  EXPECT_EQ(call<double>("__nv_cyl_bessel_i0", 0.0), 1.0);
  EXPECT_EQ(call<double>("__nv_cyl_bessel_i1", -1000.0), -kInfD);
  EXPECT_EQ(call<double>("__nv_hypot", kInfD, kNaND), kInfD);
  EXPECT_EQ(call<double>("__nv_norm4d", 1.0, 1.0, 1.0, 1.0), 2.0);
  EXPECT_EQ(call<double>("__nv_norm3d", 3e300, 4e300, 0.0), 5e300);
  EXPECT_EQ(call<float>("__nv_powif", -2.0f, 3), -8.0f);
  EXPECT_EQ(call<float>("__nv_fast_fdividef", 1.0f, 0x1.8p126f), 0.0f);
  EXPECT_TRUE(std::isnan(call<float>("__nv_fast_powf", -2.0f, 2.0f)));
}

TEST(Special, OrdersThatAreLargeOrNegativeEnd) {
  EXPECT_TRUE(std::isnan(call<double>("__nv_jn", -1, 2.0)));
  EXPECT_EQ(call<double>("__nv_jn", kMax, 2.0), 0.0);
  EXPECT_EQ(call<double>("__nv_yn", kMax, 2.0), -kInfD);
  EXPECT_NEAR(call<double>("__nv_jn", 2, 3.0), 0.48609126058589107691, 1e-15);  // Abramowitz and Stegun 9.1
}

TEST(Special, NormsReadAsManyValuesAsTheySay) {
  const float values[] = {3, 4, 12};
  Lanes<int32_t> counts{};
  Lanes<const float*> pointers{};
  Lanes<float> result{};
  counts[0] = 2, counts[1] = 3, counts[2] = -5;
  pointers.fill(values);
  void* args[] = {counts.data(), pointers.data()};
  find("__nv_normf")->run(7, result.data(), args);
  EXPECT_EQ(result[0], 5.0f);
  EXPECT_EQ(result[1], 13.0f);
  EXPECT_EQ(result[2], 0.0f);
}

}  // namespace
}  // namespace fullwarp::libdevice
