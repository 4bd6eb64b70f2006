// Functions that compiled code calls but no file defines: the engine supplies them.
#pragma once

#include <string_view>

#include "exec/program.h"
#include "exec/warp.h"
#include "libdevice/libdevice.h"

namespace fullwarp::exec {

struct Builtin {
  std::string_view name;
  // Runs it for the lanes in warp.active; arguments and results are rows of the caller's frame.
  void (*run)(Warp& warp, const MicroOp* op, const BuiltinInfo& info);
  const libdevice::Function* device = nullptr;  // of the `__nv_` functions
};

// Null if there is none of that name: launches from the device are not there.
const Builtin* find_builtin(std::string_view name);

}  // namespace fullwarp::exec
