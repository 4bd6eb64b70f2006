// The video instructions: values worked out by hand, and loops over parts for the whole range of operands.
#include "exec/semantics/video.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "values.h"

namespace fullwarp::exec::sem::test {
namespace {

TEST(Video, PicksPartsAndExtendsThem) {
  Video v{.op = VideoOp::add,
          .d_signed = true,
          .a_signed = true,
          .b_signed = false,
          .a = Part::b3,
          .b = Part::h1};
  EXPECT_EQ(video(v, 0xfe000000u, 0xfffe0000u, 0), 0xfffcu);  // -2 + 65534
  v.op = VideoOp::sub;
  EXPECT_EQ(video(v, 0xfe000000u, 0x00050000u, 0), static_cast<uint32_t>(-7));
  v = {.op = VideoOp::absdiff, .a = Part::b0, .b = Part::b1};
  EXPECT_EQ(video(v, 0x12u, 0x3400u, 0), 0x22u);
  v = {.op = VideoOp::min, .a_signed = true, .b_signed = false};
  EXPECT_EQ(video(v, 0xffffffffu, 5, 0), 0xffffffffu) << "-1 is less than 5";
  v.op = VideoOp::max;
  EXPECT_EQ(video(v, 0xffffffffu, 0xfffffff0u, 0), 0xfffffff0u) << "unsigned b beats -1";
}

TEST(Video, SaturatesToTheDestination) {
  Video v{.op = VideoOp::add, .d_signed = true, .sat = true};
  EXPECT_EQ(video(v, 0xffffffffu, 0xffffffffu, 0), 0x7fffffffu);
  v.d_signed = false;
  EXPECT_EQ(video(v, 0xffffffffu, 1, 0), 0xffffffffu);
  v = {.op = VideoOp::sub, .sat = true};
  EXPECT_EQ(video(v, 1, 2, 0), 0u);
  v = {.op = VideoOp::add, .d_signed = true, .sat = true, .d = Part::b1};
  EXPECT_EQ(video(v, 100, 100, 0xaabbccddu), 0xaabb7fddu);
}

TEST(Video, SecondOperationAndMerge) {
  Video v{.op = VideoOp::add, .second = SecondOp::add};
  EXPECT_EQ(video(v, 1, 2, 0xfffffffeu), 1u);
  v.second = SecondOp::min;
  EXPECT_EQ(video(v, 1, 2, 0xffffffffu), 3u);
  v.d_signed = true;
  EXPECT_EQ(video(v, 1, 2, 0xffffffffu), 0xffffffffu) << "c is -1";
  v.second = SecondOp::max;
  EXPECT_EQ(video(v, 1, 2, 0xffffffffu), 3u);
  v = {.op = VideoOp::add, .d = Part::h1};
  EXPECT_EQ(video(v, 0xffff, 2, 0x11112222u), 0x00012222u);
  v = {.op = VideoOp::set, .cmp = Cmp::lt, .a_signed = true, .b_signed = true, .second = SecondOp::add};
  EXPECT_EQ(video(v, 0xffffffffu, 0, 41), 42u);
}

TEST(Video, ShiftsClampOrWrapTheirCount) {
  Video v{.op = VideoOp::shl};
  EXPECT_EQ(video(v, 1, 31, 0), 0x80000000u);
  EXPECT_EQ(video(v, 1, 33, 0), 0u);
  v.wrap = true;
  EXPECT_EQ(video(v, 1, 33, 0), 2u);
  v = {.op = VideoOp::shr, .a_signed = true};
  EXPECT_EQ(video(v, 0x80000000u, 99, 0), 0xffffffffu);
  v = {.op = VideoOp::shl, .sat = true};
  EXPECT_EQ(video(v, 3, 31, 0), 0xffffffffu);
}

TEST(Video, MadScalesNegatesAndSaturates) {
  VideoMad v;
  EXPECT_EQ(video_mad(v, 3, 5, 7), 22u);
  v.negate_product = true;
  EXPECT_EQ(video_mad(v, 3, 5, 7), static_cast<uint32_t>(-8));
  v = {.negate_c = true};
  EXPECT_EQ(video_mad(v, 3, 5, 7), 8u);
  v = {.plus_one = true, .scale = 7};
  EXPECT_EQ(video_mad(v, 100, 64, 63), 50u);  // (6400 + 63 + 1) / 128 = 50.5
  v = {.a_signed = true, .b_signed = true, .sat = true};
  EXPECT_EQ(video_mad(v, 0x7fffffffu, 0x7fffffffu, 0), 0x7fffffffu);
  EXPECT_EQ(video_mad(v, 0x80000000u, 0x7fffffffu, 0), 0x80000000u);
  v = {.a_signed = true, .b_signed = true, .a = Part::h0, .b = Part::b2};
  EXPECT_EQ(video_mad(v, 0x8000u, 0x00ff0000u, 1), 32769u);  // -32768 * -1 + 1
}

TEST(VideoSimd, FourBytesOverRandomOperands) {
  Random random(21);
  for (int round = 0; round < 5000; ++round) {
    const auto a = random.integer<uint32_t>(), b = random.integer<uint32_t>(), c = random.integer<uint32_t>();
    uint32_t sum = 0, average = 0, clamped = 0, differences = c, equal = 0;
    for (int i = 0; i < 4; ++i) {
      const int ua = a >> 8 * i & 255, ub = b >> 8 * i & 255;
      const int sa = ua > 127 ? ua - 256 : ua, sb = ub > 127 ? ub - 256 : ub;
      sum |= static_cast<uint32_t>((ua + ub) & 255) << 8 * i;
      average |= static_cast<uint32_t>((ua + ub + 1) / 2) << 8 * i;
      clamped |= static_cast<uint32_t>(std::min(127, std::max(-128, sa - sb)) & 255) << 8 * i;
      differences += static_cast<uint32_t>(std::abs(ua - ub));
      equal |= static_cast<uint32_t>(ua == ub) << 8 * i;
    }
    ASSERT_EQ(video_simd({.op = VideoOp::add}, a, b, c), sum);
    ASSERT_EQ(video_simd({.op = VideoOp::avrg}, a, b, c), average);
    ASSERT_EQ(
        video_simd({.op = VideoOp::sub, .d_signed = true, .a_signed = true, .b_signed = true, .sat = true}, a,
                   b, c),
        clamped);
    ASSERT_EQ(video_simd({.op = VideoOp::absdiff, .accumulate = true}, a, b, c), differences);
    ASSERT_EQ(video_simd({.op = VideoOp::set, .cmp = Cmp::eq}, a, b, c), equal);
  }
}

TEST(VideoSimd, HalvesMaskAndSelection) {
  VideoSimd v{.op = VideoOp::max,
              .d_signed = true,
              .a_signed = true,
              .b_signed = true,
              .lanes = 2,
              .mask = 3,
              .a = {0, 1, 0, 0},
              .b = {2, 3, 0, 0}};
  EXPECT_EQ(video_simd(v, 0xffff0005u, 0x0001fff0u, 0), 0x00010005u);
  v.mask = 1;
  EXPECT_EQ(video_simd(v, 0xffff0005u, 0x0001fff0u, 0xabcd0000u), 0xabcd0005u);
  v.mask = 3;
  v.a = {3, 2, 0, 0};  // b's halves, exchanged
  v.b = {0, 0, 0, 0};
  v.op = VideoOp::add;
  EXPECT_EQ(video_simd(v, 0x00000001u, 0x00200010u, 0), 0x00110021u);
  v = {.op = VideoOp::avrg,
       .d_signed = true,
       .a_signed = true,
       .b_signed = true,
       .lanes = 2,
       .mask = 1,
       .a = {0, 1, 0, 0},
       .b = {2, 3, 0, 0}};
  EXPECT_EQ(video_simd(v, 0xfffcu, 0xffffu, 0), 0x0000fffdu);  // (-4 + -1) >> 1 = -3
}

}  // namespace
}  // namespace fullwarp::exec::sem::test
