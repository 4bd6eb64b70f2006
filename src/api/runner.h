// Runs launch statements on a module: buffers are made, kernels executed, results compared, and every launch
// becomes a KernelReport. A statement that cannot run is an error in the report; the next ones still run.
#pragma once

#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>

#include "api/workspace.h"
#include "cubin/cubin.h"
#include "diag/source_cache.h"
#include "exec/exec.h"
#include "fullwarp/progress.h"
#include "mem/machine_access.h"
#include "report/report.h"
#include "rules/rules.h"

namespace fullwarp::api {

struct RunSettings {
  exec::Options execution;
  rules::Options rules;
  bool run_rules = true;
  const gpu::Gpu* gpu = nullptr;     // never null when a script runs
  std::optional<std::regex> kernel;  // launches of other kernels run, since later ones may need what they
                                     // write, but are not reported
  Progress* progress = nullptr;
};

// What the compiler or a cubin says of a kernel, by mangled name.
using ResourceTable = std::map<std::string, rules::ResourceUsage, std::less<>>;

// Everything a runner needs of a loaded file. The references outlive the runner.
struct RunInput {
  const ptx::Module& module;
  const std::vector<input::KernelInfo>& kernels;
  std::string file;  // as the user names it
  const ResourceTable& resources;
  const cubin::Cubin* machine_code;  // null: accesses are counted by rules
  diag::SourceCache& sources;
  const RunSettings& settings;
};

class ScriptRunner {
 public:
  ScriptRunner(const RunInput& input, report::Report& report)
      : input_(input), report_(report), first_kernel_(report.kernels.size()) {}

  // Gives the module's variables their memory. False: an error was reported, and nothing can run.
  bool begin();
  void run(const input::Statement& statement);
  // The report was handed out and is empty again: `expect` now speaks of launches to come.
  void begin_report() { first_kernel_ = 0; }

  Workspace& workspace() { return workspace_; }
  // Entries that some launch named, by index in Module::functions.
  const std::set<int32_t>& launched() const { return launched_; }

 private:
  Status run_value(const input::DefineBuffer& define);
  Status run_value(const input::SetSymbol& symbol);
  Status run_value(const input::KernelLaunch& launch);
  Status run_value(const input::Expect& expect);
  Status run_value(const input::Save& save);
  Status run_value(const input::Print& print);

  // What the compiler makes of the module's memory instructions; worked out at the first launch.
  const std::vector<std::vector<mem::MachineAccess>>& machine_accesses();
  void add_kernel(const profile::KernelProfile& profile, const input::KernelInfo& info,
                  const input::KernelLaunch& launch, const std::optional<rules::ResourceUsage>& resources);
  void add_finding(report::KernelReport& kernel, diag::Finding finding);
  void add_outputs(report::KernelReport& kernel, const profile::KernelProfile& profile) const;
  std::string shown(const std::string& file) const;
  report::KernelReport* last_writer(const std::string& buffer);
  Result<const TypedBuffer*> buffer(const std::string& name) const;

  const RunInput input_;
  report::Report& report_;
  Workspace workspace_;
  const input::Statement* statement_ = nullptr;  // the one that runs
  std::string base_dir_;                         // for its file names
  std::set<int32_t> launched_;
  std::vector<std::vector<mem::MachineAccess>> machine_;
  size_t first_kernel_ = 0;  // of this script, in the report
  bool any_launch_ = false;
};

}  // namespace fullwarp::api
