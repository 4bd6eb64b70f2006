// A cubin (what ptxas makes of a PTX file), read without NVIDIA's tools: what a kernel uses of the SM, and
// for every machine instruction that accesses memory its width and the PTX line it came from. Built on elf.h,
// line_program.h and sass.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cubin/sass.h"

namespace fullwarp::cubin {

struct MachineInstruction {
  uint32_t offset = 0;    // bytes from the start of the kernel
  uint32_t ptx_line = 0;  // from 1; 0: unknown
  MachineOp op;
};

struct Kernel {
  std::string name;           // mangled
  bool entry = false;         // false: a device function
  uint32_t registers = 0;     // per thread; 0: not stated
  uint64_t shared_bytes = 0;  // static
  uint64_t local_bytes = 0;   // stack frame per thread: arrays in local memory and spills
  uint32_t parameter_bytes = 0;
  bool has_lines = false;                // built with --generate-line-info
  std::vector<MachineInstruction> code;  // all instructions, in address order
};

struct Cubin {
  uint32_t sm = 0;  // 90
  std::string ptx;  // as .nv_debug_ptx_txt holds it (lines of comments empty), or ""
  std::vector<Kernel> kernels;

  const Kernel* find(std::string_view name) const;  // nullptr if there is none
};

bool looks_like_cubin(std::string_view bytes);
Result<Cubin> parse_cubin(std::string_view bytes, const std::string& file);

}  // namespace fullwarp::cubin
