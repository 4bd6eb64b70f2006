// `fullwarp explain RULE`: its page; without a rule, the list.
#include <fmt/format.h>

#include <ostream>

#include "cli/commands.h"
#include "report/report.h"
#include "rules/rules.h"
#include "shapes/findings.h"

namespace fullwarp::cli {

int run_explain(const std::string& rule, const Streams& streams) {
  if (rule.empty()) {
    const auto line = [&](const auto& info) {
      streams.out << fmt::format("{:<26}{:<9}{}\n", info.id, report::to_string(info.level), info.summary);
    };
    for (const rules::RuleInfo& info : rules::rule_infos()) line(info);
    for (const shapes::RuleInfo& info : shapes::rule_infos()) line(info);
    return kSuccess;
  }
  std::string_view page = rules::explain(rule);
  if (page.empty()) page = shapes::explain(rule);
  if (page.empty()) {
    streams.err << "error: there is no rule '" << rule << "'\n  hint: `fullwarp explain` lists them\n";
    return kUnusable;
  }
  streams.out << page;
  if (page.back() != '\n') streams.out << '\n';
  return kSuccess;
}

}  // namespace fullwarp::cli
