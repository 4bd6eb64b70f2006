#include "input/resolve.h"

#include <algorithm>
#include <array>
#include <map>

#include "input/parameter_use.h"
#include "input/source_kernels.h"

namespace fullwarp::input {
namespace {

constexpr size_t kMostListed = 12;  // kernels in a message

uint64_t round_up(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

// Are two kernels of one name one, declared and defined? An outermost const says nothing of the type.
bool same_types(const SourceKernel& a, const SourceKernel& b) {
  const auto same = [](const SourceParameter& x, const SourceParameter& y) {
    const auto bare = [](const std::string& type) {
      std::string text = canonical_type(type);
      if (text.ends_with(" const")) text.resize(text.size() - 6);
      return text;
    };
    return bare(x.type) == bare(y.type);
  };
  return std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(), b.parameters.end(), same);
}

// Names (and for `extern "C"` kernels types) of the parameters from the source, where exactly one kernel of
// that name takes as many.
void add_source_names(KernelInfo* kernel, const std::multimap<std::string, SourceKernel>& sources) {
  if (kernel->parts.parts.empty()) return;
  const SourceKernel* match = nullptr;
  bool match_named = false;
  const auto [first, last] = sources.equal_range(kernel->parts.parts.back().base);
  for (auto it = first; it != last; ++it) {
    if (it->second.parameters.size() != kernel->parameters.size()) continue;
    const bool named = std::all_of(it->second.parameters.begin(), it->second.parameters.end(),
                                   [](const SourceParameter& p) { return !p.name.empty(); });
    if (!named && match != nullptr) continue;  // a declaration beside the definition
    if (match != nullptr && match_named && !same_types(*match, it->second)) return;  // overloads
    match = &it->second;
    match_named = named;
  }
  if (match == nullptr) return;
  for (size_t i = 0; i < kernel->parameters.size(); ++i) {
    kernel->parameters[i].name = match->parameters[i].name;
    if (kernel->parameters[i].type.empty())
      kernel->parameters[i].type = canonical_type(match->parameters[i].type);
  }
}

std::string signature_of(const KernelInfo& kernel) {
  std::string text = kernel.name + "(";
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const ParameterInfo& parameter = kernel.parameters[i];
    if (i > 0) text += ", ";
    text += parameter.type.empty() ? "." + std::string(ptx::to_string(parameter.ptx_type))
                                   : readable_type(parameter.type);
    if (!parameter.name.empty()) text += " " + parameter.name;
  }
  return text + ")";
}

// What a launch needs to know beside the parameters: is there a second dimension, is there dynamic shared
// memory?
void look_into_body(const ptx::Module& module, const ptx::Function& function, KernelInfo* kernel) {
  bool second = false;
  for (const ptx::Instruction& instruction : function.instructions) {
    for (unsigned o = 0; o < instruction.operand_count; ++o) {
      const ptx::Operand& operand = module.operands_of(instruction)[o];
      second |= operand.kind == ptx::Operand::Kind::special && operand.component == 1 &&
                static_cast<ptx::Special>(operand.index) == ptx::Special::tid;
      const bool variable =
          operand.kind == ptx::Operand::Kind::variable ||
          (operand.kind == ptx::Operand::Kind::address && operand.base == ptx::Operand::Kind::variable);
      if (!variable || operand.index >= module.variables.size()) continue;
      const ptx::Variable& named = module.variables[operand.index];
      kernel->dynamic_shared |= named.space == ptx::Space::shared && named.external;
    }
  }
  if (function.req_ntid) {
    kernel->block = *function.req_ntid;
  } else if (function.max_ntid && function.max_ntid->count() < kernel->block.x) {
    kernel->block = *function.max_ntid;
  } else if (second) {
    kernel->block = {16, 16, 1};
  }
}

KernelInfo describe(const ptx::Module& module, const ptx::Function& function, int32_t index,
                    const std::multimap<std::string, SourceKernel>& sources) {
  KernelInfo kernel;
  kernel.function = index;
  kernel.mangled = function.name;
  kernel.parts = parse_function_name(demangle(function.name));
  kernel.name = kernel.parts.display;
  const bool typed = kernel.parts.parameters.size() == function.params.size();
  for (size_t i = 0; i < function.params.size(); ++i) {
    const ptx::Param& param = function.params[i];
    ParameterInfo info;
    if (typed) info.type = kernel.parts.parameters[i];
    info.ptx_type = param.type;
    info.is_struct = param.array;
    info.bytes = param.bytes != 0 ? param.bytes : ptx::size_bytes(param.type);
    info.align = std::max({param.align, param.array ? 1u : info.bytes, 1u});
    const uint64_t offset = round_up(kernel.parameter_bytes, info.align), end = offset + info.bytes;
    info.offset = static_cast<uint32_t>(std::min<uint64_t>(offset, UINT32_MAX));
    kernel.parameter_bytes =
        static_cast<uint32_t>(std::min<uint64_t>(end, UINT32_MAX));  // too many: see packing
    kernel.parameters.push_back(std::move(info));
  }
  add_source_names(&kernel, sources);
  kernel.signature = signature_of(kernel);
  look_into_body(module, function, &kernel);
  note_uses(module, function, &kernel.parameters);
  return kernel;
}

// May `written` stand for a kernel's template argument: the same, less the namespaces in front?
bool stands_for(const std::string& written, const std::string& argument) {
  if (written == argument) return true;
  if (!argument.ends_with("::" + written)) return false;
  const std::string_view front = std::string_view(argument).substr(0, argument.size() - written.size());
  return front.find_first_of("<( ") == std::string_view::npos;
}

// How well a written name fits a kernel's.
enum class Fit : uint8_t { none, partial, exact };

Fit fit(const FunctionName& written, const FunctionName& kernel) {
  if (written.parts.empty() || written.parts.size() > kernel.parts.size()) return Fit::none;
  if (written.rooted && written.parts.size() != kernel.parts.size()) return Fit::none;
  bool exact = written.parts.size() == kernel.parts.size();
  const size_t skipped = kernel.parts.size() - written.parts.size();
  for (size_t i = 0; i < written.parts.size(); ++i) {
    const NamePart& a = written.parts[i];
    const NamePart& b = kernel.parts[skipped + i];
    if (a.base != b.base || a.arguments.size() > b.arguments.size()) return Fit::none;
    if (!std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), stands_for))
      return Fit::none;
    exact = exact && a.arguments == b.arguments;
  }
  if (written.has_parameters) {
    const auto same = [](const std::string& a, const std::string& b) {
      return canonical_type(a) == canonical_type(b);
    };
    if (!std::equal(written.parameters.begin(), written.parameters.end(), kernel.parameters.begin(),
                    kernel.parameters.end(), same)) {
      return Fit::none;
    }
  }
  return exact ? Fit::exact : Fit::partial;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string list_of(const std::vector<KernelInfo>& kernels, const std::vector<size_t>& which) {
  std::string text;
  for (size_t i = 0; i < which.size() && i < kMostListed; ++i) text += "\n    " + kernels[which[i]].signature;
  if (which.size() > kMostListed)
    text += "\n    ... and " + std::to_string(which.size() - kMostListed) + " more";
  return text;
}

