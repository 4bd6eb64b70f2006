// ONNX graphs.
#include "shapes_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fullwarp::shapes;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto model = read_onnx(*bytes_of(text), "fuzz", {.batch = 2, .sequence = 33}); model)
    judge(*model, size);
  return 0;
}
