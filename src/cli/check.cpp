// `fullwarp check`: options in, report out. The work is done by fullwarp::check(); here it is only watched,
// rendered and written.
#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <ostream>
#include <thread>
#include <vector>

#include "cli/commands.h"
#include "cli/write_file.h"
#include "rules/rules.h"

namespace fullwarp::cli {

namespace {

// Draws how far the check is, from the second second on, and wipes it away at the end.
class ProgressLine {
 public:
  ProgressLine(const Progress& progress, const Streams& streams) : progress_(progress), err_(streams.err) {
    if (streams.err_terminal) thread_ = std::thread([this] { watch(); });
  }
  ~ProgressLine() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void watch() {
    using namespace std::chrono_literals;
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, 1s, [this] { return done_; })) return;
    while (!wake_.wait_for(lock, 200ms, [this] { return done_; })) draw();
    err_ << "\r\x1b[K" << std::flush;
  }

  void draw() {
    const Progress::State state = progress_.state();
    if (state.step.empty()) return;
    err_ << "\r\x1b[K" << state.step.substr(0, 60);
    if (state.blocks != 0) err_ << fmt::format(": {} of {} blocks", state.blocks_done, state.blocks);
    err_ << std::flush;
  }

  const Progress& progress_;
  std::ostream& err_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
};

std::string sarif(const report::Report& report) {
  std::vector<report::RuleText> texts;
  for (const rules::RuleInfo& rule : rules::rule_infos())
    texts.push_back({rule.id, rule.summary, rules::explain(rule.id), rule.level});
  return report::render_sarif(report, texts);
}

std::string render(const report::Report& report, const CheckArguments& arguments, bool colour) {
  if (arguments.format == "json") return report::render_json(report);
  if (arguments.format == "sarif") return sarif(report);
  if (arguments.format == "html") return report::render_html(report);
  if (arguments.format == "csv") return report::render_csv(report);
  return report::render_text(report, {colour, !arguments.no_summary});
}

int exit_code(const report::Report& report, const std::string& fail_on) {
  if (!report.errors.empty()) return kUnusable;
  const std::optional<diag::Level> highest = report.highest_level();
  if (!highest || fail_on == "never") return kSuccess;
  const diag::Level least = fail_on == "error"     ? diag::Level::error
                            : fail_on == "warning" ? diag::Level::warning
                                                   : diag::Level::note;
  return *highest >= least ? kFindings : kSuccess;
}

}  // namespace

int run_check(CheckArguments arguments, const Streams& streams) {
  CheckOptions& options = arguments.check;
  std::vector<std::string> flags;
  for (const std::string& folder : arguments.includes) flags.push_back("-I" + folder);
  for (const std::string& macro : arguments.defines) flags.push_back("-D" + macro);
  if (!arguments.standard.empty()) flags.push_back("-std=" + arguments.standard);
  if (!arguments.compile_commands.empty())
    flags.push_back("--compile-commands=" + arguments.compile_commands);
  options.compiler_flags.insert(options.compiler_flags.begin(), flags.begin(), flags.end());
  options.race_check = !arguments.no_race_check && !arguments.counters_only;
  options.rules = !arguments.counters_only;

  Progress progress;
  report::Report report;
  {
    const ProgressLine line(progress, streams);
    report = check(options, &progress);
  }
  for (const std::string& message : report.compiler_messages) streams.err << message;
  const bool to_file = !arguments.output.empty();
  const bool colour =
      arguments.colour == "always" || (arguments.colour == "auto" && streams.out_colour && !to_file);
  const std::string text = render(report, arguments, colour);
  if (arguments.format != "text" || to_file)
    for (const Error& error : report.errors) streams.err << error.to_string() << "\n";
  if (!to_file) {
    streams.out << text << std::flush;
  } else if (const Status written = write_file(arguments.output, text); !written) {
    streams.err << written.error().to_string() << "\n";
    return kUnusable;
  }
  return exit_code(report, arguments.fail_on);
}

}  // namespace fullwarp::cli
