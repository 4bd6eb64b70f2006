// .npy files from strangers.
#include <cstdint>
#include <cstdlib>

#include "input/launch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fullwarp::input;
  const auto array = parse_npy({reinterpret_cast<const char*>(data), size}, "fuzz.npy");
  if (array.ok()) {
    uint64_t count = 1;
    for (const uint64_t extent : array->shape) count *= extent;
    if (count * size_bytes(array->type) != array->bytes.size()) std::abort();
  }
  return 0;
}
