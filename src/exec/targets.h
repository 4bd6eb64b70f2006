// Which of Highway's targets the lane loops are compiled for. The baseline of this library is the oldest
// machine whose multiply-add is fused, as the GPU's is (AVX2 with FMA, NEON): CMakeLists.txt sets the flags.
// AVX-512 is added at run time; its later dialects give these loops nothing more. Include before
// hwy/foreach_target.h.
#pragma once

#include "hwy/detect_targets.h"

#undef HWY_DISABLED_TARGETS
#ifdef HWY_AVX3_ZEN4
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR)
#else
#define HWY_DISABLED_TARGETS (HWY_AVX3_DL)
#endif
