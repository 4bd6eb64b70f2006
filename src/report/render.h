// The renderers: a report in, text out. None of them opens a file, asks for the time or looks at the
// environment; equal reports give equal text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/report.h"

namespace fullwarp::report {

struct TextOptions {
  bool colour = false;
  bool summary = true;  // the table of counters after each kernel's findings
};

// As a compiler reports: findings with their source lines, then each kernel's counters.
std::string render_text(const Report& report, const TextOptions& options = {});

// Schema 1 (docs/json.md, docs/schema/report-1.json). UTF-8; bytes that are not UTF-8 are replaced.
std::string render_json(const Report& report);

// One row per counter: kernel, launch number, file, line (empty for the whole kernel), metric, value.
std::string render_csv(const Report& report);

// What SARIF says of a rule.
struct RuleText {
  std::string_view id, summary;  // one line, without a full stop
  std::string_view page;         // Markdown, may be empty; its first paragraph is the full description
  diag::Level level = diag::Level::warning;
};

// SARIF 2.1.0, for code review tools. Of `rules` those are described that a finding names.
std::string render_sarif(const Report& report, std::span<const RuleText> rules = {});

// One page without scripts or outside references.
std::string render_html(const Report& report);

}  // namespace fullwarp::report
