#include "api/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "api/buffers.h"
#include "api/ignore.h"
#include "api/occupancy.h"
#include "gpu/gpu.h"
#include "model/machine_accesses.h"
#include "report/metrics.h"

namespace fullwarp::api {

namespace {

constexpr uint64_t kMostPrinted = 4096;  // elements of one `print`

// From the command line, file names are relative to the working directory; in a file, to the file.
std::string folder_of(const input::Statement& statement) {
  return statement.file.empty() || statement.file.starts_with("--")
             ? std::string()
             : std::filesystem::path(statement.file).parent_path().string();
}

// What the driver checks before it starts a kernel. Static shared memory is known exactly only after the run.
Status check_limits(const ptx::Function& kernel, const input::KernelLaunch& launch,
                    uint64_t static_shared_bytes, const gpu::Gpu& gpu, uint32_t registers) {
  const Result<gpu::LaunchCheck> check = gpu::check_launch(
      gpu, launch.grid, launch.block, static_shared_bytes, launch.dynamic_shared_bytes, registers);
  if (!check) return check.error();
  const Dim3& block = launch.block;
  if (kernel.req_ntid && *kernel.req_ntid != block) {
    const Dim3& required = *kernel.req_ntid;
    return Error{fmt::format("the kernel requires blocks of ({}, {}, {}) threads, not ({}, {}, {})",
                             required.x, required.y, required.z, block.x, block.y, block.z)};
  }
  if (kernel.max_ntid && block.count() > kernel.max_ntid->count()) {
    return Error{fmt::format("a block of {} threads is beyond the kernel's __launch_bounds__ of {}",
                             block.count(), kernel.max_ntid->count())};
  }
  return Ok{};
}

// The elements that a statement speaks of, as bytes.
Result<std::span<const std::byte>> part(const Workspace& workspace, const TypedBuffer& buffer,
                                        const std::optional<std::pair<uint64_t, uint64_t>>& range) {
  const std::span<const std::byte> bytes = workspace.bytes(buffer);
  if (!range) return bytes;
  if (range->second > buffer.count)
    return Error{fmt::format("'{}' has {} elements, not {}", buffer.name, buffer.count, range->second)};
  const uint64_t width = input::size_bytes(buffer.type);
  return bytes.subspan(range->first * width, (range->second - range->first) * width);
}

}  // namespace

bool ScriptRunner::begin() {
  const Status loaded = workspace_.load(input_.module);
  if (loaded) return true;
  Error error = loaded.error();
  if (error.file.empty()) error.file = input_.file;
  report_.errors.push_back(std::move(error));
  return false;
}

void ScriptRunner::run(const input::Statement& statement) {
  statement_ = &statement;
  base_dir_ = folder_of(statement);
  const Status status = std::visit([this](const auto& value) { return run_value(value); }, statement.value);
  if (status) return;
  Error error = status.error();
  if (error.file.empty()) {
    error.file = statement.file;
    error.line = statement.line;
    if (error.column == 0) error.column = statement.column;
  }
  report_.errors.push_back(std::move(error));
}

Status ScriptRunner::run_value(const input::DefineBuffer& define) {
  return workspace_.define(define.name, define.spec, base_dir_);
}

Status ScriptRunner::run_value(const input::SetSymbol& symbol) {
  return workspace_.set_symbol(symbol, base_dir_);
}

const std::vector<std::vector<mem::MachineAccess>>& ScriptRunner::machine_accesses() {
  if (machine_.empty())
    for (size_t f = 0; f < input_.module.functions.size(); ++f) {
      const cubin::Kernel* code =
          input_.machine_code ? input_.machine_code->find(input_.module.functions[f].name) : nullptr;
      machine_.push_back(model::machine_accesses(input_.module, static_cast<int32_t>(f), code));
    }
  return machine_;
}

Status ScriptRunner::run_value(const input::KernelLaunch& launch) {
  any_launch_ = true;
  const Result<size_t> found = input::find_kernel(input_.kernels, launch.kernel);
  if (!found) return found.error();
  const input::KernelInfo& info = input_.kernels[*found];
  launched_.insert(info.function);
  const ptx::Function& kernel = input_.module.functions[static_cast<size_t>(info.function)];
  std::optional<rules::ResourceUsage> resources;
  if (const auto known = input_.resources.find(kernel.name); known != input_.resources.end())
    resources = known->second;
  const gpu::Gpu& gpu = *input_.settings.gpu;
  const uint32_t registers = resources ? resources->registers_per_thread : 0;
  if (Status status = check_limits(kernel, launch, 0, gpu, registers); !status) return status;
  Result<std::vector<std::byte>> parameters =
      input::pack_arguments(info, launch, workspace_.argument_memory(base_dir_));
  if (!parameters) return parameters.error();

  exec::Options options = input_.settings.execution;
  if (input_.settings.progress != nullptr) {
    const uint64_t blocks = launch.grid.count();
    input_.settings.progress->begin(launch.kernel,
                                    options.max_blocks == 0 ? blocks : std::min(blocks, options.max_blocks));
    options.blocks_done = &input_.settings.progress->blocks_done;
  }
  Result<profile::KernelProfile> profile =
      exec::run(input_.module, workspace_.memory(),
                {info.function, launch.grid, launch.block, launch.dynamic_shared_bytes,
                 std::move(*parameters), &machine_accesses()},
                options);
  if (!profile) return profile.error();
  if (Status status = check_limits(kernel, launch, profile->static_shared_bytes, gpu, registers); !status)
    return status;
  add_kernel(*profile, info, launch, resources);
  return Ok{};
}

void ScriptRunner::add_kernel(const profile::KernelProfile& profile, const input::KernelInfo& info,
                              const input::KernelLaunch& launch,
                              const std::optional<rules::ResourceUsage>& resources) {
  report::KernelReport kernel;
  kernel.name = info.name;
  if (input_.settings.kernel && !std::regex_search(kernel.name, *input_.settings.kernel)) return;
  kernel.file = input_.file;
  kernel.launch = statement_->text;
  kernel.grid = profile.grid;
  kernel.block = profile.block;
  kernel.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  kernel.static_shared_bytes = profile.static_shared_bytes;
  kernel.local_bytes_per_thread = profile.local_bytes_per_thread;
  kernel.blocks_run = profile.blocks_run;
  kernel.metrics = report::kernel_metrics(profile);
  kernel.lines = report::line_metrics(profile);
  for (report::LineMetrics& line : kernel.lines) line.file = shown(line.file);
  kernel.buffers = report::buffers_of(profile);
  for (report::Buffer& buffer : kernel.buffers) buffer.name = input::demangle(buffer.name);
  kernel.printed = profile.printed;

  kernel.occupancy = occupancy_of(*input_.settings.gpu, profile, resources);
  add_outputs(kernel, profile);

  const rules::RuleInput rule_input{
      input_.module,       profile,  input_.sources, kernel.name, input_.settings.rules,
      input_.settings.gpu, resources};
  for (diag::Finding& finding : rules::run_rules(rule_input)) {
    // Without rules only what is wrong with the kernel is reported: its faults.
    if (input_.settings.run_rules || finding.level == diag::Level::error)
      add_finding(kernel, std::move(finding));
  }
  report_.kernels.push_back(std::move(kernel));
}

void ScriptRunner::add_finding(report::KernelReport& kernel, diag::Finding finding) {
  if (is_ignored(finding, input_.sources)) {
    ++kernel.suppressed;
    return;
  }
  const std::string file = finding.place.file;
  finding.place.file = shown(file);
  if (report_.sources.count(finding.place.file) == 0) {
    if (const std::string_view text = input_.sources.text(file); !text.empty())
      report_.sources[finding.place.file] = text;
  }
  for (diag::Note& note : finding.notes)
    if (note.place) note.place->file = shown(note.place->file);
  kernel.findings.push_back(std::move(finding));
}

void ScriptRunner::add_outputs(report::KernelReport& kernel, const profile::KernelProfile& profile) const {
  for (const profile::BufferCounters& counters : profile.buffers) {
    if (counters.stored_bytes_touched == 0) continue;
    const int64_t index = workspace_.memory().find(counters.address);
    if (index < 0) continue;
    const TypedBuffer buffer = workspace_.typed(static_cast<size_t>(index));
    kernel.outputs.push_back(summarise(buffer.name, buffer.type, workspace_.bytes(buffer)));
  }
}

// A compiler names files by absolute paths, or by its own copy's: the user sees the name given to us, or one
// relative to the working directory.
std::string ScriptRunner::shown(const std::string& file) const {
  namespace fs = std::filesystem;
  std::error_code error;
  if (file.empty() || file == input_.file) return file;
  const fs::path absolute = fs::absolute(file, error).lexically_normal();
  if (error) return file;
  if (absolute == fs::absolute(input_.file, error).lexically_normal()) return input_.file;
  const fs::path relative = absolute.lexically_relative(fs::current_path(error));
  return error || relative.empty() || relative.native().starts_with("..") ? file : relative.string();
}

Result<const TypedBuffer*> ScriptRunner::buffer(const std::string& name) const {
  const TypedBuffer* found = workspace_.find(name);
  if (found != nullptr) return found;
  return Error{"there is no buffer '" + name + "'"};
}

// The launch that a wrong value is the fault of: the last one that stored to the buffer, else the last one.
report::KernelReport* ScriptRunner::last_writer(const std::string& buffer) {
  for (size_t i = report_.kernels.size(); i > first_kernel_; --i)
    for (const report::Output& output : report_.kernels[i - 1].outputs)
      if (output.buffer == buffer) return &report_.kernels[i - 1];
  return report_.kernels.size() > first_kernel_ ? &report_.kernels.back() : nullptr;
}

Status ScriptRunner::run_value(const input::Expect& expect) {
  if (!any_launch_) return Error{"'expect' stands before any launch"};
  const Result<const TypedBuffer*> got = buffer(expect.buffer);
  if (!got) return got.error();
  const TypedBuffer& actual = **got;
  const Result<std::span<const std::byte>> actual_bytes = part(workspace_, actual, expect.range);
  if (!actual_bytes) return actual_bytes.error();

  input::BufferData made;
  std::span<const std::byte> expected;
  input::ElementType expected_type = actual.type;
  const uint64_t width = input::size_bytes(actual.type);
  if (expect.reference.spec) {
    input::BufferSpec spec = *expect.reference.spec;
    const bool of_own_type = spec.fill.kind == input::Fill::Kind::file && spec.count == 0;
    if (of_own_type) spec.type = actual.type;
    Result<input::BufferData> data = input::make_buffer(spec, 1, base_dir_);
    if (!data) return data.error();
    made = std::move(*data);
    expected = made.bytes;
    expected_type = made.type;
  } else {
    const Result<const TypedBuffer*> reference = buffer(expect.reference.name);
    if (!reference) return reference.error();
    expected = workspace_.bytes(**reference);
    expected_type = (*reference)->type;
  }
  if (expected_type != actual.type) {
    return Error{fmt::format("'{}' holds {} values, what it is compared with {}", expect.buffer,
                             input::to_string(actual.type), input::to_string(expected_type))};
  }
  const int64_t offset = expect.reference.offset_elements;
  const uint64_t expected_count = expected.size() / width;
  if (offset < 0 || static_cast<uint64_t>(offset) > expected_count)
    return Error{fmt::format("the reference has {} elements; its offset is {}", expected_count, offset)};
  expected = expected.subspan(static_cast<size_t>(offset) * width);
  // A longer reference is cut to a range's length, so that one file can serve several statements.
  if (expect.range && expected.size() > actual_bytes->size()) expected = expected.first(actual_bytes->size());
  if (expected.size() != actual_bytes->size()) {
    return Error{fmt::format("'{}' gives {} elements to compare, its reference {}", expect.buffer,
                             actual_bytes->size() / width, expected.size() / width)};
  }
  std::optional<Tolerance> tolerance;
  if (!expect.exact) tolerance = Tolerance{expect.rtol, expect.atol};
  const Comparison comparison = compare(*actual_bytes, expected, actual.type, tolerance);
  if (comparison.different == 0) return Ok{};
  report::KernelReport* const writer = last_writer(expect.buffer);
  if (writer == nullptr) return Ok{};  // no launch that could have written it is reported
  report::KernelReport& kernel = *writer;
  rules::Mismatch mismatch;
  mismatch.kernel = kernel.name;
  mismatch.statement = {statement_->file, statement_->line, statement_->column, 0};
  mismatch.buffer = expect.buffer;
  mismatch.compared = comparison.compared;
  mismatch.different = comparison.different;
  mismatch.first_index = comparison.first_index + (expect.range ? expect.range->first : 0);
  mismatch.actual = text_at(*actual_bytes, actual.type, comparison.first_index);
  mismatch.expected = text_at(expected, actual.type, comparison.first_index);
  mismatch.largest_difference = comparison.largest_difference;
  if (tolerance) {
    mismatch.rtol = tolerance->rtol;
    mismatch.atol = tolerance->atol;
  }
  add_finding(kernel, rules::finding_for_mismatch(mismatch, input_.settings.rules));
  return Ok{};
}

// A checked source may come from anybody: what its comments save stays in its own folder.
Status ScriptRunner::run_value(const input::Save& save) {
  const Result<const TypedBuffer*> found = buffer(save.buffer);
  if (!found) return found.error();
  const std::filesystem::path path(save.path);
  if (!statement_->file.starts_with("--")) {
    const bool leaves =
        path.is_absolute() || std::any_of(path.begin(), path.end(), [](const auto& p) { return p == ".."; });
    if (leaves)
      return Error{"a file saves into its own folder only, not to '" + save.path + "'",
                   {},
                   0,
                   0,
                   "pass the statement with --launch to save anywhere"};
  }
  if (path.extension() != ".npy") return Error{"'" + save.path + "' does not end in .npy"};
  const TypedBuffer& buffer = **found;
  const std::span<const std::byte> bytes = workspace_.bytes(buffer);
  return input::write_npy((std::filesystem::path(base_dir_) / path).string(),
                          {buffer.type, {buffer.count}, std::vector<std::byte>(bytes.begin(), bytes.end())});
}

Status ScriptRunner::run_value(const input::Print& print) {
  const Result<const TypedBuffer*> found = buffer(print.buffer);
  if (!found) return found.error();
  const Result<std::span<const std::byte>> bytes = part(workspace_, **found, print.range);
  if (!bytes) return bytes.error();
  const uint64_t first = print.range ? print.range->first : 0;
  const uint64_t count = bytes->size() / input::size_bytes((*found)->type);
  std::string text = fmt::format("{}[{}:{}] =", print.buffer, first, first + count);
  for (uint64_t i = 0; i < std::min(count, kMostPrinted); ++i)
    text += " " + text_at(*bytes, (*found)->type, i);
  if (count > kMostPrinted) text += " ...";
  report_.prints.push_back({statement_->file, statement_->line, std::move(text)});
  return Ok{};
}

}  // namespace fullwarp::api