Error no_such_kernel(const std::vector<KernelInfo>& kernels, std::string_view written,
                     const FunctionName& name) {
  Error error{"there is no kernel `" + std::string(written) + "` in this file"};
  if (kernels.empty()) {
    error.hint = "the file has no kernels";
    return error;
  }
  std::vector<size_t> all(kernels.size());
  size_t nearest = 0, least = SIZE_MAX;
  const std::string base = name.parts.empty() ? std::string(written) : name.parts.back().base;
  for (size_t i = 0; i < kernels.size(); ++i) {
    all[i] = i;
    if (kernels[i].parts.parts.empty() || base.size() > 256) continue;
    const std::string& other = kernels[i].parts.parts.back().base;
    if (other.size() > 256) continue;
    if (const size_t distance = edit_distance(base, other); distance < least) least = distance, nearest = i;
  }
  if (least <= 2 && least < base.size()) error.hint = "did you mean `" + kernels[nearest].name + "`? ";
  error.hint += "the kernels are:" + list_of(kernels, all);
  return error;
}

}  // namespace

std::vector<KernelInfo> kernels_of(const ptx::Module& module, std::string_view source) {
  std::multimap<std::string, SourceKernel> sources;
  for (SourceKernel& kernel : kernels_in_source(source)) {
    std::string name = kernel.name;
    sources.emplace(std::move(name), std::move(kernel));
  }
  std::vector<KernelInfo> kernels;
  for (size_t i = 0; i < module.functions.size(); ++i) {
    const ptx::Function& function = module.functions[i];
    if (function.entry && !function.declared_only) {
      kernels.push_back(describe(module, function, static_cast<int32_t>(i), sources));
    }
  }
  return kernels;
}

