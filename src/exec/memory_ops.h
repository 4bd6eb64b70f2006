// Between the decoding of loads and stores (decode_memory.cpp) and their code (ops_memory.cpp).
#pragma once

#include "exec/site.h"
#include "exec/worker.h"

namespace fullwarp::exec {

enum class MemoryPath : uint8_t { generic, global, shared, local, param };

// `sign32`/`sign16`: narrow loads extend their sign into the 32-bit or the 16-bit destination.
Handlers memory_handlers(MemoryPath path, unsigned bytes, bool sign32, bool sign16, bool store);

// Coverage of an access that leaves gaps.
void cover_scattered(Worker& worker, Site& site, size_t buffer, uint64_t offset, unsigned width, bool store);

}  // namespace fullwarp::exec
