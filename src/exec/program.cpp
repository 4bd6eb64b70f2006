// Decoding a launch: which functions it can reach, where shared variables lie, what each one becomes.
#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

#include "exec/decode.h"
#include "exec/handlers.h"

namespace fullwarp::exec {

uint32_t kernel_param_offset(const ptx::Function& function, uint32_t index) {
  uint32_t offset = 0;
  for (uint32_t p = 0; p < function.params.size(); ++p) {
    const ptx::Param& param = function.params[p];
    uint32_t align = std::max(param.align, 1u);
    offset = (offset + align - 1) / align * align;
    if (p == index) return offset;
    offset += param.bytes;
  }
  return offset;
}

uint32_t kernel_param_offset_end(const ptx::Function& function, uint32_t index) {
  return kernel_param_offset(function, index) + function.params[index].bytes;
}

namespace {

using ptx::Op;
using ptx::Operand;

void collect_functions(const ptx::Module& module, const Operand& operand, std::vector<int32_t>& into) {
  if (operand.kind == Operand::Kind::function) into.push_back(static_cast<int32_t>(operand.index));
  if (operand.kind == Operand::Kind::address && operand.base == Operand::Kind::function)
    into.push_back(static_cast<int32_t>(operand.index));
  if (operand.kind == Operand::Kind::vector || operand.kind == Operand::Kind::list)
    for (unsigned i = 0; i < operand.count; ++i)
      collect_functions(module, module.operands[operand.first + i], into);
}

std::vector<int32_t> reachable(const ptx::Module& module, int32_t entry) {
  std::vector<int32_t> order;
  std::vector<bool> seen(module.functions.size(), false);
  auto add = [&](int32_t f) {
    if (f >= 0 && !seen[static_cast<size_t>(f)]) {
      seen[static_cast<size_t>(f)] = true;
      order.push_back(f);
    }
  };
  add(entry);
  std::vector<int32_t> named;
  for (const ptx::Variable& v : module.variables)
    for (const ptx::Relocation& r : v.relocations)
      if (r.function >= 0) named.push_back(r.function);
  bool indirect = false;
  for (size_t k = 0; k < order.size(); ++k) {
    const ptx::Function& f = module.functions[static_cast<size_t>(order[k])];
    for (const ptx::Instruction& i : f.instructions) {
      std::vector<int32_t> found;
      for (unsigned o = 0; o < i.operand_count; ++o) {
        const Operand& operand = module.operands_of(i)[o];
        collect_functions(module, operand, found);
        if (i.op == Op::call && operand.kind == Operand::Kind::reg) indirect = true;
      }
      for (int32_t g : found) add(g);
    }
    if (indirect && k + 1 == order.size())
      for (int32_t f2 : named) add(f2);
  }
  return order;
}

Status lay_out_shared(Program& program, const std::vector<int32_t>& functions) {
  const ptx::Module& module = *program.module;
  program.shared_offset.assign(module.variables.size(), ~0u);
  std::vector<bool> used(module.functions.size(), false);
  for (int32_t f : functions) used[static_cast<size_t>(f)] = true;
  std::vector<bool> named(module.variables.size(), false);
  for (int32_t f : functions)
    for (const ptx::Instruction& i : module.functions[static_cast<size_t>(f)].instructions)
      for (unsigned o = 0; o < i.operand_count; ++o) {
        const Operand& operand = module.operands_of(i)[o];
        auto mark = [&](const Operand& x) {
          if (x.kind == Operand::Kind::variable ||
              (x.kind == Operand::Kind::address && x.base == Operand::Kind::variable))
            named[x.index] = true;
        };
        mark(operand);
        if (operand.kind == Operand::Kind::vector || operand.kind == Operand::Kind::list)
          for (unsigned e = 0; e < operand.count; ++e) mark(module.operands[operand.first + e]);
      }
  uint64_t offset = 0;
  uint32_t dynamic_align = 16;
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t v = 0; v < module.variables.size(); ++v) {
      const ptx::Variable& variable = module.variables[v];
      if (variable.space != ptx::Space::shared) continue;
      if (variable.function >= 0 ? !used[static_cast<size_t>(variable.function)] : !named[v]) continue;
      const bool dynamic = variable.bytes == 0;
      const uint32_t align = std::max(variable.align, 1u);
      if (dynamic) {
        if (pass == 0)
          dynamic_align = std::max(dynamic_align, align);
        else
          program.shared_offset[v] = program.dynamic_shared_offset;
      } else if (pass == 0) {
        offset = (offset + align - 1) / align * align;
        program.shared_offset[v] = static_cast<uint32_t>(offset);
        offset += variable.bytes;
        if (offset > (1u << 20))
          return Error{"shared variables of more than 1 MB", module.path, variable.line, 0,
                       "a block has at most 227 KB of shared memory"};
      }
    }
    if (pass == 0) {
      program.static_shared_bytes = static_cast<uint32_t>(offset);
      program.dynamic_shared_offset =
          static_cast<uint32_t>((offset + dynamic_align - 1) / dynamic_align * dynamic_align);
    }
  }
  return Ok{};
}

}  // namespace

Result<Program> decode_program(const ptx::Module& module, const DeviceMemory& memory, int32_t entry,
                               const LaunchShape& shape) {
  Program program;
  program.module = &module;
  program.memory = &memory;
  program.grid = shape.grid;
  program.block = shape.block;
  program.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  program.param_buffer = shape.param_buffer;
  program.check_races = shape.check_races;
  program.machine = shape.machine;
  program.functions.resize(module.functions.size());
  std::vector<int32_t> functions = reachable(module, entry);
  Status status = lay_out_shared(program, functions);
  if (!status) return status.error();
  scan_visibility(program, functions);
  for (int32_t f : functions) {
    const ptx::Function& function = module.functions[static_cast<size_t>(f)];
    for (const ptx::Unsupported& u : module.unsupported)
      if (u.function == f) return Error{u.message, module.path, u.line, u.column, {}};
    if (function.declared_only) continue;  // built-ins; a call to anything else fails where it stands
    auto& out = program.functions[static_cast<size_t>(f)];
    out = std::make_unique<FunctionProgram>();
    out->function = f;
  }
  for (int32_t f : functions) {
    auto& out = program.functions[static_cast<size_t>(f)];
    if (!out) continue;
    Decoder decoder(module, program, module.functions[static_cast<size_t>(f)], *out);
    if (!decoder.decode()) return *decoder.error();
  }
  program.entry = program.functions[static_cast<size_t>(entry)].get();
  // Leaders by instruction become leaders by site.
  std::map<std::pair<int32_t, uint32_t>, int32_t> site_of;
  for (size_t s = 0; s < program.sites.size(); ++s)
    site_of.try_emplace({program.sites[s].instruction.function, program.sites[s].instruction.index},
                        static_cast<int32_t>(s));
  for (SiteInfo& info : program.sites) {
    if (info.leader_instruction < 0) continue;
    auto leader = site_of.find({info.instruction.function, static_cast<uint32_t>(info.leader_instruction)});
    if (leader != site_of.end()) info.leader = leader->second;
  }
  return program;
}

}  // namespace fullwarp::exec
