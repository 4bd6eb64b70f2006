// From a file's name to a program that can be executed: the first stages of the pipeline.
#pragma once

#include <memory>
#include <string>

#include "api/runner.h"
#include "fullwarp/session.h"
#include "ptx/module.h"

namespace fullwarp::api {

struct LoadedProgram {
  std::string file;  // as the user names it
  ptx::Module module;
  std::vector<input::KernelInfo> kernels;
  ResourceTable resources;    // of a compiled .cu file where there is a ptxas; a .ptx file is not assembled
  std::string compiler_says;  // warnings of a compiler that succeeded
};
using LoadedPointer = std::shared_ptr<const LoadedProgram>;

Result<LoadedPointer> load_file(const std::string& path, const LoadOptions& options);
Result<LoadedPointer> load_ptx(std::string text, const std::string& name);

// The text of a source, PTX or launch file. Larger than 1 GiB is an error.
Result<std::string> read_text(const std::string& path);

}  // namespace fullwarp::api
