#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/format.h"
#include "report/render.h"
#include "shapes/findings.h"
#include "shapes/render.h"

namespace fullwarp::shapes {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const std::optional<Estimate>& estimate, Basis basis) {
  if (!estimate) return nullptr;
  return {{"us", estimate->us},
          {"low_us", estimate->low_us},
          {"high_us", estimate->high_us},
          {"uncertain", basis == Basis::estimated || estimate->uncertain()}};
}

Json to_json(const Total& total) {
  return {{"us", total.us}, {"low_us", total.low_us}, {"high_us", total.high_us}, {"untimed", total.untimed}};
}

void add_work(Json& json, const Row& row) {
  const Operation& o = row.operation;
  if (const Gemm* g = std::get_if<Gemm>(&o.work)) {
    json["kind"] = "product";
    json["dtype"] = to_string(g->dtype);
    json["layout"] = to_string(g->layout);
    for (const auto& [name, value] : {std::pair{"m", g->m},
                                      {"n", g->n},
                                      {"k", g->k},
                                      {"lda", g->lda},
                                      {"ldb", g->ldb},
                                      {"ldc", g->ldc},
                                      {"batch", g->batch}})
      json[name] = value;
    json["alignment"] = row.alignment;
    if (row.tiles)
      json["tiles"] = {{"tile_m", row.tiles->tile_m}, {"tile_n", row.tiles->tile_n},
                       {"count", row.tiles->tiles},   {"waves", row.tiles->waves},
                       {"filled", row.tiles->filled}, {"useful", row.tiles->useful}};
  } else if (const Conv* c = std::get_if<Conv>(&o.work)) {
    json["kind"] = "convolution";
    json["dtype"] = to_string(c->dtype);
    for (const auto& [name, value] : {std::pair{"batch", c->batch},
                                      {"in", c->in},
                                      {"out", c->out},
                                      {"height", c->height},
                                      {"width", c->width},
                                      {"kernel_h", c->kernel_h},
                                      {"kernel_w", c->kernel_w},
                                      {"stride_h", c->stride_h},
                                      {"groups", c->groups}})
      json[name] = value;
    if (over_volumes(*c)) {
      json["depth"] = c->depth;
      json["kernel_d"] = c->kernel_d;
      json["stride_d"] = c->stride_d;
    }
  } else if (const Attention* a = std::get_if<Attention>(&o.work)) {
    json["kind"] = "attention";
    json["dtype"] = to_string(a->dtype);
    for (const auto& [name, value] : {std::pair{"batch", a->batch},
                                      {"heads", a->heads},
                                      {"kv_heads", a->kv_heads},
                                      {"queries", a->queries},
                                      {"keys", a->keys},
                                      {"head_size", a->head_size},
                                      {"value_size", a->value_size > 0 ? a->value_size : a->head_size},
                                      {"window", a->window}})
      json[name] = value;
    json["causal"] = a->causal;
  } else {
    const Gather& gather = std::get<Gather>(o.work);
    json["kind"] = "gather";
    json["dtype"] = to_string(gather.dtype);
    json["rows"] = gather.rows;
    json["width"] = gather.width;
  }
}

Json to_json(const Row& row, Basis basis) {
  const Operation& o = row.operation;
  Json json = {{"name", o.name}, {"step", to_string(o.step)}, {"count", o.count}};
  add_work(json, row);
  json["flops"] = flops(o);
  json["bytes"] = bytes(o);
  json["time"] = to_json(row.each, basis);
  if (row.least_us) json["at_least_us"] = *row.least_us;
  if (!o.note.empty()) json["note"] = o.note;
  return json;
}

Json to_json(const Change& change, Basis basis) {
  Json affected = Json::array();
  for (const Affected& a : change.affected)
    affected.push_back({{"name", a.name},
                        {"step", to_string(a.step)},
                        {"count", a.count},
                        {"before", a.before},
                        {"after", a.after},
                        {"now", to_json(a.now, basis)},
                        {"then", to_json(a.then, basis)}});
  Json json = {{"number", change.number.name},
               {"from", change.number.value},
               {"to", change.to},
               {"how", how_text(change)},
               {"cures_alignment", change.alignment},
               {"extra_weight_bytes", change.extra_weight_bytes},
               {"extra_flops", change.extra_flops},
               {"affected", std::move(affected)}};
  if (change.affected_now.us > 0) {
    json["affected_now"] = to_json(change.affected_now);
    json["affected_then"] = to_json(change.affected_then);
    json["pass_now"] = to_json(change.now);
    json["pass_then"] = to_json(change.then);
  }
  return json;
}

