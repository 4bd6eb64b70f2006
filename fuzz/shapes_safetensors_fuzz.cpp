// safetensors headers and indexes, and what is derived and judged from what they hold.
#include "shapes_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fullwarp::shapes;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto tensors = read_safetensors_header(*bytes_of(text), "fuzz"); tensors)
    judge(model_of_tensors(*tensors, "fuzz"), size);
  (void)read_safetensors_index(text, "fuzz");
  return 0;
}
