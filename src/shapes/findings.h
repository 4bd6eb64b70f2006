// What an advice amounts to, as findings.
#pragma once

#include <span>
#include <vector>

#include "shapes/advise.h"

namespace fullwarp::shapes {

struct RuleInfo {
  std::string_view id, summary;
  diag::Level level = diag::Level::warning;  // default; a finding may be weaker where its page says so
};
// Every rule of this module, in the order in which lists show them.
std::span<const RuleInfo> rule_infos();

// The page of a rule as Markdown (docs/rules/shapes/), for `fullwarp explain` and SARIF; empty for an unknown
// id.
std::string_view explain(std::string_view rule_id);

// Fills advice.findings from its changes and rows, and from what derive() found impossible.
void findings(Advice& advice, const Model& model, const std::vector<Problem>& problems,
              const TimeTable& table);

// "5.14 ms", "38 us"
std::string duration(double us);
// A time as it may be stated: where nothing was measured the range alone, "20 us to 38 us".
std::string time_text(const Estimate& each, Basis basis);
std::string time_text(const Total& total, Basis basis);
// "50257 -> 50304"
std::string change_text(const Change& change);
std::string how_text(const Change& change);  // number.how with the new value in its place
std::string size_text(double bytes);         // "72 KB", "1.2 MB"

}  // namespace fullwarp::shapes
