// SARIF 2.1.0 (OASIS standard): one run, one result per finding, inputs that could not be used as
// notifications of the run. Specification: docs.oasis-open.org/sarif/sarif/v2.1.0.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "report/render.h"

namespace fullwarp::report {

namespace {

using Json = nlohmann::ordered_json;

// A file name as a URI reference: what is not unreserved or '/' is percent-encoded.
std::string uri(const std::string& path) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  for (char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    if (plain) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += kHex[byte >> 4];
      encoded += kHex[byte & 15];
    }
  }
  return encoded.empty() || encoded[0] != '/' ? encoded : "file://" + encoded;
}

// Regions count lines and columns from 1 and leave out what is not known.
Json location(const std::string& file, uint32_t line, uint32_t column, uint32_t end_column) {
  Json physical = {{"artifactLocation", {{"uri", uri(file)}}}};
  if (line != 0) {
    physical["region"]["startLine"] = line;
    if (column != 0) physical["region"]["startColumn"] = column;
    if (column != 0 && end_column > column) physical["region"]["endColumn"] = end_column;
  }
  return {{"physicalLocation", std::move(physical)}};
}

Json to_json(const diag::Finding& finding, const KernelReport& kernel) {
  std::string text = finding.message;
  if (!finding.label.empty()) text += "\n" + finding.label;
  for (const diag::Note& note : finding.notes) text += "\n" + note.text;
  if (!finding.fix.empty()) text += "\nfix: " + finding.fix;
  const diag::Place& place = finding.place;
  Json result = {
      {"ruleId", finding.rule}, {"level", to_string(finding.level)}, {"message", {{"text", text}}}};
  result["locations"] = Json::array({location(place.file, place.line, place.column, place.end_column)});
  for (const diag::Note& note : finding.notes) {
    if (!note.place) continue;
    Json related = location(note.place->file, note.place->line, note.place->column, note.place->end_column);
    related["message"] = {{"text", note.text}};
    result["relatedLocations"].push_back(std::move(related));
  }
  Json& properties = result["properties"] = {{"kernel", kernel.name}, {"launch", kernel.launch}};
  for (const auto& [name, value] : finding.evidence)
    std::visit([&, &key = name](const auto& v) { properties["evidence"][key] = v; }, value);
  return result;
}

// The first paragraph behind a page's heading, on one line.
std::string first_paragraph(std::string_view page) {
  std::string text;
  while (!page.empty()) {
    const std::string_view line = page.substr(0, page.find('\n'));
    page.remove_prefix(std::min(page.size(), line.size() + 1));
    if (line.starts_with('#')) continue;
    if (!line.empty()) {
      text += (text.empty() ? "" : " ") + std::string(line);
    } else if (!text.empty()) {
      break;
    }
  }
  return text;
}

// A reportingDescriptor (section 3.49). There is no helpUri: the page itself comes along as `help`.
Json descriptor(const std::string& id, std::span<const RuleText> rules) {
  Json json = {{"id", id}};
  const auto rule = std::find_if(rules.begin(), rules.end(), [&](const RuleText& r) { return r.id == id; });
  if (rule == rules.end()) return json;
  json["shortDescription"] = {{"text", rule->summary}};
  const std::string full = first_paragraph(rule->page);
  json["fullDescription"] = {{"text", full.empty() ? std::string(rule->summary) : full}};
  if (!rule->page.empty()) json["help"] = {{"text", rule->page}, {"markdown", rule->page}};
  json["defaultConfiguration"] = {{"level", to_string(rule->level)}};
  return json;
}

}  // namespace

std::string render_sarif(const Report& report, std::span<const RuleText> rules) {
  std::map<std::string, size_t> index;  // in driver.rules, by id
  for (const KernelReport& kernel : report.kernels)
    for (const diag::Finding& finding : kernel.findings) index[finding.rule] = 0;
  Json driver = {{"name", "fullwarp"}, {"version", FULLWARP_VERSION}, {"rules", Json::array()}};
  for (auto& [id, at] : index) {
    at = driver["rules"].size();
    driver["rules"].push_back(descriptor(id, rules));
  }
  Json results = Json::array();
  for (const KernelReport& kernel : report.kernels) {
    for (const diag::Finding& finding : kernel.findings) {
      Json result = to_json(finding, kernel);
      result["ruleIndex"] = index.at(finding.rule);
      results.push_back(std::move(result));
    }
  }

  Json invocation = {{"executionSuccessful", report.errors.empty()}};
  for (const Error& error : report.errors) {
    Json notification = {{"level", "error"}, {"message", {{"text", error.message}}}};
    if (!error.file.empty())
      notification["locations"] = Json::array({location(error.file, error.line, error.column, 0)});
    invocation["toolExecutionNotifications"].push_back(std::move(notification));
  }
  const Json json = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                     {"version", "2.1.0"},
                     {"runs", Json::array({{{"tool", {{"driver", std::move(driver)}}},
                                            {"invocations", Json::array({std::move(invocation)})},
                                            {"columnKind", "utf16CodeUnits"},
                                            {"results", std::move(results)}}})}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fullwarp::report
