// One page to send to somebody: findings with their source lines, then the counters of every launch. No
// scripts and nothing from elsewhere, so that it can be opened anywhere.
#include "report/format.h"
#include "report/render.h"

namespace fullwarp::report {

namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; }
h2 { border-bottom: 1px solid #8886; }
.finding { border-left: 4px solid #888; padding: .2em 1em; margin: 1em 0; background: #8881; }
.error { border-color: #d33; } .warning { border-color: #c80; } .note { border-color: #28a; }
.place, pre, td { font-family: ui-monospace, monospace; font-size: 13px; }
pre { overflow-x: auto; background: #8882; padding: .5em; }
td, th { padding: .1em 1em .1em 0; text-align: left; } td.number { text-align: right; }
)";

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : printable(text, true)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string place_text(const std::string& file, uint32_t line, uint32_t column) {
  std::string text = file;
  if (line != 0) text += ":" + std::to_string(line);
  if (line != 0 && column != 0) text += ":" + std::to_string(column);
  return escaped(text);
}

void add_finding(std::string& out, const Report& report, const diag::Finding& finding) {
  const std::string level(to_string(finding.level));
  const diag::Place& place = finding.place;
  out += "<div class=\"finding " + level + "\"><p><span class=\"place\">" +
         place_text(place.file, place.line, place.column) + "</span> " + level + ": <b>" +
         escaped(finding.message) + "</b> [" + escaped(finding.rule) + "]</p>\n";
  if (const auto source = report.sources.find(place.file); source != report.sources.end())
    if (const std::string_view line = line_of(source->second, place.line); !line.empty())
      out += "<pre>" + std::to_string(place.line) + " | " + escaped(line) + "</pre>\n";
  if (!finding.label.empty()) out += "<p>" + escaped(finding.label) + "</p>\n";
  for (const diag::Note& note : finding.notes) out += "<p>note: " + escaped(note.text) + "</p>\n";
  if (!finding.evidence.empty()) {
    out += "<table>";
    for (const auto& [name, value] : finding.evidence)
      out +=
          "<tr><td>" + escaped(name) + "</td><td class=\"number\">" + escaped(to_text(value)) + "</td></tr>";
    out += "</table>\n";
  }
  if (!finding.fix.empty()) out += "<p>fix:</p><pre>" + escaped(finding.fix) + "</pre>\n";
  out += "</div>\n";
}

void add_counters(std::string& out, const KernelReport& kernel) {
  out += "<details><summary>counters</summary><table>";
  for (const Metric& metric : named_metrics(kernel)) {
    const auto* count = std::get_if<uint64_t>(&metric.value);
    out += "<tr><td>" + escaped(metric.name) + "</td><td class=\"number\">" +
           (count != nullptr ? grouped(*count) : to_text(metric.value)) + "</td></tr>\n";
  }
  out += "</table></details>\n";
}

}  // namespace

std::string render_html(const Report& report) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>fullwarp "
      "report</title><style>";
  out += kStyle;
  out += "</style></head><body>\n<h1>fullwarp report</h1>\n<p>GPU: " + escaped(report.gpu) + "</p>\n";
  for (const Error& error : report.errors) {
    out += "<div class=\"finding error\"><p><span class=\"place\">" +
           place_text(error.file, error.line, error.column) + "</span></p><pre>" + escaped(error.message) +
           (error.hint.empty() ? "" : "\nhint: " + escaped(error.hint)) + "</pre></div>\n";
  }
  for (const KernelReport& kernel : report.kernels) {
    out += "<h2>" + escaped(kernel.name) + "&lt;&lt;&lt;" + dims(kernel.grid) + ", " + dims(kernel.block) +
           "&gt;&gt;&gt;</h2>\n<p class=\"place\">" + escaped(kernel.file) + "</p>\n";
    if (kernel.findings.empty()) out += "<p>no findings</p>\n";
    for (const diag::Finding& finding : kernel.findings) add_finding(out, report, finding);
    add_counters(out, kernel);
  }
  return out + "</body></html>\n";
}

}  // namespace fullwarp::report
