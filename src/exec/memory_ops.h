// Between the decoding of loads and stores (decode_memory.cpp) and their code (ops_memory.cpp).
#pragma once

#include "exec/site.h"
#include "exec/worker.h"

namespace fullwarp::exec {

// The `_word` paths are for single 4-byte values; shared_word takes `sign32` for `with race checks`.
enum class MemoryPath : uint8_t { generic, global, shared, local, param, shared_word, global_word };

// `sign32`/`sign16`: narrow loads extend their sign into the 32-bit or the 16-bit destination.
Handlers memory_handlers(MemoryPath path, unsigned bytes, bool sign32, bool sign16, bool store);

}  // namespace fullwarp::exec
