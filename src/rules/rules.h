// The rules: from a kernel's profile to findings. A rule is four things together: its file here, its line in
// rules.def, its page in docs/rules/ (compiled into the program for `fullwarp explain`), and a pair of
// kernels in tests/rules/kernels/ on which it must fire and must stay silent. docs/adding-a-rule.md walks
// through one.
//
//   rules::Options options;
//   Status ok = options.set("bank-conflict.min-share=0.01");
//   std::vector<diag::Finding> findings = rules::run_rules({module, profile, sources, "transpose", options});
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diag/finding.h"
#include "diag/source_cache.h"
#include "profile/profile.h"
#include "ptx/module.h"

namespace fullwarp::gpu {
struct Gpu;
}

namespace fullwarp::rules {

// A number that decides whether a rule speaks. Set on the command line as RULE.NAME=VALUE.
struct Threshold {
  std::string_view name;
  double value = 0;  // default
  std::string_view description;
};

struct RuleInfo {
  std::string_view id;                       // "bank-conflict"
  std::string_view summary;                  // one line, for lists and SARIF
  diag::Level level = diag::Level::warning;  // default; a finding may be weaker where its page says so
  std::span<const Threshold> thresholds;
};

// Every rule, in the order in which lists show them: errors in the kernel last.
std::span<const RuleInfo> rule_infos();

// The page of a rule as Markdown; empty for an unknown id.
std::string_view explain(std::string_view rule_id);

// Settings by rule. `RULE.THRESHOLD=NUMBER` changes a threshold; `RULE.level=off|note|warning|error` changes
// what its findings weigh (or drops them). An unknown rule, threshold or value is an error that lists the
// known ones.
class Options {
 public:
  Status set(std::string_view assignment);
  double threshold(std::string_view rule, std::string_view name) const;  // the default unless set
  bool off(std::string_view rule) const;
  std::optional<diag::Level> level(std::string_view rule) const;  // as set; empty: the finding's own

 private:
  std::map<std::string, double, std::less<>> thresholds_;  // by "rule.name"
  std::map<std::string, std::optional<diag::Level>, std::less<>> levels_;
};

// What ptxas or a cubin says about the kernel.
struct ResourceUsage {
  uint32_t registers_per_thread = 0;  // 0: unknown
  uint32_t spill_store_bytes = 0, spill_load_bytes = 0;
};

struct RuleInput {
  const ptx::Module& module;
  const profile::KernelProfile& profile;
  diag::SourceCache& sources;
  std::string kernel;  // demangled name, for the findings
  const Options& options;
  const gpu::Gpu* gpu = nullptr;  // null: low-occupancy says nothing
  std::optional<ResourceUsage> resources = {};
};

// Errors first, then by place. At most one finding for each rule, line and cause: instructions of one line
// that suffer from the same thing (an unrolled loop's loads) are summed.
std::vector<diag::Finding> run_rules(const RuleInput& input);

// A failed `expect` statement.
struct Mismatch {
  std::string kernel;  // the last kernel launched before the statement
  diag::Place statement;
  std::string buffer;
  uint64_t compared = 0, different = 0;      // elements
  uint64_t first_index = 0;                  // the first element that differs, in the buffer
  std::string actual, expected;              // its two values, as text
  std::optional<double> largest_difference;  // absolute; only for numbers that can be subtracted
  std::optional<double> rtol, atol;          // of `~`; empty for `=`
};
diag::Finding finding_for_mismatch(const Mismatch& mismatch, const Options& options = {});

}  // namespace fullwarp::rules
