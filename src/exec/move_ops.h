// Between the decoding of moves (decode_move.cpp) and their code (ops_move.cpp).
#pragma once

#include "exec/micro_op.h"

namespace fullwarp::exec {

enum class MoveKind : uint8_t {
  same32,
  same64,
  narrow,
  high,
  widen_zero,
  widen_sign,
  pack64,
  pack32,
  pack16,
  low16,
  high16,
  byte0,
  byte1,
  byte2,
  byte3,
  add_window,
  drop_window,
  select32,
  select64,
  special32,
  special64,
  local32,
  local64,
  clock32,
  clock64,
  is_global,
  is_shared,
  is_local,
  is_never,
};
Handlers move_handlers(MoveKind kind);

}  // namespace fullwarp::exec
