// Launch statements from strangers: any bytes must give a script or an error, never a crash or a hang.
#include <cstdint>
#include <cstdlib>

#include "input/launch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fullwarp::input;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fullwarp::Result<Script> script = parse_launches(text, "fuzz");
  if (script.ok()) {
    assign_default_seeds(&*script);
    for (const Statement& statement : *script) {
      const auto* define = std::get_if<DefineBuffer>(&statement.value);
      if (define == nullptr || define->spec.count > 4096 || define->spec.fill.kind == Fill::Kind::file)
        continue;
      if (!make_buffer(define->spec, 1, ".").ok()) std::abort();
    }
  } else if (script.error().line == 0 || script.error().column == 0) {
    std::abort();  // every message names its place
  }
  (void)launches_in_source(text, "fuzz.cu");
  return 0;
}
