// The compiler-like text:
//
//   tile.cu:21:20: warning: 32-way bank conflict: each request takes 32 wavefronts [bank-conflict]
//      21 |   out[y * n + x] = tile[threadIdx.x][threadIdx.y];
//         |                    ^~~~ lanes 0-31 read words 0, 32, 64, ...: all in bank 0
//     note: 32 768 requests, 1 048 576 wavefronts: 97 % of this kernel's shared-memory wavefronts
//     fix: pad the row by one word: `__shared__ float tile[32][33];`
//
// and after a kernel's findings its counters as a small table.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "report/format.h"
#include "report/render.h"

namespace fullwarp::report {

namespace {

constexpr size_t kWindowColumns = 160;  // of a longer source line only this much around the mark is shown

enum class Style { plain, bold, note, warning, error, caret };

class TextRenderer {
 public:
  TextRenderer(const Report& report, const TextOptions& options) : report_(report), options_(options) {}

  std::string render() {
    for (const KernelReport& kernel : report_.kernels) {
      add_findings(kernel.findings);
      add_printed(kernel);
      if (options_.summary) add_summary(kernel);
    }
    for (const Print& print : report_.prints) out_ += printable(print.text) + "\n";
    for (const Error& error : report_.errors) add_error(error);
    add_totals();
    return std::move(out_);
  }

 private:
  std::string styled(Style style, std::string_view text) const {
    static constexpr const char* kCodes[] = {"",           "\x1b[1m",    "\x1b[1;36m",
                                             "\x1b[1;35m", "\x1b[1;31m", "\x1b[1;32m"};
    if (!options_.colour || style == Style::plain) return std::string(text);
    return kCodes[static_cast<unsigned>(style)] + std::string(text) + "\x1b[0m";
  }

  static Style style_of(diag::Level level) {
    return level == diag::Level::note      ? Style::note
           : level == diag::Level::warning ? Style::warning
                                           : Style::error;
  }

  static std::string place_text(const std::string& file, uint32_t line, uint32_t column) {
    std::string text;
    if (!file.empty()) text = printable(file) + ":";
    if (line != 0) text += std::to_string(line) + ":";
    if (line != 0 && column != 0) text += std::to_string(column) + ":";
    return text;
  }

  void add_head(const std::string& place, Style style, std::string_view level, std::string_view message) {
    if (!place.empty()) out_ += styled(Style::bold, place) + " ";
    out_ += styled(style, std::string(level) + ":") + " " + styled(Style::bold, printable(message));
  }

  // What is observed alike in several places of a file, with one cure, is told once: a swap of four arrays is
  // one thing to its reader. The others follow as notes with their own counts.
  static bool alike(const diag::Finding& a, const diag::Finding& b) {
    return a.level != diag::Level::error && a.level == b.level && a.rule == b.rule &&
           a.message == b.message && a.fix == b.fix && a.place.file == b.place.file;
  }

  // A launch that repeats an earlier one's finding gets its first line only.
  using Identity = std::tuple<std::string, std::string, std::string, uint32_t, uint32_t>;
  static Identity identity(const diag::Finding& f) {
    return {f.kernel, f.rule, f.place.file, f.place.line, f.place.column};
  }

  void add_findings(const std::vector<diag::Finding>& findings) {
    std::vector<bool> told(findings.size(), false);
    for (size_t i = 0; i < findings.size(); ++i) {
      if (told[i]) continue;
      std::vector<const diag::Finding*> others;
      for (size_t k = i + 1; k < findings.size(); ++k) {
        if (told[k] || !alike(findings[i], findings[k])) continue;
        told[k] = true;
        others.push_back(&findings[k]);
      }
      add_finding(findings[i], others);
    }
    for (const diag::Finding& finding : findings)
      if (finding.level != diag::Level::error) known_.insert(identity(finding));
  }

  void add_finding(const diag::Finding& finding, const std::vector<const diag::Finding*>& others) {
    add_head(place_text(finding.place.file, finding.place.line, finding.place.column),
             style_of(finding.level), to_string(finding.level), finding.message);
    out_ += " [" + finding.rule + "]\n";
    if (known_.count(identity(finding)) != 0) return;
    add_source(finding.place, finding.label);
    for (const diag::Note& note : finding.notes) {
      out_ += "  ";
      if (note.place) out_ += place_text(note.place->file, note.place->line, note.place->column) + " ";
      out_ += styled(Style::note, "note:") + " " + printable(note.text) + "\n";
    }
    // What an error has to say stands in its message and label; addresses are for programs.
    if (finding.notes.empty() && !finding.evidence.empty() && finding.level != diag::Level::error)
      add_evidence(finding);
    for (const diag::Finding* other : others) {
      out_ += "  " + place_text(other->place.file, other->place.line, other->place.column) + " " +
              styled(Style::note, "note:") + " and here";
      if (!other->notes.empty() && !other->notes.front().place)
        out_ += ": " + printable(other->notes.front().text);
      out_ += "\n";
    }
    if (!finding.fix.empty()) {
      out_ += "  " + styled(Style::caret, "fix:") + " " + indented(printable(finding.fix, true)) + "\n";
    }
    if (finding.gain)
      out_ += fmt::format("  gain: {:.3g} times fewer {} in this kernel\n", *finding.gain,
                          finding.gain_of.empty() ? "accesses" : finding.gain_of);
  }

