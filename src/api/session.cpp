// The public Session, over the runner that `check` uses too.
#include "fullwarp/session.h"

#include <cstring>

#include "api/load.h"
#include "api/settings.h"

namespace fullwarp {

struct Program::Impl {
  api::LoadedPointer loaded;
};

Result<Program> Program::load(const std::string& path, const LoadOptions& options) {
  Result<api::LoadedPointer> loaded = api::load_file(path, options);
  if (!loaded) return loaded.error();
  return Program(std::make_shared<const Impl>(Impl{std::move(*loaded)}));
}

Result<Program> Program::from_ptx(std::string text, const std::string& name) {
  Result<api::LoadedPointer> loaded = api::load_ptx(std::move(text), name);
  if (!loaded) return loaded.error();
  return Program(std::make_shared<const Impl>(Impl{std::move(*loaded)}));
}

std::vector<std::string> Program::kernels() const {
  std::vector<std::string> names;
  for (const input::KernelInfo& kernel : impl_->loaded->kernels) names.push_back(kernel.name);
  return names;
}

// What keeps a session from working (wrong options, no memory for the module's variables) is told at its
// uses.
struct Session::Impl {
  Impl(api::LoadedPointer program, const CheckOptions& check_options)
      : loaded(std::move(program)), gpu(check_options.gpu) {
    Result<api::RunSettings> made = api::settings_of(check_options, nullptr);
    if (!made) {
      broken = made.error();
      return;
    }
    settings = std::move(*made);
    runner = std::make_unique<api::ScriptRunner>(
        api::RunInput{loaded->module, loaded->kernels, loaded->file, loaded->resources,
                      loaded->machine_code ? &*loaded->machine_code : nullptr, sources, settings},
        report);
    if (!runner->begin()) broken = report.errors.front();
  }

  report::Report run(std::string_view statements) {
    report = {};
    report.gpu = gpu;
    if (broken) {
      report.errors = {*broken};
      return std::move(report);
    }
    Result<input::Script> script = input::parse_launches(statements, "");
    if (!script) {
      report.errors = {script.error()};
      return std::move(report);
    }
    runner->begin_report();
    input::assign_default_seeds(&*script);
    for (const input::Statement& statement : *script) runner->run(statement);
    return std::move(report);
  }

  api::LoadedPointer loaded;
  std::string gpu;
  api::RunSettings settings;
  diag::SourceCache sources;
  report::Report report;  // the runner's; handed out and begun anew by every run
  std::unique_ptr<api::ScriptRunner> runner;
  std::optional<Error> broken;
};

Session::Session(const Program& program, const CheckOptions& options)
    : impl_(std::make_unique<Impl>(program.impl_->loaded, options)) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

report::Report Session::run(std::string_view statements) { return impl_->run(statements); }

Result<report::KernelReport> Session::launch(std::string_view statement) {
  report::Report report = impl_->run(statement);
  if (!report.errors.empty()) return report.errors.front();
  if (report.kernels.size() != 1) return Error{"not one launch: '" + std::string(statement) + "'"};
  return std::move(report.kernels.front());
}

Status Session::define_bytes(const std::string& name, std::string_view type,
                             std::span<const std::byte> bytes) {
  if (impl_->broken) return *impl_->broken;
  api::Workspace& workspace = impl_->runner->workspace();
  const api::TypedBuffer* buffer = workspace.find(name);
  if (buffer == nullptr) {
    input::BufferSpec spec;
    spec.type = *api::element_type_named(type);
    spec.count = bytes.size() / input::size_bytes(spec.type);
    if (Status defined = workspace.define(name, spec, ""); !defined) return defined;
    buffer = workspace.find(name);
  }
  const std::span<std::byte> memory = workspace.bytes(*buffer);
  if (input::to_string(buffer->type) != type || memory.size() != bytes.size())
    return Error{"buffer '" + name + "' has another type or size"};
  if (!bytes.empty()) std::memcpy(memory.data(), bytes.data(), bytes.size());
  return Ok{};
}

Result<std::span<const std::byte>> Session::read_bytes(const std::string& name, std::string_view type) const {
  if (impl_->broken) return *impl_->broken;
  const api::Workspace& workspace = impl_->runner->workspace();
  const api::TypedBuffer* buffer = workspace.find(name);
  if (buffer == nullptr) return Error{"there is no buffer '" + name + "'"};
  if (input::to_string(buffer->type) != type)
    return Error{"buffer '" + name + "' holds " + std::string(input::to_string(buffer->type)) +
                 " values, not " + std::string(type)};
  return workspace.bytes(*buffer);
}

}  // namespace fullwarp
