// SARIF 2.1.0 (OASIS standard): one run, one result per finding, inputs that could not be used as
// notifications of the run. Specification: docs.oasis-open.org/sarif/sarif/v2.1.0.
#include <nlohmann/json.hpp>
#include <set>

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

}  // namespace

std::string render_sarif(const Report& report) {
  std::set<std::string> rules;
  Json results = Json::array();
  for (const KernelReport& kernel : report.kernels) {
    for (const diag::Finding& finding : kernel.findings) {
      rules.insert(finding.rule);
      results.push_back(to_json(finding, kernel));
    }
  }
  Json driver = {{"name", "fullwarp"}, {"version", FULLWARP_VERSION}, {"rules", Json::array()}};
  for (const std::string& rule : rules) driver["rules"].push_back({{"id", rule}});

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
