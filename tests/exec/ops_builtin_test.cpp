// Functions that the engine supplies: printf, assert, libdevice.
#include <cmath>

#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

std::string bytes_of(const std::string& name, const std::string& text) {
  std::string out = ".global .align 1 .b8 " + name + "[" + std::to_string(text.size() + 1) + "] = {";
  for (char c : text) out += std::to_string(static_cast<unsigned char>(c)) + ", ";
  return out + "0};\n";
}

const char* const kPrintf =
    ".extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);\n";

// vprintf with the arguments that `stores` put at [%stack].
std::string call_printf(const std::string& stores) {
  return ".local .align 8 .b8 stack_[64]; .reg .b64 %stack, %format; .reg .b32 %r, %t;\n"
         "mov.u32 %t, %tid.x; mov.u64 %stack, stack_;\n" +
         stores +
         "cvta.local.u64 %stack, %stack; mov.u64 %format, text; cvta.global.u64 %format, %format;\n"
         "{ .param .b64 p0; .param .b64 p1; .param .b32 ret0; st.param.b64 [p0], %format; st.param.b64 [p1], "
         "%stack;\n"
         "call.uni (ret0), vprintf, (p0, p1); ld.param.b32 %r, [ret0]; }\n";
}

TEST(Builtins, PrintfConversions) {
  struct Case {
    const char* format;
    const char* stores;
    const char* want;
  };
  const Case cases[] = {
      {"plain %% text\n", "", "plain % text\n"},
      {"%d %i %u|", "st.local.u32 [%stack], -5; st.local.u32 [%stack+4], 7; st.local.u32 [%stack+8], -1;",
       "-5 7 4294967295|"},
      {"%5d|%-5d|%05d|%+d",
       "st.local.u32 [%stack], 42; st.local.u32 [%stack+4], 42; st.local.u32 [%stack+8], 42; st.local.u32 "
       "[%stack+12], 42;",
       "   42|42   |00042|+42"},
      {"%x %X %#x %o",
       "st.local.u32 [%stack], 255; st.local.u32 [%stack+4], 255; st.local.u32 [%stack+8], 255; st.local.u32 "
       "[%stack+12], 8;",
       "ff FF 0xff 10"},
      {"%c%c", "st.local.u32 [%stack], 104; st.local.u32 [%stack+4], 105;", "hi"},
      {"%d %lld", "st.local.u32 [%stack], 1; st.local.u64 [%stack+8], -1234567890123;", "1 -1234567890123"},
      {"%llu %lx", "st.local.u64 [%stack], -1; st.local.u64 [%stack+8], 4886718345;",
       "18446744073709551615 123456789"},
      {"%f %.2f %e %g",
       "st.local.f64 [%stack], 0d3FF8000000000000; st.local.f64 [%stack+8], 0d3FF8000000000000; "
       "st.local.f64 [%stack+16], 0d3FF8000000000000; st.local.f64 [%stack+24], 0d3FF8000000000000;",
       "1.500000 1.50 1.500000e+00 1.5"},
      {"%d %f", "st.local.u32 [%stack], 3; st.local.f64 [%stack+8], 0dBFE0000000000000;", "3 -0.500000"},
      {"%s!", "mov.u64 %format, word; cvta.global.u64 %format, %format; st.local.u64 [%stack], %format;",
       "warp!"},
      {"%.2s|%6s",
       "mov.u64 %format, word; cvta.global.u64 %format, %format; st.local.u64 [%stack], %format; "
       "st.local.u64 [%stack+8], %format;",
       "wa|  warp"},
      {"%*d", "st.local.u32 [%stack], 4; st.local.u32 [%stack+4], 9;", "   9"},
      {"%p", "st.local.u64 [%stack], 4096;", "0x1000"},
      {"%hhd", "st.local.u32 [%stack], 12;", "12"},
      {"100%", "", "100%"},
  };
  for (const Case& c : cases) {
    Kernel k(call_printf(c.stores) + "ret;",
             std::string(kPrintf) + bytes_of("text", c.format) + bytes_of("word", "warp"));
    k.block({1, 1, 1});
    EXPECT_EQ(k.run_clean().printed, c.want) << c.format;
  }
}

