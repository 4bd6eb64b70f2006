// How fast the engine executes the gallery's kernels: warp instructions a second, from PTX kept in
// tests/golden.
//
// Each kernel runs in two modes, `counters` (bounds, alignment, all counters) and `default` (races and memory
// never written on top), with 1 and 2 threads. Times are CPU times of the whole process, so that
// items_per_second is per core and a busy machine disturbs little; real_time tells how threads scale.
// bench/pocl_bench.cpp has the same matrix products as native code; docs/benchmarks.md has the results.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "exec/exec.h"
#include "input/resolve.h"
#include "model/machine_accesses.h"
#include "ptx/parser.h"

namespace {

using namespace fullwarp;

enum class Fill { zero, floats, words };  // floats in [0, 1), words below `below`

struct Argument {
  uint64_t elements = 0;  // of a buffer; 0: `value` is passed
  Fill fill = Fill::zero;
  uint32_t below = 0;
  uint32_t value = 0;
};

Argument floats(uint64_t elements) { return {elements, Fill::floats, 0, 0}; }
Argument words(uint64_t elements, uint32_t below) { return {elements, Fill::words, below, 0}; }
Argument zeros(uint64_t elements) { return {elements, Fill::zero, 0, 0}; }
Argument value(uint32_t number) { return {0, Fill::zero, 0, number}; }

struct Kernel {
  std::string name;   // of the benchmark
  std::string file;   // under tests/golden/ptx, without .ptx
  std::string entry;  // as a launch names it
  Dim3 grid, block;
  std::vector<Argument> arguments;
  double flops = 0;  // of a launch
  std::string prepare =
      {};  // an entry run once by one thread, with the first three arguments and `prepare_n`
  uint32_t prepare_n = 0;
};

constexpr uint32_t kN = 512;  // the matrix products multiply kN x kN by kN x kN
constexpr double kProductFlops = 2.0 * kN * kN * kN;

Kernel product(const std::string& name, const std::string& file, const std::string& entry, Dim3 grid,
               Dim3 block) {
  const uint64_t count = uint64_t{kN} * kN;
  return {name,         "matmul/" + file,
          entry,        grid,
          block,        {floats(count), floats(count), zeros(count), value(kN), value(kN), value(kN)},
          kProductFlops};
}

Kernel image(const std::string& name, const std::string& file, const std::string& entry, Dim3 grid,
             Dim3 block) {
  const uint32_t side = 1024;
  const uint64_t count = uint64_t{side} * side;
  return {name, file, entry, grid, block, {floats(count), zeros(count), value(side), value(side)}};
}

// 4 channels to 16, of 256 x 256.
Kernel convolution(const std::string& name, const std::string& file, const std::string& entry, Dim3 grid,
                   Dim3 block) {
  constexpr uint32_t kInputs = 4, kOutputs = 16, kSide = 256;
  return {name,
          "conv2d/" + file,
          entry,
          grid,
          block,
          {floats(kInputs * kSide * kSide), floats(kOutputs * kInputs * 9), zeros(kOutputs * kSide * kSide),
           value(kInputs), value(kOutputs), value(kSide), value(kSide)}};
}

Kernel sum(const std::string& name, const std::string& file, const std::string& entry, uint32_t values,
           uint32_t blocks) {
  return {name,           "reduction/" + file, entry,
          {blocks, 1, 1}, {256, 1, 1},         {floats(values), value(values), zeros(1)}};
}

std::vector<Kernel> kernels() {
  constexpr uint32_t kValues = 1 << 22, kKeys = 512, kQueries = 1 << 17;
  return {
      product("product_naive", "02_naive", "matmul_naive", {kN / 32, kN / 8, 1}, {32, 8, 1}),
      product("product_tiled", "03_tiled", "matmul_tiled", {kN / 32, kN / 32, 1}, {32, 32, 1}),
      product("product_register_blocked", "05_register_blocked", "matmul_registers", {kN / 128, kN / 128, 1},
              {256, 1, 1}),
      product("product_vectorised", "06_vectorised",
              "matmul_double_buffered<TileShape<128, 128, 8>, true, false>", {kN / 128, kN / 128, 1},
              {256, 1, 1}),
      image("transpose_tile", "transpose/02_tile", "transpose", {32, 32, 1}, {32, 8, 1}),
      image("transpose_padded", "transpose/03_padded", "transpose_tile", {32, 32, 1}, {32, 8, 1}),
      convolution("conv3x3_naive", "01_naive", "conv3x3_naive", {8, 32, 16}, {32, 8, 1}),
      convolution("conv3x3_shared", "02_shared", "conv3x3_shared", {8, 32, 2}, {32, 8, 1}),
      convolution("conv3x3_registers", "03_registers", "conv3x3_registers", {4, 16, 1}, {16, 16, 1}),
      image("filter3x3", "conv2d/04_sliding_window", "filter3x3", {32, 32, 1}, {32, 4, 1}),
      sum("reduction_sequential", "03_sequential", "sum_shared", kValues, kValues / 256),
      sum("reduction_shuffle", "04_shuffle", "sum_shuffle", kValues, kValues / 256),
      sum("reduction_vectors", "05_vectors", "sum_vectors", kValues, kValues / 8192),
      {"tree_walk",
       "algorithms/tree_walk",
       "walk",
       {kQueries / 256, 1, 1},
       {256, 1, 1},
       {words(kKeys, 4096), zeros(kKeys), zeros(kKeys), words(kQueries, 4096), zeros(kQueries),
        value(kQueries)},
       0,
       "grow",
       kKeys},
      {"histogram_global",
       "algorithms/histogram",
       "histogram_global",
       {1024, 1, 1},
       {256, 1, 1},
       {words(kValues / 4, 0), zeros(64), value(kValues)}},
      {"histogram_shared",
       "algorithms/histogram",
       "histogram_shared",
       {1024, 1, 1},
       {256, 1, 1},
       {words(kValues / 4, 0), zeros(64), value(kValues)}},
  };
}

// A kernel ready to launch: its module, memory and packed arguments. `error` says why there is none.
struct Ready {
  ptx::Module module;
  exec::DeviceMemory memory;
  exec::Launch launch;
  std::vector<std::vector<mem::MachineAccess>> machine;
  std::string error;
};

int32_t entry_of(const ptx::Module& module, const std::string& entry) {
  const std::vector<input::KernelInfo> kernels = input::kernels_of(module, "");
  const Result<size_t> found = input::find_kernel(kernels, entry);
  return found ? kernels[*found].function : -1;
}

// Arguments of 4 and 8 bytes, each at a multiple of its size.
void append(std::vector<std::byte>& parameters, uint64_t bits, size_t bytes) {
  const size_t at = (parameters.size() + bytes - 1) / bytes * bytes;
  parameters.resize(at + bytes);
  std::memcpy(parameters.data() + at, &bits, bytes);
}

std::string place_arguments(const Kernel& kernel, Ready& ready) {
  std::mt19937 random(1);
  for (const Argument& argument : kernel.arguments) {
    if (argument.elements == 0) {
      append(ready.launch.parameters, argument.value, 4);
      continue;
    }
    const Result<uint64_t> address =
        ready.memory.allocate(fmt::format("buffer{}", ready.memory.size()), argument.elements * 4);
    if (!address) return address.error().to_string();
    std::byte* const data = ready.memory.buffer(ready.memory.size() - 1).data.get();
    for (uint64_t i = 0; i < argument.elements && argument.fill != Fill::zero; ++i) {
      uint32_t bits = static_cast<uint32_t>(random());
      if (argument.below != 0) bits %= argument.below;
      const float number = static_cast<float>(random() >> 8) * 0x1p-24f;
      if (argument.fill == Fill::floats) std::memcpy(&bits, &number, 4);
      std::memcpy(data + 4 * i, &bits, 4);
    }
    append(ready.launch.parameters, *address, 8);
  }
  return {};
}

std::string prepare(const Kernel& kernel, Ready& ready) {
  exec::Launch launch;
  launch.function = entry_of(ready.module, kernel.prepare);
  launch.grid = launch.block = {1, 1, 1};
  launch.parameters.assign(ready.launch.parameters.begin(), ready.launch.parameters.begin() + 24);
  append(launch.parameters, kernel.prepare_n, 4);
  const Result<profile::KernelProfile> profile = exec::run(ready.module, ready.memory, launch);
  return profile ? std::string() : profile.error().to_string();
}

void make_ready(const Kernel& kernel, Ready& ready) {
  const std::string path = fmt::format("{}/tests/golden/ptx/{}.ptx", FULLWARP_SOURCE_DIR, kernel.file);
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  Result<ptx::Module> parsed = ptx::parse(text.str(), path);
  if (!parsed) {
    ready.error = parsed.error().to_string();
    return;
  }
  ready.module = std::move(*parsed);
  if (Status loaded = ready.memory.load_module(ready.module); !loaded) {
    ready.error = loaded.error().to_string();
    return;
  }
  ready.launch.function = entry_of(ready.module, kernel.entry);
  if (ready.launch.function < 0) {
    ready.error = fmt::format("{}: no kernel '{}'", path, kernel.entry);
    return;
  }
  ready.launch.grid = kernel.grid;
  ready.launch.block = kernel.block;
  for (size_t f = 0; f < ready.module.functions.size(); ++f)
    ready.machine.push_back(model::machine_accesses(ready.module, static_cast<int32_t>(f)));
  ready.launch.machine = &ready.machine;
  ready.error = place_arguments(kernel, ready);
  if (ready.error.empty() && !kernel.prepare.empty()) ready.error = prepare(kernel, ready);
}

void execute(benchmark::State& state, const Kernel& kernel, bool check_races, unsigned threads) {
  Ready ready;
  make_ready(kernel, ready);
  if (!ready.error.empty()) {
    state.SkipWithError(ready.error.c_str());
    return;
  }
  exec::Options options;
  options.threads = threads;
  options.check_races = check_races;
  uint64_t warp_instructions = 0;
  for (auto _ : state) {
    const Result<profile::KernelProfile> profile =
        exec::run(ready.module, ready.memory, ready.launch, options);
    if (!profile || !profile->faults.empty()) {
      state.SkipWithError(profile ? "the kernel faults" : profile.error().message.c_str());
      return;
    }
    warp_instructions = profile->warp_instructions;
  }
  const double iterations = static_cast<double>(state.iterations());
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * warp_instructions));
  if (kernel.flops != 0)
    state.counters["GFLOP"] =
        benchmark::Counter(kernel.flops * 1e-9 * iterations, benchmark::Counter::kIsRate);
}

}  // namespace

int main(int argc, char** argv) {
  for (const Kernel& kernel : kernels()) {
    for (const bool check_races : {false, true}) {
      for (const unsigned threads : {1u, 2u}) {
        const std::string name =
            fmt::format("{}/{}/threads:{}", kernel.name, check_races ? "default" : "counters", threads);
        benchmark::RegisterBenchmark(
            name.c_str(), [=](benchmark::State& state) { execute(state, kernel, check_races, threads); })
            ->MeasureProcessCPUTime()
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
