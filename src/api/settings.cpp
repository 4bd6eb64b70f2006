#include "api/settings.h"

#include "gpu/gpu.h"

namespace fullwarp::api {

Result<RunSettings> settings_of(const CheckOptions& options, Progress* progress) {
  RunSettings settings;
  const Result<const gpu::Gpu*> gpu = gpu::gpu_named(options.gpu);
  if (!gpu) return gpu.error();
  settings.gpu = *gpu;
  for (const std::string& assignment : options.settings)
    if (Status set = settings.rules.set(assignment); !set) return set.error();
  if (!options.kernel.empty()) {
    constexpr size_t kLongestPattern = 1000;  // std::regex recurses over its pattern
    if (options.kernel.size() > kLongestPattern) return Error{"the --kernel expression is too long"};
    try {
      settings.kernel.emplace(options.kernel);
    } catch (const std::regex_error& error) {
      return Error{"'" + options.kernel + "' is not a regular expression: " + error.what()};
    }
  }
  settings.run_rules = options.rules;
  settings.execution.threads = options.threads;
  settings.execution.check_races = options.race_check;
  settings.execution.max_blocks = options.blocks;
  if (options.step_limit != 0) settings.execution.step_limit = options.step_limit;
  settings.progress = progress;
  return settings;
}

}  // namespace fullwarp::api
