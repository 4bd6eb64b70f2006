// Calls a function of the table on one lane, or on all, for the tests.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "libdevice/libdevice.h"

namespace fullwarp::libdevice {

template <class T>
using Lanes = std::array<T, kWarpSize>;

// The result of lane 5, which alone is active.
template <class R, class... A>
R call(std::string_view name, A... a) {
  const Function* f = find(name);
  EXPECT_NE(f, nullptr) << name;
  if (f == nullptr) return R{};
  EXPECT_EQ(f->parameter_count, sizeof...(A)) << name;
  constexpr unsigned kLane = 5;
  std::tuple<Lanes<A>...> arrays;
  std::apply([&](auto&... lanes) { ((lanes[kLane] = a), ...); }, arrays);
  Lanes<R> result{};
  std::apply(
      [&](auto&... lanes) {
        void* args[] = {lanes.data()..., nullptr};
        f->run(1u << kLane, result.data(), args);
      },
      arrays);
  return result[kLane];
}

// The same, for a function that also writes one value through its last parameter.
template <class R, class Out, class... A>
R call_out(std::string_view name, Out* out, A... a) {
  const Function* f = find(name);
  EXPECT_NE(f, nullptr) << name;
  if (f == nullptr) return R{};
  constexpr unsigned kLane = 31;
  std::tuple<Lanes<A>...> arrays;
  std::apply([&](auto&... lanes) { ((lanes[kLane] = a), ...); }, arrays);
  Lanes<R> result{};
  Lanes<Out> written{};
  std::apply(
      [&](auto&... lanes) {
        void* args[] = {lanes.data()..., written.data()};
        f->run(1u << kLane, result.data(), args);
      },
      arrays);
  *out = written[kLane];
  return result[kLane];
}

}  // namespace fullwarp::libdevice
