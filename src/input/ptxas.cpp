// Registers, spills and shared memory of each kernel, from ptxas where it is at hand:
//
//   ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90'
//   ptxas info    : Function properties for _Z1kPf
//       16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
//   ptxas info    : Used 24 registers, used 1 barriers, 4096 bytes smem, 352 bytes cmem[0]
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "input/compile.h"
#include "input/compiler.h"
#include "input/process.h"
#include "input/ptx_cache.h"

namespace fullwarp::input {
namespace {

constexpr uint64_t kMaxCubinBytes = uint64_t{1} << 30;

// The number before `what` in `line`, or 0.
uint32_t number_before(std::string_view line, std::string_view what) {
  const size_t at = line.find(what);
  if (at == std::string_view::npos) return 0;
  size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  uint32_t value = 0;
  std::from_chars(line.data() + begin, line.data() + at, value);
  return value;
}

// The text after `start` up to `end`, or empty.
std::string_view between(std::string_view line, std::string_view start, std::string_view end) {
  const size_t at = line.find(start);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + start.size());
  return line.substr(0, line.find(end));
}

}  // namespace

std::map<std::string, ResourceUsage, std::less<>> parse_ptxas_report(std::string_view report) {
  std::map<std::string, ResourceUsage, std::less<>> usage;
  ResourceUsage* kernel = nullptr;  // whose registers come next
  bool properties_of_kernel = false;
  std::string_view name;
  while (!report.empty()) {
    const size_t end = std::min(report.find('\n'), report.size());
    const std::string_view line = report.substr(0, end);
    report.remove_prefix(std::min(end + 1, report.size()));
    if (const std::string_view entry = between(line, "Compiling entry function '", "'"); !entry.empty()) {
      name = entry;
      kernel = &usage[std::string(entry)];
    } else if (const std::string_view function = between(line, "Function properties for ", "\r");
               !function.empty()) {
      properties_of_kernel = kernel != nullptr && function == name;  // device functions are listed too
    } else if (line.find(" bytes stack frame") != std::string_view::npos && properties_of_kernel) {
      kernel->stack_bytes = number_before(line, " bytes stack frame");
      kernel->spill_store_bytes = number_before(line, " bytes spill stores");
      kernel->spill_load_bytes = number_before(line, " bytes spill loads");
    } else if (line.find(" registers") != std::string_view::npos && kernel != nullptr) {
      kernel->registers_per_thread = number_before(line, " registers");
      kernel->shared_bytes = number_before(line, " bytes smem");
      kernel = nullptr;
    }
  }
  return usage;
}

Result<Assembled> assemble(const std::string& ptx, unsigned sm, bool cache_on) {
  const std::string ptxas = find_ptxas();
  if (ptxas.empty()) return Error{"ptxas was not found in PATH, CUDA_HOME or /usr/local/cuda"};
  CacheKey key;
  for (const std::string& part :
       {std::string("cubin"), ptx, std::to_string(sm), Compiler{CompilerKind::nvcc, ptxas}.identity()}) {
    key.add(part);
  }
  const PtxCache cache = cache_on ? PtxCache::open() : PtxCache("");
  if (std::optional<CacheEntry> entry = cache.find(key)) {
    return Assembled{parse_ptxas_report(entry->note), std::move(entry->result)};
  }
  const int64_t started_ns = PtxCache::now_ns();
  Result<TemporaryDirectory> folder = TemporaryDirectory::create();
  if (!folder) return folder.error();
  const std::string input = folder->file("in.ptx"), output = folder->file("out.cubin");
  std::FILE* file = std::fopen(input.c_str(), "wb");
  const bool opened = file != nullptr;
  const bool written = opened && std::fwrite(ptx.data(), 1, ptx.size(), file) == ptx.size();
  if (!opened || std::fclose(file) != 0 || !written) return Error{"the file cannot be written", input};
  const Result<ProcessResult> run = run_process(
      {ptxas, "-v", "--generate-line-info", "-arch=sm_" + std::to_string(sm), input, "-o", output});
  if (!run) return run.error();
  const std::string report = run.value().out + run.value().err;
  if (run.value().exit_code != 0) return Error{"ptxas cannot assemble this PTX:\n" + report};
  Result<std::string> cubin = read_file(output, kMaxCubinBytes);
  if (!cubin) return cubin.error();
  cache.store(key, {{}, report, *cubin}, started_ns);
  return Assembled{parse_ptxas_report(report), std::move(*cubin)};
}

Result<std::map<std::string, ResourceUsage, std::less<>>> ptxas_usage(const std::string& ptx, unsigned sm) {
  Result<Assembled> assembled = assemble(ptx, sm);
  if (!assembled) return assembled.error();
  return std::move(assembled->usage);
}

}  // namespace fullwarp::input