Result<size_t> find_kernel(const std::vector<KernelInfo>& kernels, std::string_view written) {
  const FunctionName name = parse_function_name(written);
  std::vector<size_t> exact, partial;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].mangled == written) return i;
    const Fit how = fit(name, kernels[i].parts);
    if (how == Fit::exact) exact.push_back(i);
    if (how == Fit::partial) partial.push_back(i);
  }
  const std::vector<size_t>& found = exact.empty() ? partial : exact;
  if (found.size() == 1) return found[0];
  if (found.empty()) return no_such_kernel(kernels, written, name);
  return Error{"`" + std::string(written) + "` names " + std::to_string(found.size()) + " kernels",
               {},
               0,
               0,
               "write more of the name:" + list_of(kernels, found)};
}

int32_t find_symbol(const ptx::Module& module, std::string_view written) {
  const FunctionName name = parse_function_name(written);
  int32_t partial = -1;
  for (size_t i = 0; i < module.variables.size(); ++i) {
    const ptx::Variable& variable = module.variables[i];
    if (variable.function >= 0 ||
        (variable.space != ptx::Space::global && variable.space != ptx::Space::const_)) {
      continue;
    }
    if (variable.name == written) return static_cast<int32_t>(i);
    const Fit how = fit(name, parse_function_name(demangle(variable.name)));
    if (how == Fit::exact) return static_cast<int32_t>(i);
    if (how == Fit::partial && partial < 0) partial = static_cast<int32_t>(i);
  }
  return partial;
}

Error not_launched(const KernelInfo& kernel, const std::string& file, size_t others) {
  Error error{"no launch of kernel " + kernel.signature, file, 0, 0,
              "say how to run it, in a comment of the source or with --launch:"};
  if (others > 0)
    error.message +=
        " (and " + std::to_string(others) + " more instantiation" + (others == 1 ? "" : "s") + ")";
  for (const std::string& statement : example_statements(kernel))
    error.hint += "\n    // fullwarp: " + statement;
  return error;
}

Error no_kernels(const std::string& file, std::string_view source) {
  Error error{"there is no kernel to run", file, 0, 0, {}};
  std::string templates;
  for (const SourceKernel& kernel : kernels_in_source(source)) {
    if (templates.find("`" + kernel.name + "`") != std::string::npos) continue;
    templates += (templates.empty() ? "`" : ", `") + kernel.name + "`";
  }
  error.hint = templates.empty()
                   ? "the file and what it includes define no `__global__` function"
                   : "nothing in the file instantiates " + templates +
                         ": launch it with its template arguments, `name<float, 128><<<4, 256>>>(...)`";
  return error;
}

}  // namespace fullwarp::input
