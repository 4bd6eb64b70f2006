// `// fullwarp-ignore: RULE reason` on a finding's line, or alone on the line above it, leaves the finding
// out. Several rules: several comments, also one below the other.
#pragma once

#include <cstdint>
#include <string_view>

#include "diag/finding.h"
#include "diag/source_cache.h"

namespace fullwarp::api {

// Does the line's comment name the rule?
bool ignores(std::string_view line, std::string_view rule);

bool is_ignored(const diag::Finding& finding, diag::SourceCache& sources);

}  // namespace fullwarp::api
