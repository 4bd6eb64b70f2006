// Writing a report: the file appears whole or not at all.
#pragma once

#include <string>

#include "base/result.h"

namespace fullwarp::cli {

// Written beside its place, then renamed.
Status write_file(const std::string& path, const std::string& text);

}  // namespace fullwarp::cli