  void add_evidence(const diag::Finding& finding) {
    out_ += "  " + styled(Style::note, "note:");
    const char* separator = " ";
    for (const auto& [name, value] : finding.evidence) {
      out_ += separator + name + " " + printable(to_text(value));
      separator = ", ";
    }
    out_ += "\n";
  }

  // Continuation lines of a fix stand under its first word.
  static std::string indented(const std::string& text) {
    std::string result;
    for (char c : text) {
      result += c;
      if (c == '\n') result += "       ";
    }
    return result;
  }

  // The source line and the caret below it. Columns count bytes; what stands above the caret keeps its tabs,
  // and bytes that continue a UTF-8 character take no room.
  void add_source(const diag::Place& place, const std::string& label) {
    const auto source = report_.sources.find(place.file);
    std::string line;
    if (source != report_.sources.end()) line = printable(line_of(source->second, place.line));
    if (line.empty()) {
      if (!label.empty()) out_ += "  " + printable(label) + "\n";
      return;
    }
    size_t begin = place.column != 0 ? place.column - 1 : line.find_first_not_of(" \t");
    size_t end = begin + 1;
    if (begin >= line.size()) {
      begin = 0;
      end = 1;
    } else if (place.column == 0) {
      end = line.size();
    } else if (place.end_column != 0) {
      end = place.end_column - 1;
    }
    end = std::clamp(end, begin + 1, line.size());
    if (line.size() > kWindowColumns) {
      const size_t from = begin > kWindowColumns / 2 ? begin - kWindowColumns / 2 : 0;
      line = line.substr(from, kWindowColumns);
      begin -= from;
      end = std::min(end - from, line.size());
    }
    std::string mark;
    for (size_t i = 0; i < end; ++i) {
      const bool continues = (static_cast<unsigned char>(line[i]) & 0xc0) == 0x80;
      if (i < begin) {
        if (!continues) mark += line[i] == '\t' ? '\t' : ' ';
      } else if (!continues || i == begin) {
        mark += i == begin ? '^' : '~';
      }
    }
    const size_t caret = mark.find('^');
    out_ += fmt::format("{:>5} | {}\n      | {}{}{}\n", place.line, line, mark.substr(0, caret),
                        styled(Style::caret, mark.substr(caret)),
                        label.empty() ? "" : std::string(" ").append(printable(label)));
  }

  void add_printed(const KernelReport& kernel) {
    if (kernel.printed.empty()) return;
    out_ += printable(kernel.printed, true);
    if (out_.back() != '\n') out_ += '\n';
  }

  void add_row(const char* what, const AccessTotals& totals, uint64_t moved, uint64_t ideal) {
    if (totals.requests == 0) return;
    out_ += fmt::format("  {:<24}{:>16}{:>18}{:>18}\n", what, grouped(totals.requests), grouped(moved),
                        grouped(ideal));
  }

  void add_accesses(const Metrics& metrics) {
    using mem::AccessKind;
    using mem::AccessSpace;
    struct Row {
      const char* what;
      AccessSpace space;
      AccessKind kind;
    };
    static constexpr Row kRows[] = {
        {"global loads", AccessSpace::global, AccessKind::load},
        {"global stores", AccessSpace::global, AccessKind::store},
        {"global atomics", AccessSpace::global, AccessKind::atomic},
        {"global reductions", AccessSpace::global, AccessKind::reduction},
        {"global async copies", AccessSpace::global, AccessKind::async_copy},
        {"local loads", AccessSpace::local, AccessKind::load},
        {"local stores", AccessSpace::local, AccessKind::store},
        {"shared loads", AccessSpace::shared, AccessKind::load},
        {"shared stores", AccessSpace::shared, AccessKind::store},
        {"shared atomics", AccessSpace::shared, AccessKind::atomic},
        {"shared reductions", AccessSpace::shared, AccessKind::reduction},
        {"shared async copies", AccessSpace::shared, AccessKind::async_copy},
        {"shared matrix loads", AccessSpace::shared, AccessKind::matrix_load},
        {"shared matrix stores", AccessSpace::shared, AccessKind::matrix_store},
        {"shared tensor loads", AccessSpace::shared, AccessKind::tensor_load},
    };
    bool sectors_head = false, wavefronts_head = false;
    for (const Row& row : kRows) {
      const AccessTotals totals = metrics.total(row.space, row.kind);
      if (totals.requests == 0) continue;
      const bool shared = row.space == AccessSpace::shared;
      bool& head = shared ? wavefronts_head : sectors_head;
      if (!head)
        out_ += fmt::format("  {:<24}{:>16}{:>18}{:>18}\n", "", "requests", shared ? "wavefronts" : "sectors",
                            "ideal");
      head = true;
      add_row(row.what, totals, shared ? totals.wavefronts : totals.sectors,
              shared ? totals.ideal_wavefronts : totals.ideal_sectors);
    }
  }