TEST(Builtins, PrintfOfThreadsAndBlocksComesInOrder) {
  Kernel k(
      call_printf("mov.u32 %r, %ctaid.x; st.local.u32 [%stack], %r; st.local.u32 [%stack+4], %t;") + "ret;",
      std::string(kPrintf) + bytes_of("text", "%d.%d "));
  k.block({2, 1, 1}).grid({3, 1, 1});
  EXPECT_EQ(k.run_clean().printed, "0.0 0.1 1.0 1.1 2.0 2.1 ");
}

TEST(Builtins, LibdeviceFunctions) {
  const char* const kDeclarations =
      ".extern .func (.param .b32 r) __nv_sinf (.param .b32 x);\n.extern .func (.param .b64 r) __nv_pow "
      "(.param .b64 x, .param .b64 y);\n"
      ".extern .func (.param .b32 r) __nv_popc (.param .b32 x);\n"
      ".extern .func (.param .b32 r) __nv_remquof (.param .b32 x, .param .b32 y, .param .b64 q);\n";
  Kernel k(
      ".reg .b64 %out, %at, %stack; .reg .f32 %f; .reg .f64 %d; .reg .b32 %t, %r; .reg .pred %p; .local "
      ".align 4 .b8 quotient[4];\n"
      "ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %at, %t, 32, %out; cvt.rn.f32.u32 %f, %t;\n"
      "{ .param .b32 x; .param .b32 r; st.param.f32 [x], %f; call.uni (r), __nv_sinf, (x); ld.param.f32 %f, "
      "[r]; }\nst.global.f32 [%at], %f;\n"
      "{ .param .b32 x; .param .b32 r; st.param.b32 [x], %t; call.uni (r), __nv_popc, (x); ld.param.b32 %r, "
      "[r]; }\nst.global.u32 [%at+4], %r;\n"
      "cvt.rn.f64.u32 %d, %t;\n"
      "{ .param .b64 x; .param .b64 y; .param .b64 r; st.param.f64 [x], %d; st.param.f64 [y], "
      "0d4000000000000000;\n"
      "call.uni (r), __nv_pow, (x, y); ld.param.f64 %d, [r]; }\nst.global.f64 [%at+8], %d;\n"
      "setp.lt.u32 %p, %t, 16; @%p bra $end;\n"
      "cvt.rn.f32.u32 %f, %t; mov.u64 %stack, quotient; cvta.local.u64 %stack, %stack;\n"
      "{ .param .b32 x; .param .b32 y; .param .b64 q; .param .b32 r; st.param.f32 [x], %f; st.param.f32 [y], "
      "0f40400000; st.param.b64 [q], %stack;\n"
      "call.uni (r), __nv_remquof, (x, y, q); ld.param.f32 %f, [r]; }\nst.global.f32 [%at+16], %f; "
      "ld.local.u32 %r, [quotient]; st.global.u32 [%at+20], %r;\n"
      "$end: ret;",
      kDeclarations);
  k.buffer("out", std::vector<uint32_t>(32 * 8));
  k.run_clean();
  const std::vector<uint32_t> out = k.values<uint32_t>("out");
  for (uint32_t t = 0; t < 32; ++t) {
    float sine, remainder;
    double power;
    std::memcpy(&sine, &out[8 * t], 4);
    std::memcpy(&power, &out[8 * t + 2], 8);
    std::memcpy(&remainder, &out[8 * t + 4], 4);
    EXPECT_FLOAT_EQ(sine, std::sin(static_cast<float>(t)));
    EXPECT_EQ(out[8 * t + 1], static_cast<uint32_t>(std::popcount(t)));
    EXPECT_EQ(power, static_cast<double>(t) * t);
    int quotient = 0;
    const float want = t < 16 ? 0.0f : std::remquo(static_cast<float>(t), 3.0f, &quotient);
    EXPECT_EQ(remainder, want) << t;
    if (t >= 16) {
      EXPECT_EQ(out[8 * t + 5] & 7, static_cast<uint32_t>(quotient) & 7) << t;
    }
  }
}

TEST(Builtins, WhatIsNotThereIsNamed) {
  Kernel k(
      "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 16; call.uni (r), cudaLaunchDeviceV2, (n); }\nret;",
      ".extern .func (.param .b64 r) cudaLaunchDeviceV2 (.param .b64 n);\n");
  k.run();
  EXPECT_NE(k.error.find("cudaLaunchDeviceV2"), std::string::npos) << k.error;
}

}  // namespace
}  // namespace fullwarp::exec::test
