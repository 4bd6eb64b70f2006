// The user's options as the stages take them.
#pragma once

#include "api/runner.h"
#include "fullwarp/check.h"

namespace fullwarp::api {

// An unknown GPU or rule, or a broken regular expression, is an error.
Result<RunSettings> settings_of(const CheckOptions& options, Progress* progress);

}  // namespace fullwarp::api
