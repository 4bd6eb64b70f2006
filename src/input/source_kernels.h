// What a CUDA source calls its kernels' parameters. PTX does not say, so the text is searched for
// `__global__`; a kernel made by a macro, or in a header, is simply not found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fullwarp::input {

struct SourceParameter {
  std::string type;  // as written, blanks single, without `__restrict__`
  std::string name;  // empty if it has none
};
struct SourceKernel {
  std::string name;  // without namespaces
  std::vector<SourceParameter> parameters;
  uint32_t line = 0, column = 0;  // of the name
};

std::vector<SourceKernel> kernels_in_source(std::string_view source);

// The source with comments, and the insides of strings, blanked; every other character keeps its place.
std::string without_comments(std::string_view source);

}  // namespace fullwarp::input
