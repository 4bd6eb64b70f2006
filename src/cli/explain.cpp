// `fullwarp explain RULE`: its page; without a rule, the list.
#include <fmt/format.h>

#include <ostream>

#include "cli/commands.h"
#include "report/report.h"
#include "rules/rules.h"

namespace fullwarp::cli {

int run_explain(const std::string& rule, const Streams& streams) {
  if (rule.empty()) {
    for (const rules::RuleInfo& info : rules::rule_infos())
      streams.out << fmt::format("{:<24}{:<9}{}\n", info.id, report::to_string(info.level), info.summary);
    return kSuccess;
  }
  const std::string_view page = rules::explain(rule);
  if (page.empty()) {
    streams.err << "error: there is no rule '" << rule << "'\n  hint: `fullwarp explain` lists them\n";
    return kUnusable;
  }
  streams.out << page;
  if (page.back() != '\n') streams.out << '\n';
  return kSuccess;
}

}  // namespace fullwarp::cli
