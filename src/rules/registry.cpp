// The rules as a table (from rules.def), their settings, and the run over all of them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

#include "rules/context.h"
#include "rules/pages.h"
#include "rules/rule.h"
#include "rules/rules.h"

namespace fullwarp::rules {

namespace {

constexpr const Rule* kRules[] = {
#define FULLWARP_RULE(identifier) &identifier##_rule,
#include "rules/rules.def"
#undef FULLWARP_RULE
};

template <class Range, class Name>
std::string list(const Range& range, Name name) {
  std::string text;
  for (const auto& item : range) text += fmt::format("{}{}", text.empty() ? "" : ", ", name(item));
  return text;
}

const Threshold* find_threshold(const Rule& rule, std::string_view name) {
  for (const Threshold& threshold : rule.info.thresholds)
    if (threshold.name == name) return &threshold;
  return nullptr;
}

}  // namespace

std::span<const Rule* const> all_rules() { return kRules; }

const Rule* find_rule(std::string_view id) {
  for (const Rule* rule : kRules)
    if (rule->info.id == id) return rule;
  return nullptr;
}

std::span<const RuleInfo> rule_infos() {
  static const std::vector<RuleInfo> infos = [] {
    std::vector<RuleInfo> list;
    for (const Rule* rule : kRules) list.push_back(rule->info);
    return list;
  }();
  return infos;
}

std::string_view explain(std::string_view rule_id) { return embedded_page(rule_id); }

Status Options::set(std::string_view assignment) {
  const size_t dot = assignment.find('.');
  const size_t equals = assignment.find('=');
  if (dot == std::string_view::npos || equals == std::string_view::npos || dot > equals)
    return Error{fmt::format("'{}' is not a rule setting", assignment),
                 {},
                 0,
                 0,
                 "write RULE.NAME=VALUE, for example bank-conflict.min-share=0.01 or partial-warp.level=off"};
  const std::string_view id = assignment.substr(0, dot);
  const std::string_view name = assignment.substr(dot + 1, equals - dot - 1);
  const std::string_view value = assignment.substr(equals + 1);
  const Rule* rule = find_rule(id);
  if (!rule)
    return Error{fmt::format("there is no rule '{}'", id),
                 {},
                 0,
                 0,
                 fmt::format("the rules are {}", list(kRules, [](const Rule* r) { return r->info.id; }))};
  if (name == "level") {
    std::optional<diag::Level> level;
    if (value == "note")
      level = diag::Level::note;
    else if (value == "warning")
      level = diag::Level::warning;
    else if (value == "error")
      level = diag::Level::error;
    else if (value != "off")
      return Error{
          fmt::format("'{}' is not a level", value), {}, 0, 0, "the levels are off, note, warning, error"};
    levels_[std::string(id)] = level;
    return Ok{};
  }
  if (!find_threshold(*rule, name)) {
    std::string names = list(rule->info.thresholds, [](const Threshold& t) { return t.name; });
    return Error{fmt::format("rule {} has no threshold '{}'", id, name),
                 {},
                 0,
                 0,
                 fmt::format("it has {}{}level", names, names.empty() ? "" : ", ")};
  }
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  // The negated comparison refuses NaN too.
  if (error != std::errc() || end != value.data() + value.size() || !(number >= 0))
    return Error{fmt::format("'{}' is not a number of 0 or more", value)};
  thresholds_[fmt::format("{}.{}", id, name)] = number;
  return Ok{};
}

double Options::threshold(std::string_view rule, std::string_view name) const {
  if (const auto set = thresholds_.find(fmt::format("{}.{}", rule, name)); set != thresholds_.end())
    return set->second;
  const Rule* found = find_rule(rule);
  const Threshold* threshold = found ? find_threshold(*found, name) : nullptr;
  return threshold ? threshold->value : 0;
}

bool Options::off(std::string_view rule) const {
  const auto set = levels_.find(rule);
  return set != levels_.end() && !set->second;
}

std::optional<diag::Level> Options::level(std::string_view rule) const {
  const auto set = levels_.find(rule);
  return set == levels_.end() ? std::nullopt : set->second;
}

std::vector<diag::Finding> run_rules(const RuleInput& input) {
  Context context(input);
  // Warps that were stopped say nothing about where a kernel's time goes.
  const bool cut_short = std::any_of(
      context.profile.faults.begin(), context.profile.faults.end(), [](const profile::Fault& fault) {
        return fault.kind == profile::FaultKind::step_limit || fault.kind == profile::FaultKind::deadlock;
      });
  std::vector<diag::Finding> findings;
  for (const Rule* rule : kRules) {
    if (!rule->run || input.options.off(rule->info.id)) continue;
    if (cut_short && rule->info.level != diag::Level::error) continue;
    const size_t first = findings.size();
    rule->run(context, findings);
    if (const auto level = input.options.level(rule->info.id))
      for (size_t i = first; i < findings.size(); ++i) findings[i].level = *level;
  }
  // Lanes that faulted are missing from a misaligned access's counts.
  std::set<std::pair<std::string, uint32_t>> misaligned;
  for (const diag::Finding& finding : findings)
    if (finding.rule == "misaligned-address") misaligned.insert({finding.place.file, finding.place.line});
  std::erase_if(findings, [&](const diag::Finding& finding) {
    return finding.rule != "misaligned-address" &&
           find_rule(finding.rule)->info.level != diag::Level::error &&
           misaligned.count({finding.place.file, finding.place.line}) != 0;
  });
  std::stable_sort(findings.begin(), findings.end(), [](const diag::Finding& a, const diag::Finding& b) {
    return std::tie(b.level, a.place.file, a.place.line, a.place.column) <
           std::tie(a.level, b.place.file, b.place.line, b.place.column);
  });
  return findings;
}

}  // namespace fullwarp::rules
