// Lists and tables of products.
#include "shapes_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fullwarp::shapes;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto model = read_list(*bytes_of(text), "fuzz"); model) judge(*model, size);
  return 0;
}
