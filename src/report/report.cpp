// Sums over the counters, and the one table that gives them names. Metrics of Nsight Compute's that count
// machine instructions stay out: PTX cannot give them.
#include "report/report.h"

#include <algorithm>

namespace fullwarp::report {

using mem::AccessKind;
using mem::AccessSpace;

AccessTotals& AccessTotals::operator+=(const AccessTotals& other) {
  requests += other.requests;
  lanes += other.lanes;
  bytes_asked += other.bytes_asked;
  sectors += other.sectors;
  ideal_sectors += other.ideal_sectors;
  lines += other.lines;
  wavefronts += other.wavefronts;
  ideal_wavefronts += other.ideal_wavefronts;
  least_wavefronts += other.least_wavefronts;
  atomic_sectors += other.atomic_sectors;
  return *this;
}

AccessTotals Metrics::total(AccessSpace space) const {
  AccessTotals sum;
  for (const AccessGroup& group : accesses)
    if (group.space == space) sum += group.totals;
  return sum;
}

AccessTotals Metrics::total(AccessSpace space, AccessKind kind) const {
  AccessTotals sum;
  for (const AccessGroup& group : accesses)
    if (group.space == space && group.kind == kind) sum += group.totals;
  return sum;
}

std::optional<diag::Level> Report::highest_level() const {
  std::optional<diag::Level> highest;
  for (const KernelReport& kernel : kernels)
    for (const diag::Finding& finding : kernel.findings)
      highest = highest ? std::max(*highest, finding.level) : finding.level;
  return highest;
}

std::string_view to_string(diag::Level level) {
  switch (level) {
    case diag::Level::note: return "note";
    case diag::Level::warning: return "warning";
    case diag::Level::error: break;
  }
  return "error";
}

namespace {

constexpr unsigned kAnyKind = ~0u;
constexpr unsigned bit(AccessKind kind) { return 1u << static_cast<unsigned>(kind); }

// One of Nsight Compute's metrics as a sum of one field over the accesses of one space and some kinds.
struct NamedSum {
  const char* name;
  AccessSpace space;
  unsigned kinds;
  uint64_t AccessTotals::*field;
};

constexpr NamedSum kNamedSums[] = {
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", AccessSpace::global, bit(AccessKind::load),
     &AccessTotals::requests},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", AccessSpace::global, bit(AccessKind::store),
     &AccessTotals::requests},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", AccessSpace::global, bit(AccessKind::atomic),
     &AccessTotals::requests},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", AccessSpace::global, bit(AccessKind::reduction),
     &AccessTotals::requests},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", AccessSpace::global, bit(AccessKind::load),
     &AccessTotals::sectors},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", AccessSpace::global, bit(AccessKind::store),
     &AccessTotals::sectors},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", AccessSpace::global, bit(AccessKind::atomic),
     &AccessTotals::atomic_sectors},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", AccessSpace::global, bit(AccessKind::reduction),
     &AccessTotals::atomic_sectors},
    {"memory_l1_tag_requests_global", AccessSpace::global, kAnyKind, &AccessTotals::lines},
    {"memory_l2_theoretical_sectors_global", AccessSpace::global, kAnyKind, &AccessTotals::sectors},
    {"memory_l2_theoretical_sectors_global_ideal", AccessSpace::global, kAnyKind,
     &AccessTotals::ideal_sectors},
    {"l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", AccessSpace::local, bit(AccessKind::load),
     &AccessTotals::requests},
    {"l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", AccessSpace::local, bit(AccessKind::store),
     &AccessTotals::requests},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", AccessSpace::local, bit(AccessKind::load),
     &AccessTotals::sectors},
    {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", AccessSpace::local, bit(AccessKind::store),
     &AccessTotals::sectors},
    {"memory_l2_theoretical_sectors_local", AccessSpace::local, kAnyKind, &AccessTotals::sectors},
    {"memory_l1_wavefronts_shared", AccessSpace::shared, kAnyKind, &AccessTotals::wavefronts},
    {"memory_l1_wavefronts_shared_ideal", AccessSpace::shared, kAnyKind, &AccessTotals::least_wavefronts},
};

