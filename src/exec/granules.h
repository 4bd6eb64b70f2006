// The granules of the shared-memory shadow (race.h) that a site's pattern touches, each once, and by which
// lane. Worked out when the pattern is first checked, so that a check costs a few vector operations: a
// pattern that lies close together is a row of lanes over the granules from the lowest to the highest
// ("dense"), any other a list.
#pragma once

#include <cstdint>

#include "base/warp.h"

namespace fullwarp::exec {

struct Granules {
  static constexpr unsigned kMost = 128;      // of a list
  static constexpr unsigned kMostSpan = 544;  // of a dense pattern: 32 lanes of 16 bytes, byte by byte
  static constexpr uint8_t kSeveralLanes = 254, kNoLane = 255;
  enum class Form : uint8_t { unknown, dense, list, neither };

  Form form = Form::unknown;
  bool alone = true;                    // no granule is touched by two lanes
  uint16_t count = 0;                   // distinct granules
  uint16_t span = 0;                    // dense: from the lowest to the highest
  int32_t lowest = 0;                   // dense: from the granule of the base
  uint32_t touched[kMostSpan / 32];     // dense: a bit a granule, from `lowest` on
  uint8_t lane[kMostSpan + kWarpSize];  // dense: by granule from `lowest` on, kNoLane in gaps; list: by index
  int32_t delta[kMost];                 // list: from the granule of the base

  // `delta` are the lanes' distances in bytes from `base`.
  void make(uint32_t base, const int64_t* delta_bytes, LaneMask mask, unsigned width, unsigned granule_shift);
};

}  // namespace fullwarp::exec
