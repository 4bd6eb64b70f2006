// Video instructions: modifiers and selectors reach semantics/video.h; values by hand.
#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

using U32 = std::vector<uint32_t>;

struct Case {
  const char* code;
  uint32_t a, b, c, want;
};

const Case kCases[] = {
    {"vadd.s32.s32.u32 %d, %a.b3, %b.h1;", 0xfe000000, 0xfffe0000, 0, 0xfffc},  // -2 + 65534
    {"vsub.s32.s32.u32 %d, %a.b3, %b.h1;", 0xfe000000, 0x00050000, 0, 0xfffffff9},
    {"vadd.s32.s32.s32.sat %d.b1, %a, %b, %c;", 100, 100, 0xaabbccdd, 0xaabb7fdd},
    {"vadd.u32.u32.u32.add %d, %a, %b, %c;", 1, 2, 0xfffffffe, 1},
    {"vadd.s32.u32.u32.min %d, %a, %b, %c;", 1, 2, 0xffffffff, 0xffffffff},
    {"vabsdiff.u32.u32.u32 %d, %a.b0, %b.b1;", 0x12, 0x3400, 0, 0x22},
    {"vmin.s32.s32.u32 %d, %a, %b;", 0xffffffff, 5, 0, 0xffffffff},
    {"vmax.s32.s32.u32 %d, %a, %b;", 0xffffffff, 0xfffffff0, 0, 0xfffffff0},
    {"vshl.u32.u32.u32.clamp %d, %a, %b;", 1, 33, 0, 0},
    {"vshl.u32.u32.u32.wrap %d, %a, %b;", 1, 33, 0, 2},
    {"vshr.s32.s32.u32.clamp %d, %a, %b;", 0x80000000, 99, 0, 0xffffffff},
    {"vset.s32.s32.lt.add %d, %a, %b, %c;", 0xffffffff, 0, 41, 42},
    {"vmad.s32.s32.s32.shr7 %d, %a, %b, %c;", 100, 64, 64, 50},  // (6400 + 64) / 128 = 50.5
    {"vmad.s32.s32.s32 %d, %a, %b, -%c;", 3, 5, 7, 8},
    {"vadd4.u32.u32.u32 %d, %a.b3210, %b.b3210, %c;", 0x01020304, 0x01010101, 0, 0x02030405},
    {"vadd4.u32.u32.u32 %d, %a, %b, %c;", 0x01ff7f80, 0x01010180, 0, 0x02008000},
    {"vadd4.u32.u32.u32.sat %d, %a, %b, %c;", 0x01ff7f80, 0x01010180, 0, 0x02ff80ff},
    {"vadd4.u32.u32.u32.add %d, %a, %b, %c;", 0x01020304, 0x01010101, 100, 114},
    {"vset4.u32.u32.gt %d, %a, %b, %c;", 0x05000300, 0x04000400, 0, 0x01000000},
    {"vabsdiff2.s32.s32.s32 %d, %a, %b, %c;", 0xffff0005, 0x00010002, 0, 0x00020003},
    {"vavrg2.u32.u32.u32 %d, %a, %b, %c;", 0x00030004, 0x00040004, 0, 0x00040004},
};

TEST(OpsVideo, Table) {
  for (const Case& c : kCases)
    EXPECT_EQ(apply<uint32_t>(c.code, U32{c.a}, U32{c.b}, U32{c.c}), U32{c.want}) << c.code;
}

}  // namespace
}  // namespace fullwarp::exec::test
