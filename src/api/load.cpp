#include "api/load.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "gpu/gpu.h"
#include "input/compile.h"
#include "ptx/parser.h"

namespace fullwarp::api {

namespace {

// What ptxas makes of the PTX: registers, spills, and the machine code whose accesses are counted. Without a
// ptxas, or where it refuses the PTX or its cubin cannot be read, registers stay unknown and accesses are
// counted by rules.
void add_machine_code(const std::string& ptx, unsigned sm, const std::string& name, LoadedProgram& program) {
  Result<input::Assembled> assembled = input::assemble(ptx, sm);
  if (!assembled) return;
  for (const auto& [kernel, used] : assembled->usage)
    program.resources[kernel] = {used.registers_per_thread, used.spill_store_bytes, used.spill_load_bytes};
  Result<cubin::Cubin> machine_code = cubin::parse_cubin(assembled->cubin, name);
  if (machine_code) program.machine_code = std::move(*machine_code);
}

// The texts of the file and of what it includes where kernels stand: they name the kernels' parameters.
std::string sources_of_kernels(const ptx::Module& module, const std::string& path) {
  std::string text;
  std::set<std::string> seen;
  const auto add = [&](const std::string& file) {
    if (!seen.insert(file).second) return;
    if (const Result<std::string> source = read_text(file); source.ok()) text += *source + "\n";
  };
  add(path);
  for (const ptx::Function& function : module.functions) {
    if (!function.entry || function.instructions.empty()) continue;
    const int32_t location = function.instructions[0].location;
    if (location < 0 || static_cast<size_t>(location) >= module.locations.size()) continue;
    const uint32_t file = module.locations[static_cast<size_t>(location)].file;
    if (file < module.files.size()) add(std::string(module.files[file].name));
  }
  return text;
}

Result<LoadedPointer> parse(std::string ptx, const std::string& name, bool from_source,
                            LoadedProgram program) {
  Result<ptx::Module> module = ptx::parse(std::move(ptx), name);
  if (!module) return module.error();
  program.file = name;
  program.from_source = from_source;
  program.module = std::move(*module);
  program.kernels = input::kernels_of(program.module,
                                      from_source ? sources_of_kernels(program.module, name) : std::string());
  return LoadedPointer(std::make_shared<const LoadedProgram>(std::move(program)));
}

}  // namespace

Result<std::string> read_text(const std::string& path) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 30;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Error{"there is no such file", path};
  if (!std::filesystem::is_regular_file(path, error)) return Error{"not a regular file", path};
  const uint64_t bytes = std::filesystem::file_size(path, error);
  if (error || bytes > kMostBytes) return Error{"the file is too large", path};
  std::ifstream file(path, std::ios::binary);
  std::string text(bytes, '\0');
  if (!file.read(text.data(), static_cast<std::streamsize>(bytes)))
    return Error{"the file cannot be read", path};
  return text;
}

Result<LoadedPointer> load_ptx(std::string text, const std::string& name) {
  return parse(std::move(text), name, false, {});
}

Result<LoadedPointer> load_file(const std::string& path, const LoadOptions& options) {
  const Result<const gpu::Gpu*> gpu = gpu::gpu_named(options.gpu);
  if (!gpu) return gpu.error();
  input::CompileOptions compile;
  compile.compiler = options.compiler;
  compile.sm = (*gpu)->sm->version;
  compile.flags = options.compiler_flags;
  compile.instantiations = options.instantiations;
  Result<input::Compiled> compiled = input::compile_to_ptx(path, compile);
  if (!compiled) return compiled.error();
  LoadedProgram program;
  const bool from_source = !compiled->compiler.empty();
  if (from_source || options.assemble_ptx)
    add_machine_code(compiled->ptx, std::max(compiled->sm, compile.sm), path, program);
  program.compiler_says = std::move(compiled->warnings);
  return parse(std::move(compiled->ptx), path, from_source, std::move(program));
}

}  // namespace fullwarp::api
