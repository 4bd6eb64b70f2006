// Between the decoding of tagged registers (steady.h) and their code (ops_steady.cpp).
#pragma once

#include "exec/decode.h"
#include "exec/steady.h"
#include "ptx/writes.h"

namespace fullwarp::exec {

enum class SteadyOp : uint8_t { add, sub, move };
Handlers steady_handlers(SteadyOp op, bool wide);

}  // namespace fullwarp::exec
