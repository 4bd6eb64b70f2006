// Schema 1. docs/json.md documents it, docs/schema/report-1.json states it, tests/report/ holds this file to
// it. Fields may be added within a schema version; none is renamed or removed.
#include <nlohmann/json.hpp>

#include "report/format.h"
#include "report/render.h"

namespace fullwarp::report {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const std::vector<Metric>& metrics) {
  Json object = Json::object();
  for (const Metric& metric : metrics)
    std::visit([&](const auto& value) { object[metric.name] = value; }, metric.value);
  return object;
}

Json to_json(const Dim3& d) { return {d.x, d.y, d.z}; }

Json to_json(const diag::Finding& finding) {
  Json json = {{"rule", finding.rule},           {"level", to_string(finding.level)},
               {"file", finding.place.file},     {"line", finding.place.line},
               {"column", finding.place.column}, {"end_column", finding.place.end_column},
               {"message", finding.message},     {"label", finding.label}};
  Json notes = Json::array();
  for (const diag::Note& note : finding.notes) {
    Json item = {{"text", note.text}};
    if (note.place) {
      item["file"] = note.place->file;
      item["line"] = note.place->line;
      item["column"] = note.place->column;
    }
    notes.push_back(std::move(item));
  }
  json["notes"] = std::move(notes);
  Json evidence = Json::object();
  for (const auto& [name, value] : finding.evidence)
    std::visit([&, &key = name](const auto& v) { evidence[key] = v; }, value);
  json["evidence"] = std::move(evidence);
  json["share"] = finding.share;
  json["fix"] = finding.fix;
  json["gain"] = finding.gain ? Json(*finding.gain) : Json(nullptr);
  json["count"] = finding.count;
  return json;
}

Json to_json(const Buffer& b) {
  return {{"name", b.name},
          {"bytes", b.bytes},
          {"loaded_bytes_asked", b.loaded_bytes_asked},
          {"stored_bytes_asked", b.stored_bytes_asked},
          {"loaded_bytes_touched", b.loaded_bytes_touched},
          {"stored_bytes_touched", b.stored_bytes_touched},
          {"blocks_loading", b.blocks_loading},
          {"times_loaded", b.times_loaded}};
}

Json to_json(const Output& output) {
  return {{"buffer", output.buffer},
          {"type", output.type},
          {"count", output.count},
          {"hash", hash_text(output.hash)},
          {"nan", output.nan},
          {"min", output.min ? Json(*output.min) : Json(nullptr)},
          {"max", output.max ? Json(*output.max) : Json(nullptr)}};
}

Json to_json(const Occupancy& occupancy) {
  return {{"blocks_per_sm", occupancy.blocks_per_sm},
          {"warps_per_sm", occupancy.warps_per_sm},
          {"max_warps_per_sm", occupancy.max_warps_per_sm},
          {"registers_per_thread",
           occupancy.registers_per_thread ? Json(occupancy.registers_per_thread) : Json(nullptr)},
          {"limiter", occupancy.limiter}};
}

Json to_json(const KernelReport& kernel) {
  Json json = {{"name", kernel.name},
               {"file", kernel.file},
               {"launch", kernel.launch},
               {"grid", to_json(kernel.grid)},
               {"block", to_json(kernel.block)},
               {"blocks_run", kernel.blocks_run},
               {"local_bytes_per_thread", kernel.local_bytes_per_thread},
               {"metrics", to_json(named_metrics(kernel))}};
  Json lines = Json::array();
  for (const LineMetrics& line : kernel.lines)
    lines.push_back(
        {{"file", line.file}, {"line", line.line}, {"metrics", to_json(named_metrics(line.metrics, false))}});
  json["lines"] = std::move(lines);
  json["buffers"] = Json::array();
  for (const Buffer& buffer : kernel.buffers) json["buffers"].push_back(to_json(buffer));
  json["findings"] = Json::array();
  for (const diag::Finding& finding : kernel.findings) json["findings"].push_back(to_json(finding));
  json["suppressed"] = kernel.suppressed;
  json["outputs"] = Json::array();
  for (const Output& output : kernel.outputs) json["outputs"].push_back(to_json(output));
  json["occupancy"] = kernel.occupancy ? to_json(*kernel.occupancy) : Json(nullptr);
  json["printed"] = kernel.printed;
  return json;
}

}  // namespace

std::string render_json(const Report& report) {
  Json json = {{"schema", 1}, {"gpu", report.gpu}};
  json["kernels"] = Json::array();
  for (const KernelReport& kernel : report.kernels) json["kernels"].push_back(to_json(kernel));
  json["errors"] = Json::array();
  for (const Error& error : report.errors) {
    json["errors"].push_back({{"file", error.file},
                              {"line", error.line},
                              {"column", error.column},
                              {"message", error.message},
                              {"hint", error.hint}});
  }
  json["prints"] = Json::array();
  for (const Print& print : report.prints)
    json["prints"].push_back({{"file", print.file}, {"line", print.line}, {"text", print.text}});
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fullwarp::report
