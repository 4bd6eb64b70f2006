// The model's occupancy in a report's words.
#pragma once

#include <optional>

#include "gpu/gpu.h"
#include "profile/profile.h"
#include "report/report.h"
#include "rules/rules.h"

namespace fullwarp::api {

report::Occupancy occupancy_of(const gpu::Gpu& gpu, const profile::KernelProfile& profile,
                               const std::optional<rules::ResourceUsage>& resources);

}  // namespace fullwarp::api
