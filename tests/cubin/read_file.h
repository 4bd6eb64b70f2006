// The cubins in data/ were made by nvcc 13.0 (-lineinfo -cubin) from the .cu files beside them.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace fullwarp::cubin {

inline std::string read_file(const std::string& name) {
  std::ifstream file(std::string(FULLWARP_SOURCE_DIR "/tests/cubin/data/") + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace fullwarp::cubin
