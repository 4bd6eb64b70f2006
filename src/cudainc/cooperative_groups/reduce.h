// cooperative_groups::reduce. Tiles reduce by butterfly exchange; 32-bit integers on sm_80 by redux.sync.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

#define FW_D __device__ __forceinline__
#define FW_FUNCTOR(NAME, EXPRESSION)                                        \
  template <class T>                                                        \
  struct NAME {                                                             \
    FW_D T operator()(const T& a, const T& b) const { return EXPRESSION; }  \
  };
FW_FUNCTOR(plus, a + b)
FW_FUNCTOR(less, b < a ? b : a)
FW_FUNCTOR(greater, a < b ? b : a)
FW_FUNCTOR(bit_and, a & b)
FW_FUNCTOR(bit_or, a | b)
FW_FUNCTOR(bit_xor, a ^ b)
#undef FW_FUNCTOR

namespace details {
template <class T, class Op>
struct Redux {
  static constexpr bool value = false;
};
#if __CUDA_ARCH__ >= 800
#define FW_REDUX(T, OP, INTRINSIC)                                                      \
  template <>                                                                           \
  struct Redux<T, OP<T>> {                                                              \
    static constexpr bool value = true;                                                 \
    static FW_D T run(unsigned mask, T v) { return (T)INTRINSIC(mask, v); }             \
  };
FW_REDUX(int, plus, __reduce_add_sync)
FW_REDUX(int, less, __reduce_min_sync)
FW_REDUX(int, greater, __reduce_max_sync)
FW_REDUX(unsigned, plus, __reduce_add_sync)
FW_REDUX(unsigned, less, __reduce_min_sync)
FW_REDUX(unsigned, greater, __reduce_max_sync)
FW_REDUX(unsigned, bit_and, __reduce_and_sync)
FW_REDUX(unsigned, bit_or, __reduce_or_sync)
FW_REDUX(unsigned, bit_xor, __reduce_xor_sync)
#undef FW_REDUX
#endif
template <class T>
struct Bare {
  using type = T;
};
template <class T>
struct Bare<T&> : Bare<T> {};
template <class T>
struct Bare<T&&> : Bare<T> {};
template <class T>
struct Bare<const T> : Bare<T> {};
}  // namespace details

template <unsigned Size, class Parent, class T, class Op>
FW_D auto reduce(const thread_block_tile<Size, Parent>& tile, T&& value, Op&& op) ->
    typename details::Bare<T>::type {
  using V = typename details::Bare<T>::type;
  using Redux = details::Redux<V, typename details::Bare<Op>::type>;
  V v = value;
  if constexpr (Size > 32) {
    return tile.across_warps(reduce(thread_block_tile<32>(), v, op), op);
  } else if constexpr (Redux::value) {
    return Redux::run(tile.mask(), v);
  } else {
    for (unsigned lanes = Size / 2; lanes > 0; lanes >>= 1) v = op(v, tile.shfl_xor(v, lanes));
    return v;
  }
}

template <class T, class Op>
FW_D auto reduce(const coalesced_group& group, T&& value, Op&& op) -> typename details::Bare<T>::type {
  using V = typename details::Bare<T>::type;
  using Redux = details::Redux<V, typename details::Bare<Op>::type>;
  V v = value;
  if constexpr (Redux::value) {
    return Redux::run(group.mask(), v);
  } else {
    const unsigned size = group.size(), rank = group.thread_rank();
    for (unsigned left = size; left > 1;) {
      const unsigned half = (left + 1) / 2;
      const V other = group.shfl_down(v, half);
      if (rank + half < left) v = op(v, other);
      left = half;
    }
    return group.shfl(v, 0);
  }
}

// The result goes to one place, added by one thread of the group.
template <class Group, class T, class Op>
FW_D void reduce_store_async(const Group& group, T* to, T value, Op&& op) {
  const T v = reduce(group, value, op);
  if (group.thread_rank() == 0) *to = v;
}

#undef FW_D

}  // namespace cooperative_groups
