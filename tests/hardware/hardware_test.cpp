// The gallery's counters and results against a real H200's (docs/fidelity.md). hw/measure.py wrote the two
// CSV files of measurements; every value here must equal the one there, except for the rows of
// known_differences.csv: those say what we give, what the GPU gave and why, so that a change on either side
// is noticed ("varies": depends on time).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "fullwarp/check.h"
#include "gpu/gpu.h"
#include "model/occupancy.h"

namespace fullwarp {
namespace {

const std::string kRoot = FULLWARP_SOURCE_DIR;

// Counters of our report, and what the occupancy model makes of the registers that ptxas gave the kernel.
constexpr const char* kCounters[] = {
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
    "memory_l1_wavefronts_shared",
    "memory_l1_wavefronts_shared_ideal",
    "memory_l1_tag_requests_global",
    "memory_l2_theoretical_sectors_global",
    "memory_l2_theoretical_sectors_global_ideal",
    "memory_l2_theoretical_sectors_local",
    "launch__shared_mem_per_block_static",
    "launch__shared_mem_per_block_dynamic",
};

// Results that a race decides.
constexpr std::pair<const char*, const char*> kDecidedByRaces[] = {
    {"examples/mistakes/01_lost_tail.cu", "c"},
    {"examples/mistakes/05_missing_barrier.cu", "out"},
    {"examples/mistakes/08_race_between_blocks.cu", "counts"},
};

using Row = std::map<std::string, std::string>;

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::vector<Row> read_csv(const std::string& name) {
  std::ifstream file(kRoot + "/tests/hardware/" + name);
  EXPECT_TRUE(file) << name;
  std::vector<Row> rows;
  std::vector<std::string> header;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> fields = fields_of(line);
    if (header.empty()) {
      header = fields;
      continue;
    }
    EXPECT_EQ(fields.size(), header.size()) << name << ": " << line;
    Row row;
    for (size_t i = 0; i < header.size() && i < fields.size(); ++i) row[header[i]] = fields[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

struct Launch {
  std::string kernel;
  std::map<std::string, std::string> metrics;
};

struct File {
  std::vector<Launch> launches;
  std::map<std::string, std::string> outputs;  // hash by buffer; those that were the same in both runs
};

std::map<std::string, File> measurements() {
  std::map<std::string, File> files;
  for (Row& row : read_csv("h200_gallery.csv")) {
    std::vector<Launch>& launches = files[row["file"]].launches;
    const size_t launch = std::stoul(row["launch"]);
    if (launches.size() <= launch) launches.resize(launch + 1);
    launches[launch].kernel = row["kernel"];
    launches[launch].metrics[row["metric"]] = row["value"];
  }
  for (Row& row : read_csv("h200_outputs.csv"))
    if (row["stable"] == "1") files[row["file"]].outputs[row["buffer"]] = row["fnv1a64"];
  for (const auto& [file, buffer] : kDecidedByRaces) files[file].outputs.erase(buffer);
  return files;
}

// Names the files of the gallery that have no measurements, so that nobody takes silence for agreement.
void name_unmeasured(const std::map<std::string, File>& measured) {
  namespace fs = std::filesystem;
  const fs::path gallery = fs::path(kRoot) / "tests/golden/ptx";
  std::set<std::string> unmeasured;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(gallery)) {
    if (entry.path().extension() != ".ptx") continue;
    const fs::path stem = fs::relative(entry.path(), gallery).replace_extension(".cu");
    const std::string source = "examples/" + stem.generic_string();
    if (!measured.contains(source)) unmeasured.insert(source);
  }
  for (const std::string& source : unmeasured)
    std::printf("%s: not measured on an H200 (hw/measure.py)\n", source.c_str());
}

report::Report check_file(const std::string& source) {
  CheckOptions options;
  const std::string stem = source.substr(source.find('/') + 1, source.rfind('.') - source.find('/') - 1);
  options.files = {kRoot + "/tests/golden/ptx/" + stem + ".ptx"};
  options.launch_file = kRoot + "/" + source;
  options.race_check = false;  // changes no counter
  options.rules = false;
  return check(options);
}

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

// Two values of a metric: counts as they are, percentages to the two digits Nsight Compute shows.
bool same(const std::string& ours, const std::string& theirs) {
  if (ours == theirs) return true;
  char* end_ours = nullptr;
  char* end_theirs = nullptr;
  const double a = std::strtod(ours.c_str(), &end_ours), b = std::strtod(theirs.c_str(), &end_theirs);
  return *end_ours == '\0' && *end_theirs == '\0' && std::abs(a - b) < 0.006;
}

class Comparison {
 public:
  Comparison() {
    for (Row& row : read_csv("known_differences.csv")) {
      EXPECT_FALSE(row["reason"].empty()) << row["file"] << " " << row["metric"];
      known_[{row["file"], row["launch"], row["metric"]}] = {row["ours"], row["hardware"]};
    }
  }

  void compare(const std::string& file, const std::string& launch, const std::string& metric,
               const std::string& ours, const std::string& theirs) {
    Count& count = counts_[metric.substr(0, metric.find(' '))];
    ++count.total;
    const auto known = known_.find({file, launch, metric});
    if (known != known_.end() && known->second.first == "varies") {
      known_.erase(known);  // depends on time; nothing to hold it to
    } else if (known != known_.end()) {
      EXPECT_TRUE(same(ours, known->second.first) && same(theirs, known->second.second))
          << file << " launch " << launch << " " << metric << ": " << ours << ", on the GPU " << theirs
          << "; known_differences.csv says " << known->second.first << " and " << known->second.second;
      EXPECT_FALSE(same(ours, theirs)) << file << " launch " << launch << " " << metric
                                       << ": equal now; strike it from known_differences.csv";
      known_.erase(known);
    } else {
      EXPECT_TRUE(same(ours, theirs))
          << file << " launch " << launch << " " << metric << ": " << ours << ", on the GPU " << theirs;
    }
    count.equal += same(ours, theirs);
  }

  void finish() const {
    for (const auto& [key, values] : known_)
      ADD_FAILURE() << "known_differences.csv: nothing compared for " << std::get<0>(key) << " launch "
                    << std::get<1>(key) << " " << std::get<2>(key);
    Count all;
    for (const auto& [metric, count] : counts_) {
      std::printf("%-52s %5u of %5u equal\n", metric.c_str(), count.equal, count.total);
      all.equal += count.equal;
      all.total += count.total;
    }
    std::printf("%-52s %5u of %5u equal\n", "all", all.equal, all.total);
  }

 private:
  struct Count {
    unsigned equal = 0, total = 0;
  };
  std::map<std::tuple<std::string, std::string, std::string>, std::pair<std::string, std::string>> known_;
  std::map<std::string, Count> counts_;
};

void compare_counters(Comparison& comparison, const std::string& file, const std::string& launch,
                      const report::KernelReport& ours, const Launch& theirs) {
  std::map<std::string, std::string> values;
  for (const report::Metric& metric : report::named_metrics(ours))
    values[metric.name] = std::visit([](auto value) { return fmt::format("{}", value); }, metric.value);
  for (const char* counter : kCounters)
    comparison.compare(file, launch, counter, values[counter], theirs.metrics.at(counter));
}

void compare_occupancy(Comparison& comparison, const std::string& file, const std::string& launch,
                       const report::KernelReport& ours, const Launch& theirs) {
  model::BlockUse use;
  use.threads = static_cast<uint32_t>(ours.block.count());
  use.static_shared_bytes = ours.static_shared_bytes;
  use.dynamic_shared_bytes = ours.dynamic_shared_bytes;
  use.thread_registers = static_cast<uint32_t>(std::stoul(theirs.metrics.at("launch__registers_per_thread")));
  const gpu::Gpu* gpu = gpu::find_gpu("h200");
  ASSERT_NE(gpu, nullptr);
  const model::Occupancy found = model::occupancy(*gpu->sm, use);
  const auto compare = [&](const char* metric, auto value) {
    comparison.compare(file, launch, metric, fmt::format("{}", value), theirs.metrics.at(metric));
  };
  compare("sm__maximum_warps_per_active_cycle_pct", 100.0 * found.fraction);
  compare("launch__occupancy_limit_warps", found.limit_warps);
  compare("launch__occupancy_limit_blocks", found.limit_blocks);
  compare("launch__occupancy_limit_registers", found.limit_registers);
  // Nsight Compute counts by the part of L1 that the driver gave the launch, not by the largest there is.
  ASSERT_NE(found.block_shared_bytes, 0u);
  compare("launch__occupancy_limit_shared_mem",
          std::stoull(theirs.metrics.at("launch__shared_mem_config_size")) / found.block_shared_bytes);
}

TEST(Hardware, GalleryEqualsTheH200) {
  Comparison comparison;
  const std::map<std::string, File> files = measurements();
  name_unmeasured(files);
  for (const auto& [file, measured] : files) {
    const report::Report report = check_file(file);
    std::map<std::string, std::string> hashes;
    size_t next = 0;  // launches that cannot run yet leave no kernel
    for (size_t launch = 0; launch < measured.launches.size(); ++launch) {
      const Launch& theirs = measured.launches[launch];
      const bool ran = next < report.kernels.size() &&
                       without_spaces(report.kernels[next].name) == without_spaces(theirs.kernel);
      comparison.compare(file, std::to_string(launch), "launch", ran ? "ran" : "did not run", "ran");
      if (!ran) continue;
      const report::KernelReport& ours = report.kernels[next++];
      compare_counters(comparison, file, std::to_string(launch), ours, theirs);
      compare_occupancy(comparison, file, std::to_string(launch), ours, theirs);
      for (const report::Output& output : ours.outputs)
        hashes[output.buffer] = fmt::format("{:016x}", output.hash);
    }
    for (const auto& [buffer, hash] : measured.outputs)
      if (const auto ours = hashes.find(buffer); ours != hashes.end())
        comparison.compare(file, "", "output " + buffer, ours->second, hash);
  }
  comparison.finish();
}

}  // namespace
}  // namespace fullwarp