Json to_json(const diag::Finding& f) {
  Json notes = Json::array();
  for (const diag::Note& note : f.notes) notes.push_back(note.text);
  Json evidence = Json::object();
  for (const auto& [name, value] : f.evidence)
    std::visit([&, &key = name](const auto& v) { evidence[key] = v; }, value);
  return {{"rule", f.rule},
          {"level", report::to_string(f.level)},
          {"concerns", f.kernel},
          {"file", f.place.file},
          {"line", f.place.line},
          {"message", f.message},
          {"notes", std::move(notes)},
          {"evidence", std::move(evidence)},
          {"share", f.share},
          {"fix", f.fix}};
}

std::string_view basis_name(Basis basis) {
  static constexpr std::string_view kNames[] = {"measured", "scaled", "estimated"};
  return kNames[static_cast<size_t>(basis)];
}

Json to_json(const Advice& a) {
  Json rows = Json::array(), changes = Json::array(), found = Json::array();
  for (const Row& row : a.rows) rows.push_back(to_json(row, a.basis));
  for (const Change& change : a.changes) changes.push_back(to_json(change, a.basis));
  for (const diag::Finding& f : a.findings) found.push_back(to_json(f));
  Json json = {{"file", a.file},
               {"title", a.title},
               {"gpu", a.gpu},
               {"basis", basis_name(a.basis)},
               {"conditions", a.conditions},
               {"run",
                {{"batch", a.run.batch},
                 {"sequence", a.run.sequence},
                 {"cached", a.run.cached},
                 {"tensor_parallel", a.run.tensor_parallel},
                 {"backward", a.run.backward},
                 {"last_logits", a.run.last_logits},
                 {"dtype", to_string(a.run.dtype)},
                 {"sizes_of_file", a.own_run}}},
               {"notes", a.notes},
               {"operations", std::move(rows)},
               {"total", a.total.us > 0 ? to_json(a.total) : Json()},
               {"changes", std::move(changes)}};
  json["together"] = nullptr;
  if (a.together) {
    Json numbers = Json::object();
    for (const auto& [name, value] : a.together->numbers) numbers[name] = value;
    json["together"] = {{"numbers", std::move(numbers)}, {"pass_then", to_json(a.together->then)}};
  }
  json["findings"] = std::move(found);
  return json;
}

Json to_json(const Error& error) {
  return {{"file", error.file}, {"line", error.line}, {"message", error.message}, {"hint", error.hint}};
}

}  // namespace

std::string render_json(std::span<const Advice> advices, std::span<const Error> errors) {
  Json json = {{"schema", 1}, {"models", Json::array()}, {"errors", Json::array()}};
  for (const Advice& advice : advices) json["models"].push_back(to_json(advice));
  for (const Error& error : errors) json["errors"].push_back(to_json(error));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string render_sarif(std::span<const Advice> advices, std::span<const Error> errors) {
  report::Report report;
  report.errors.assign(errors.begin(), errors.end());
  for (const Advice& advice : advices) {
    report.gpu = advice.gpu;
    report::KernelReport& kernel = report.kernels.emplace_back();
    kernel.name = advice.title;
    kernel.file = advice.file;
    kernel.findings = advice.findings;
  }
  std::vector<report::RuleText> texts;
  for (const RuleInfo& rule : rule_infos())
    texts.push_back({rule.id, rule.summary, explain(rule.id), rule.level});
  return report::render_sarif(report, texts);
}

std::string render_csv(std::span<const Advice> advices) {
  const auto quoted = [](const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string out = "\"";
    for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
  };
  std::string out = "file,operation,step,size,count,flops,bytes,us,low_us,high_us,alignment\n";
  for (const Advice& advice : advices) {
    for (const Row& row : advice.rows) {
      const Operation& o = row.operation;
      out += fmt::format("{},{},{},{},{:.6g},{:.6g},{:.6g},", quoted(advice.file), quoted(o.name),
                         to_string(o.step), quoted(describe(o)), o.count, flops(o), bytes(o));
      out += row.each ? fmt::format("{:.5g},{:.5g},{:.5g}", row.each->us, row.each->low_us, row.each->high_us)
                      : ",,";
      out += "," + quoted(row.alignment) + "\n";
    }
  }
  return out;
}

}  // namespace fullwarp::shapes
