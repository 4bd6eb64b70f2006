// From a file's name to a program that can be executed: the first stages of the pipeline.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/runner.h"
#include "cubin/cubin.h"
#include "fullwarp/session.h"
#include "ptx/module.h"

namespace fullwarp::api {

struct LoadedProgram {
  std::string file;          // as the user names it
  bool from_source = false;  // compiled here
  ptx::Module module;
  std::vector<input::KernelInfo> kernels;
  // Of a compiled .cu file where there is a ptxas, and of a .ptx file if LoadOptions say so.
  ResourceTable resources;
  std::optional<cubin::Cubin> machine_code;
  std::string compiler_says;  // warnings of a compiler that succeeded
};
using LoadedPointer = std::shared_ptr<const LoadedProgram>;

Result<LoadedPointer> load_file(const std::string& path, const LoadOptions& options);
Result<LoadedPointer> load_ptx(std::string text, const std::string& name);

// The text of a source, PTX or launch file. Larger than 1 GiB is an error.
Result<std::string> read_text(const std::string& path);

}  // namespace fullwarp::api
