#include <fmt/format.h>

#include <algorithm>

#include "report/format.h"
#include "shapes/findings.h"
#include "shapes/render.h"

namespace fullwarp::shapes {

namespace {

class TextRenderer {
 public:
  TextRenderer(const Advice& advice, const TextOptions& options) : a_(advice), options_(options) {}

  std::string render() && {
    head();
    for (const diag::Finding& finding : a_.findings) show(finding);
    if (options_.table) table();
    summary();
    return std::move(out_);
  }

 private:
  std::string painted(std::string_view text, const char* colour) const {
    return options_.colour ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : std::string(text);
  }
  void line(const std::string& text) { out_ += report::printable(text) + "\n"; }

  void head() {
    line(fmt::format("{}: {}", a_.file, a_.title));
    const RunOptions& run = a_.run;
    std::string how;
    if (a_.own_run) {
      how = "sizes as they stand in the file";
    } else {
      how = fmt::format("batch {} x sequence {}, {}, {}", run.batch, run.sequence, to_string(run.dtype),
                        run.backward ? "forward and backward" : "forward");
      if (run.cached > 0) how += fmt::format(", behind {} cached tokens", run.cached);
      if (run.tensor_parallel > 1)
        how += fmt::format(", one of {} tensor-parallel ranks", run.tensor_parallel);
    }
    line("  " + how);
    if (a_.basis == Basis::measured) {
      line(fmt::format("  times: interpolated between measurements on this GPU ({})", a_.conditions));
    } else if (a_.basis == Basis::scaled) {
      line(fmt::format("  times: estimates, measured on an H200 and scaled to {} by published ceilings",
                       a_.gpu));
    } else {
      line(fmt::format(
          "  times: estimated ranges for {}, on whose architecture nothing was measured: from the "
          "least that its data sheet allows to the H200's efficiency at the same size",
          a_.gpu));
    }
    for (const std::string& note : a_.notes) line("  note: " + note);
    out_ += "\n";
  }

  void show(const diag::Finding& f) {
    std::string place = f.place.file;
    if (f.place.line != 0) place += fmt::format(":{}", f.place.line);
    const char* colour = f.level == diag::Level::error     ? "1;31"
                         : f.level == diag::Level::warning ? "1;35"
                                                           : "1;36";
    out_ += fmt::format("{}: {} {} [{}]\n", report::printable(place),
                        painted(fmt::format("{}:", report::to_string(f.level)), colour),
                        report::printable(f.message), f.rule);
    for (const diag::Note& note : f.notes) line("  note: " + note.text);
    if (!f.fix.empty()) line("  fix: " + f.fix);
  }

  void table() {
    std::vector<const Row*> rows;
    for (const Row& row : a_.rows) rows.push_back(&row);
    const auto time = [](const Row* row) { return row->each ? row->each->us * row->operation.count : 0; };
    if (rows.size() > options_.rows) {
      std::stable_sort(rows.begin(), rows.end(),
                       [&](const Row* x, const Row* y) { return time(x) > time(y); });
      rows.resize(options_.rows);
    }
    size_t width = 9;
    for (const Row* row : rows) width = std::max(width, std::min<size_t>(label(*row).size(), 48));
    out_ += a_.findings.empty() ? "" : "\n";
    const bool estimated = a_.basis == Basis::estimated;
    line(fmt::format("{:<{}}  {:<44}{:>7}{:>10}{:>10}{:>7}{:>9}{:>8}  {}", "operation", width, "size",
                     "count", estimated ? "at least" : "each", estimated ? "at most" : "total", "share",
                     "TFLOP/s", "waves", "rows aligned to"));
    for (const Row* row : rows) {
      const Operation& o = row->operation;
      const double total = time(row);
      std::string size = describe(o);
      if (size.size() > 43) size.resize(43);
      line(fmt::format(
          "{:<{}}  {:<44}{:>7}{:>10}{:>10}{:>6.1f}%{:>9}{:>8}  {}{}", label(*row).substr(0, 48), width, size,
          fmt::format("{:.6g}", o.count),
          row->each ? duration(estimated ? row->each->low_us : row->each->us) : "-",
          row->each ? duration(estimated ? row->each->high_us : total) : "-",
          a_.total.us > 0 ? 100 * total / a_.total.us : 0.0,
          row->each && flops(o) > 0 && !estimated ? fmt::format("{:.3g}", flops(o) / row->each->us / 1e6)
                                                  : "-",
          row->tiles ? fmt::format("{:.3g}", row->tiles->waves) : "", row->alignment,
          row->each && row->each->uncertain() && !estimated
              ? fmt::format("  uncertain: {} to {}", duration(row->each->low_us),
                            duration(row->each->high_us))
          : row->least_us ? fmt::format("  at least {} by its {}", duration(*row->least_us),
                                        estimated ? "operations and memory traffic" : "memory traffic")
                          : ""));
    }
    if (rows.size() < a_.rows.size())
      line(fmt::format("... and {} more; --rows {} shows all", a_.rows.size() - rows.size(), a_.rows.size()));
    out_ += "\n";
  }

  static std::string label(const Row& row) {
    return row.operation.step == Step::forward
               ? row.operation.name
               : fmt::format("{}, {}", row.operation.name, to_string(row.operation.step));
  }

  void summary() {
    const bool estimated = a_.basis == Basis::estimated;
    std::string total = estimated
                            ? fmt::format("in all {}, estimated, for {} products, convolutions and look-ups",
                                          time_text(a_.total, a_.basis), a_.rows.size())
                            : fmt::format("in all {} ({} to {}) for {} products, convolutions and look-ups",
                                          duration(a_.total.us), duration(a_.total.low_us),
                                          duration(a_.total.high_us), a_.rows.size());
    if (a_.total.untimed > 0) total += fmt::format(", {} without a time", a_.total.untimed);
    line(total);
    const Change* best = nullptr;
    for (const Change& change : a_.changes)
      if (change.now.us - change.then.us > kWarningShare * change.now.us) {
        best = &change;
        break;
      }
    if (best == nullptr) {
      const bool open = a_.total.untimed > 0 && !a_.changes.empty();
      line(open ? "what the changes gain is not known: operations that they concern have no time"
                : "no change of one number would gain anything");
      return;
    }
    line(fmt::format("the change that gains most{}: {}: {} -> {}, the whole pass {} -> {}",
                     estimated ? ", estimated" : "", change_text(*best),
                     time_text(best->affected_now, a_.basis), time_text(best->affected_then, a_.basis),
                     time_text(best->now, a_.basis), time_text(best->then, a_.basis)));
    if (a_.together) {
      std::string all;
      for (const auto& [name, value] : a_.together->numbers)
        all += fmt::format("{}{} -> {}", all.empty() ? "" : ", ", name, value);
      line(fmt::format("all that gain together: {}: the whole pass {} -> {}", all,
                       time_text(a_.total, a_.basis), time_text(a_.together->then, a_.basis)));
    }
  }

  const Advice& a_;
  const TextOptions& options_;
  std::string out_;
};

}  // namespace

std::string render_text(const Advice& advice, const TextOptions& options) {
  return TextRenderer(advice, options).render();
}

}  // namespace fullwarp::shapes
