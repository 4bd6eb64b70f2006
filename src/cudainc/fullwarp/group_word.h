// Shuffles of any trivially copyable value: natively where the warp has an instruction for it, else word by word.
#pragma once

namespace cooperative_groups {
namespace details {

template <class T>
struct Native {
  static constexpr bool value = false;
};
#define FW_NATIVE_SHUFFLE(T)              \
  template <>                             \
  struct Native<T> {                      \
    static constexpr bool value = true;   \
  };
FW_NATIVE_SHUFFLE(int)
FW_NATIVE_SHUFFLE(unsigned)
FW_NATIVE_SHUFFLE(long)
FW_NATIVE_SHUFFLE(unsigned long)
FW_NATIVE_SHUFFLE(long long)
FW_NATIVE_SHUFFLE(unsigned long long)
FW_NATIVE_SHUFFLE(float)
FW_NATIVE_SHUFFLE(double)
#undef FW_NATIVE_SHUFFLE

#define FW_SHUFFLE(NAME, INTRINSIC, BY)                                                        \
  template <class T>                                                                           \
  static __device__ __forceinline__ T NAME(unsigned mask, T v, BY by, int width) {             \
    if constexpr (Native<T>::value) {                                                          \
      return INTRINSIC(mask, v, by, width);                                                    \
    } else {                                                                                   \
      constexpr unsigned kWords = (sizeof(T) + 3) / 4;                                         \
      static_assert(kWords <= 8, "a shuffled value has at most 32 bytes");                     \
      unsigned words[kWords] = {};                                                             \
      __builtin_memcpy(words, &v, sizeof(T));                                                  \
      for (unsigned i = 0; i < kWords; ++i) words[i] = INTRINSIC(mask, words[i], by, width);   \
      T result;                                                                                \
      __builtin_memcpy(&result, words, sizeof(T));                                             \
      return result;                                                                           \
    }                                                                                          \
  }
FW_SHUFFLE(shuffle_idx, __shfl_sync, int)
FW_SHUFFLE(shuffle_up, __shfl_up_sync, unsigned)
FW_SHUFFLE(shuffle_down, __shfl_down_sync, unsigned)
FW_SHUFFLE(shuffle_xor, __shfl_xor_sync, int)
#undef FW_SHUFFLE

}  // namespace details
}  // namespace cooperative_groups