// L1 takes an access to local memory word by word (the words of a lane lie a line apart).
uint64_t requests_each(const AccessGroup& group) {
  return group.space == AccessSpace::local ? (group.width_bytes + 3) / 4 : 1;
}

const char* own_name(AccessSpace space) {
  switch (space) {
    case AccessSpace::global: return "global";
    case AccessSpace::shared: return "shared";
    case AccessSpace::local: break;
  }
  return "local";
}

const char* own_name(AccessKind kind) {
  switch (kind) {
    case AccessKind::load: return "load";
    case AccessKind::store: return "store";
    case AccessKind::atomic: return "atomic";
    case AccessKind::reduction: return "reduction";
    case AccessKind::async_copy: return "async_copy";
    case AccessKind::matrix_load: return "matrix_load";
    case AccessKind::matrix_store: return "matrix_store";
    case AccessKind::tensor_load: break;
  }
  return "tensor_load";
}

// ptx.global.load.b32.requests, ...: by space, kind and width of a lane's access in bits.
void add_group(std::vector<Metric>& metrics, const AccessGroup& group) {
  const std::string prefix = std::string("ptx.") + own_name(group.space) + "." + own_name(group.kind) + ".b" +
                             std::to_string(group.width_bytes * 8) + ".";
  const AccessTotals& totals = group.totals;
  metrics.push_back({prefix + "requests", totals.requests});
  metrics.push_back({prefix + "lanes", totals.lanes});
  metrics.push_back({prefix + "bytes", totals.bytes_asked});
  if (group.space == AccessSpace::shared) {
    metrics.push_back({prefix + "wavefronts", totals.wavefronts});
    metrics.push_back({prefix + "ideal_wavefronts", totals.ideal_wavefronts});
  } else {
    metrics.push_back({prefix + "sectors", totals.sectors});
    metrics.push_back({prefix + "ideal_sectors", totals.ideal_sectors});
  }
}

}  // namespace

std::vector<Metric> named_metrics(const Metrics& metrics, bool zeros) {
  std::vector<Metric> named;
  for (const NamedSum& sum : kNamedSums) {
    uint64_t value = 0;
    for (const AccessGroup& group : metrics.accesses)
      if (group.space == sum.space && (sum.kinds & bit(group.kind)) != 0)
        value += group.totals.*sum.field * (sum.field == &AccessTotals::requests ? requests_each(group) : 1);
    if (value != 0 || zeros) named.push_back({sum.name, value});
  }
  named.push_back({"ptx.instructions", metrics.warp_instructions});
  named.push_back({"ptx.lanes", metrics.lane_instructions});
  named.push_back({"ptx.lanes_predicated_on", metrics.lanes_on});
  if (metrics.branches != 0 || zeros) {
    named.push_back({"ptx.branches", metrics.branches});
    named.push_back({"ptx.branches.divergent", metrics.divergent_branches});
  }
  const AccessTotals shared = metrics.total(AccessSpace::shared);
  if (shared.wavefronts != 0 || zeros)
    named.push_back({"ptx.shared.bank_conflicts", shared.wavefronts - shared.ideal_wavefronts});
  for (const AccessGroup& group : metrics.accesses) add_group(named, group);
  return named;
}

std::vector<Metric> named_metrics(const KernelReport& kernel) {
  std::vector<Metric> named = named_metrics(kernel.metrics, true);
  named.push_back({"launch__grid_size", kernel.grid.count()});
  named.push_back({"launch__block_size", kernel.block.count()});
  named.push_back({"launch__thread_count", kernel.grid.count() * kernel.block.count()});
  named.push_back({"launch__shared_mem_per_block_dynamic", kernel.dynamic_shared_bytes});
  named.push_back({"launch__shared_mem_per_block_static", kernel.static_shared_bytes});
  if (kernel.occupancy && kernel.occupancy->registers_per_thread != 0) {
    const Occupancy& occupancy = *kernel.occupancy;
    named.push_back({"launch__registers_per_thread", uint64_t{occupancy.registers_per_thread}});
    if (occupancy.max_warps_per_sm != 0)
      named.push_back({"sm__maximum_warps_per_active_cycle_pct",
                       100.0 * occupancy.warps_per_sm / occupancy.max_warps_per_sm});
  }
  return named;
}

}  // namespace fullwarp::report