  void add_summary(const KernelReport& kernel) {
    const Metrics& metrics = kernel.metrics;
    out_ +=
        styled(Style::bold, printable(kernel.name)) + "<<<" + dims(kernel.grid) + ", " + dims(kernel.block);
    if (kernel.dynamic_shared_bytes != 0) out_ += fmt::format(", {}", kernel.dynamic_shared_bytes);
    out_ += ">>> in " + printable(kernel.file) + ": ";
    const uint64_t blocks = kernel.grid.count();
    if (kernel.blocks_run < blocks) out_ += grouped(kernel.blocks_run) + " of ";
    out_ += grouped(blocks) + (blocks == 1 ? " block\n" : " blocks\n");
    out_ +=
        fmt::format("  {:<24}{:>16} warp instructions (PTX)", "executed", grouped(metrics.warp_instructions));
    if (metrics.warp_instructions != 0) {
      out_ += fmt::format(", {:.1f} of 32 lanes active", static_cast<double>(metrics.lane_instructions) /
                                                             static_cast<double>(metrics.warp_instructions));
    }
    out_ += "\n";
    if (metrics.divergent_branches != 0) {
      out_ += fmt::format("  {:<24}{:>16} of {} divergent\n", "branches", grouped(metrics.divergent_branches),
                          grouped(metrics.branches));
    }
    add_accesses(metrics);
    if (kernel.occupancy) add_occupancy(*kernel.occupancy);
    for (const Output& output : kernel.outputs) add_output(output);
    if (kernel.suppressed != 0)
      out_ += fmt::format("  {:<24}{:>16} by fullwarp-ignore comments\n", "suppressed",
                          grouped(kernel.suppressed));
    out_ += "\n";
  }

  void add_occupancy(const Occupancy& occupancy) {
    if (occupancy.max_warps_per_sm == 0) return;
    out_ += fmt::format(
        "  {:<24}{:>14} % ({} of {} warps per SM", "occupancy",
        (100 * occupancy.warps_per_sm + occupancy.max_warps_per_sm / 2) / occupancy.max_warps_per_sm,
        occupancy.warps_per_sm, occupancy.max_warps_per_sm);
    if (!occupancy.limiter.empty()) out_ += ", limited by " + occupancy.limiter;
    if (occupancy.registers_per_thread == 0) out_ += "; registers not known";
    out_ += ")\n";
  }

  void add_output(const Output& output) {
    out_ += fmt::format("  {:<24}{}[{}]", "output " + printable(output.buffer), output.type, output.count);
    if (output.min && output.max) out_ += fmt::format(" from {:.7g} to {:.7g}", *output.min, *output.max);
    if (output.nan != 0) out_ += fmt::format(", {} NaN", grouped(output.nan));
    out_ += ", hash " + hash_text(output.hash) + "\n";
  }

  void add_error(const Error& error) {
    add_head(place_text(error.file, error.line, error.column), Style::error, "error", "");
    // A compiler's own messages run over many lines; they stay as they are.
    out_ += printable(error.message, true) + "\n";
    if (!error.hint.empty())
      out_ += "  " + styled(Style::note, "hint:") + " " + printable(error.hint, true) + "\n";
  }

  static std::string counted(uint64_t count, const char* noun) {
    return grouped(count) + " " + noun + (count == 1 ? "" : "s");
  }

  void add_totals() {
    uint64_t levels[3] = {};
    for (const KernelReport& kernel : report_.kernels)
      for (const diag::Finding& finding : kernel.findings) ++levels[static_cast<unsigned>(finding.level)];
    out_ += counted(levels[2], "error") + ", " + counted(levels[1], "warning") + ", " +
            counted(levels[0], "note") + " in " + counted(report_.kernels.size(), "launch");
    if (report_.kernels.size() != 1) out_.replace(out_.size() - 1, 1, "es");
    if (!report_.errors.empty())
      out_ += "; " + counted(report_.errors.size(), "input") + " could not be used";
    out_ += "\n";
  }

  const Report& report_;
  const TextOptions& options_;
  std::set<Identity> known_;  // findings of the launches before
  std::string out_;
};

}  // namespace

std::string render_text(const Report& report, const TextOptions& options) {
  return TextRenderer(report, options).render();
}

}  // namespace fullwarp::report
