// A report as data: what one `fullwarp check` found, for every kernel launch it ran. The renderers in
// render.h turn it into text, JSON, CSV, SARIF or HTML; nothing here points into a module or a profile, so
// a report outlives both. metrics.h makes the counters from a profile; src/api/ fills in the rest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/warp.h"
#include "diag/finding.h"
#include "mem/warp_access.h"

namespace fullwarp::report {

// Sums over machine accesses, each as in mem::AccessCost. Sectors, ideal sectors and lines belong to global
// and local memory, atomic sectors to global atomics, wavefronts to shared memory; the others are 0.
struct AccessTotals {
  uint64_t requests = 0;
  uint64_t lanes = 0;
  uint64_t bytes_asked = 0;
  uint64_t sectors = 0, ideal_sectors = 0, lines = 0;
  uint64_t wavefronts = 0, ideal_wavefronts = 0;
  uint64_t least_wavefronts = 0, atomic_sectors = 0;

  AccessTotals& operator+=(const AccessTotals& other);
  bool operator==(const AccessTotals&) const = default;
};

struct AccessGroup {
  mem::AccessSpace space = mem::AccessSpace::global;
  mem::AccessKind kind = mem::AccessKind::load;
  uint32_t width_bytes = 4;
  AccessTotals totals;
};

using MetricValue = std::variant<uint64_t, double>;
struct Metric {
  std::string name;
  MetricValue value;
};

// The counters of a kernel, or of one source line of it.
struct Metrics {
  uint64_t warp_instructions = 0;  // PTX instructions, counted once per warp
  uint64_t lane_instructions = 0;  // ... once per active lane, before the guard predicate
  uint64_t lanes_on = 0;           // ... once per active lane whose guard predicate holds
  uint64_t branches = 0, divergent_branches = 0;
  std::vector<AccessGroup> accesses;  // ordered by space, kind, width; no two alike

  AccessTotals total(mem::AccessSpace space) const;
  AccessTotals total(mem::AccessSpace space, mem::AccessKind kind) const;
};

struct LineMetrics {
  std::string file;
  uint32_t line = 0;
  Metrics metrics;
};

struct Buffer {
  std::string name;
  uint64_t bytes = 0;
  uint64_t loaded_bytes_asked = 0, stored_bytes_asked = 0;
  uint64_t loaded_bytes_touched = 0, stored_bytes_touched = 0;
  uint64_t blocks_loading = 0;
  double times_loaded = 0;  // bytes asked for by loads / distinct bytes loaded; 0 if nothing was loaded
};

// A buffer the kernel stored to, as it stood after the launch.
struct Output {
  std::string buffer, type;
  uint64_t count = 0;
  uint64_t hash = 0;  // FNV-1a, 64 bits, over the bytes
  uint64_t nan = 0;
  std::optional<double> min, max;  // of the values that are not NaN
};

struct Occupancy {
  uint32_t blocks_per_sm = 0, warps_per_sm = 0, max_warps_per_sm = 0;
  uint32_t registers_per_thread = 0;  // 0: unknown, and then not counted as a limit
  std::string limiter;                // "block size", "shared memory", "registers", ...
};

struct KernelReport {
  std::string name;    // demangled
  std::string file;    // the file that was checked
  std::string launch;  // as written
  Dim3 grid, block;
  uint64_t dynamic_shared_bytes = 0, static_shared_bytes = 0, local_bytes_per_thread = 0;
  uint64_t blocks_run = 0;
  Metrics metrics;
  std::vector<LineMetrics> lines;  // by file and line
  std::vector<Buffer> buffers;
  std::vector<diag::Finding> findings;
  uint64_t suppressed = 0;  // findings left out because of `fullwarp-ignore` comments
  std::vector<Output> outputs;
  std::optional<Occupancy> occupancy;
  std::string printed;  // what the kernel's printf wrote
};

struct Print {  // the answer to a `print` statement
  std::string file;
  uint32_t line = 0;
  std::string text;  // "out[0:4] = 0 1 2 3"
};

struct Report {
  std::string gpu;
  std::vector<KernelReport> kernels;
  std::vector<Error> errors;  // inputs that could not be used, launches that could not run
  std::vector<Print> prints;
  std::vector<std::string> compiler_messages;  // warnings of compilers that succeeded
  std::map<std::string, std::string> sources;  // text of the files that findings point at, by name

  // The highest level among the findings; empty if there are none.
  std::optional<diag::Level> highest_level() const;
};

std::string_view to_string(diag::Level level);

// Counters by name, in a fixed order. Nsight Compute's names where the value is meant to equal its value,
// `ptx.*` elsewhere; docs/json.md lists them. `zeros`: also those of Nsight Compute's names that are 0.
std::vector<Metric> named_metrics(const Metrics& metrics, bool zeros);
// The above, and what the launch itself says (launch__grid_size, ...).
std::vector<Metric> named_metrics(const KernelReport& kernel);

}  // namespace fullwarp::report
