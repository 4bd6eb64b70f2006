#include "exec/granules.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

namespace fullwarp::exec {

void Granules::make(uint32_t base, const int64_t* delta_bytes, LaneMask mask, unsigned width,
                    unsigned shift) {
  struct Touch {
    int32_t granule;
    uint8_t lane;
  };
  Touch touches[kWarpSize * 32];
  unsigned total = 0;
  form = Form::neither;
  const int64_t first = base >> shift;
  for (LaneMask left = mask; left; left &= left - 1) {
    const unsigned i = static_cast<unsigned>(std::countr_zero(left));
    const int64_t address = static_cast<int64_t>(base) + delta_bytes[i];
    const int64_t last = (address + width - 1) >> shift;
    if (last - (address >> shift) >= 32) return;
    for (int64_t g = address >> shift; g <= last; ++g)
      touches[total++] = {static_cast<int32_t>(g - first), static_cast<uint8_t>(i)};
  }
  std::stable_sort(touches, touches + total,
                   [](const Touch& a, const Touch& b) { return a.granule < b.granule; });
  unsigned distinct = 0;
  alone = true;
  for (unsigned k = 0; k < total; ++k) {
    if (distinct && touches[distinct - 1].granule == touches[k].granule) {
      if (touches[distinct - 1].lane != touches[k].lane) {
        touches[distinct - 1].lane = kSeveralLanes;
        alone = false;
      }
    } else {
      touches[distinct++] = touches[k];
    }
  }
  if (distinct == 0) return;
  count = static_cast<uint16_t>(distinct);
  const int64_t reach = int64_t{touches[distinct - 1].granule} - touches[0].granule + 1;
  const bool fits_dense = reach <= kMostSpan, fits_list = distinct <= kMost;
  if (!fits_dense && !fits_list) return;
  if (fits_dense && (!fits_list || reach <= 4 * int64_t{distinct} + 4)) {
    form = Form::dense;
    lowest = touches[0].granule;
    span = static_cast<uint16_t>(reach);
    std::fill(std::begin(touched), std::end(touched), 0);
    std::memset(lane, kNoLane, sizeof lane);
    for (unsigned k = 0; k < distinct; ++k) {
      const unsigned at = static_cast<unsigned>(touches[k].granule - lowest);
      touched[at / 32] |= 1u << (at % 32);
      lane[at] = touches[k].lane;
    }
  } else {
    form = Form::list;
    for (unsigned k = 0; k < distinct; ++k) {
      delta[k] = touches[k].granule;
      lane[k] = touches[k].lane;
    }
  }
}

}  // namespace fullwarp::exec
