// cooperative_groups::inclusive_scan and exclusive_scan over the threads of a group.
#pragma once

#include "reduce.h"

namespace cooperative_groups {

#define FW_D __device__ __forceinline__

template <class Group, class T, class Op>
FW_D auto inclusive_scan(const Group& group, T&& value, Op&& op) -> typename details::Bare<T>::type {
  typename details::Bare<T>::type v = value;
  for (unsigned delta = 1; delta < (unsigned)group.size(); delta <<= 1) {
    const auto below = group.shfl_up(v, delta);
    if (group.thread_rank() >= delta) v = op(below, v);
  }
  return v;
}
template <class Group, class T>
FW_D auto inclusive_scan(const Group& group, T&& value) -> typename details::Bare<T>::type {
  return inclusive_scan(group, value, plus<typename details::Bare<T>::type>());
}
// The first thread gets a zero value.
template <class Group, class T, class Op>
FW_D auto exclusive_scan(const Group& group, T&& value, Op&& op) -> typename details::Bare<T>::type {
  using V = typename details::Bare<T>::type;
  const V v = group.shfl_up(inclusive_scan(group, value, op), 1);
  return group.thread_rank() == 0 ? V() : v;
}
template <class Group, class T>
FW_D auto exclusive_scan(const Group& group, T&& value) -> typename details::Bare<T>::type {
  return exclusive_scan(group, value, plus<typename details::Bare<T>::type>());
}

#undef FW_D

}  // namespace cooperative_groups
