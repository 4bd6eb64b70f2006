// Which of the three rules about coalescing an access belongs to. An access is one of them at most, the most
// specific: a member of a struct, else a base off by less than a sector, else scattered.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rules/context.h"

namespace fullwarp::rules {

// The distance in bytes between neighbouring active lanes of a request, if it is the same for all of them and
// there are at least two such pairs.
std::optional<int64_t> lane_stride(const mem::WarpAccess& access);

// The distance that at least two thirds of such pairs have, and there are at least two pairs: the rows of a
// tile are apart by another than their elements.
std::optional<int64_t> usual_stride(const mem::WarpAccess& access);

// Accesses to members of an array of what the source calls a struct: one buffer, one kind, one stride.
struct StructAccess {
  std::vector<const AccessGroup*> groups;  // in program order
  uint32_t stride_bytes = 0;
  uint32_t member_bytes = 0;  // distinct bytes of a struct that are touched
  uint32_t members = 0;       // distinct offsets
};
std::vector<StructAccess> struct_accesses(Context& context);

// The access begins off a sector in most requests, costs one sector more each time for it, and nothing else
// of the kernel has the same sectors in L1 anyway (a stencil's shifted loads).
bool is_misaligned(Context& context, const AccessGroup& group, double min_requests);

// sectors / ideal sectors; 1 where there is nothing to compare.
double sector_ratio(const AccessSums& sums);

}  // namespace fullwarp::rules
