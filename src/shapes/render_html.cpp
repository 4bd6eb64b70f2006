// The picture of the cliff, and the page around it. Colours are those of the checker's page; nothing is
// fetched, no script runs, and what stands in files is escaped.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/format.h"
#include "shapes/findings.h"
#include "shapes/render.h"

namespace fullwarp::shapes {

namespace {

constexpr double kWidth = 860, kHeight = 340, kLeft = 90, kRight = 24, kTop = 34, kBottom = 52;

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : report::printable(text)) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

// 1, 2 or 5 times a power of ten, so that about `count` steps fit.
double tick_step(double span, double count) {
  const double raw = span / count, power = std::pow(10, std::floor(std::log10(raw)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= raw) return factor * power;
  return 10 * power;
}

class Picture {
 public:
  Picture(const Curve& curve, const Advice& advice) : curve_(curve), advice_(advice) {
    first_ = static_cast<double>(curve.points.front().first);
    last_ = std::max(first_ + 1, static_cast<double>(curve.points.back().first));
    for (const auto& [value, total] : curve.points) most_ = std::max(most_, total.high_us);
    most_ = std::max(most_, 1e-3);
  }

  std::string draw() && {
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"system-ui, sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" "
        "fill=\"#fff\"/>\n",
        kWidth, kHeight);
    const bool size = curve_.number == fmt::format("{}", curve_.now);
    text(kLeft, 18,
         fmt::format("{}: time of the pass against {}", advice_.title, size ? "this size" : curve_.number),
         "#222", "start");
    axes();
    band();
    marks();
    legend();
    return std::move(out_) + "</svg>\n";
  }

 private:
  double x(double value) const {
    return kLeft + (value - first_) / (last_ - first_) * (kWidth - kLeft - kRight);
  }
  double y(double us) const { return kHeight - kBottom - us / most_ * (kHeight - kTop - kBottom); }

  void text(double at_x, double at_y, const std::string& words, const char* colour, const char* anchor) {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" fill=\"{}\" text-anchor=\"{}\">{}</text>\n", at_x,
                        at_y, colour, anchor, escaped(words.substr(0, 130)));
  }

  void axes() {
    for (double us = 0, step = tick_step(most_, 5); us <= most_ * 1.001; us += step) {
      out_ += fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#e4e4e4\"/>\n",
                          kLeft, kWidth - kRight, y(us), y(us));
      text(kLeft - 8, y(us) + 4, us == 0 ? "0" : duration(us), "#555", "end");
    }
    const double step = std::max(1.0, tick_step(last_ - first_, 8));
    for (double value = std::ceil(first_ / step) * step; value <= last_; value += step)
      text(x(value), kHeight - kBottom + 16, fmt::format("{:.0f}", value), "#555", "middle");
  }

  // The range, and the estimate as steps: every value holds for itself alone.
  void band() {
    std::string upper, lower, line;
    for (const auto& [value, total] : curve_.points) {
      upper += fmt::format("{:.1f},{:.1f} ", x(static_cast<double>(value)), y(total.high_us));
      lower.insert(0, fmt::format("{:.1f},{:.1f} ", x(static_cast<double>(value)), y(total.low_us)));
      line += fmt::format("{:.1f},{:.1f} ", x(static_cast<double>(value)), y(total.us));
    }
    out_ += fmt::format("<polygon points=\"{}{}\" fill=\"#1f77b4\" fill-opacity=\"0.15\"/>\n", upper, lower);
    out_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"#1f77b4\" stroke-width=\"1.2\"/>\n",
                        line);
    for (const auto& [value, total] : curve_.points)
      if (value % 8 == 0)
        out_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\" fill=\"#1f77b4\"/>\n",
                            x(static_cast<double>(value)), y(total.us));
  }

  void mark(int64_t value, const char* colour, const std::string& word) {
    for (const auto& [at, total] : curve_.points) {
      if (at != value) continue;
      const double px = x(static_cast<double>(value)), py = y(total.us);
      out_ += fmt::format(
          "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" stroke=\"{3}\" "
          "stroke-dasharray=\"4 3\"/>\n<circle cx=\"{0:.1f}\" cy=\"{4:.1f}\" r=\"5\" fill=\"{3}\"/>\n",
          px, kTop, kHeight - kBottom, colour, py);
      const bool left = px > kWidth * 0.7;
      text(px + (left ? -9 : 9), std::max(kTop + 12, py - 8),
           fmt::format("{} {}: {}", word, value, time_text(total, advice_.basis)), colour,
           left ? "end" : "start");
    }
  }

  void marks() {
    mark(curve_.now, "#c0392b", "now");
    if (curve_.to != 0) mark(curve_.to, "#1e8449", "padded");
  }

  void legend() {
    const std::string_view words =
        advice_.basis == Basis::estimated
            ? "dots: multiples of 8; band: estimated for {0}, where nothing was measured, from "
              "the least its data sheet allows to the H200's efficiency"
        : advice_.basis == Basis::scaled
            ? "dots: multiples of 8; band: nine of ten measurements; estimated for {0} from "
              "measurements on an H200"
            : "dots: multiples of 8; band: nine of ten measurements; interpolated between "
              "measurements on an H200";
    text(kLeft, kHeight - 12, fmt::format(fmt::runtime(words), advice_.gpu), "#555", "start");
  }

  const Curve& curve_;
  const Advice& advice_;
  double first_ = 0, last_ = 1, most_ = 0;
  std::string out_;
};

constexpr std::string_view kStyle =
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:64em;color:#222}"
    "table{border-collapse:collapse;font-size:13px}td,th{padding:.2em "
    ".7em;text-align:right;border-bottom:1px solid #eee}"
    "td:first-child,th:first-child,td.l{text-align:left}.warning{color:#8e44ad}.error{color:#c0392b}.note{"
    "color:#2471a3}"
    ".finding{margin:.8em 0}code{background:#f4f4f4}";

void page_of(std::string& out, const Advice& a, const Curve* curve) {
  out += fmt::format("<h1>{}</h1>\n<p>{}</p>\n", escaped(a.file), escaped(a.title));
  for (const std::string& note : a.notes) out += fmt::format("<p class=\"note\">{}</p>\n", escaped(note));
  const bool estimated = a.basis == Basis::estimated;
  if (estimated && a.total.us > 0)
    out += fmt::format(
        "<p>In all {} on {}: an estimated range, nothing was measured on this architecture.</p>\n",
        time_text(a.total, a.basis), escaped(a.gpu));
  if (!estimated)
    out += fmt::format("<p>In all {} ({} to {}) on {}.</p>\n", duration(a.total.us), duration(a.total.low_us),
                       duration(a.total.high_us), escaped(a.gpu));
  if (curve != nullptr && a.total.us > 0) out += render_svg(*curve, a);
  for (const diag::Finding& f : a.findings) {
    out += fmt::format("<div class=\"finding\"><b class=\"{0}\">{0}</b> {1} <code>{2}</code>",
                       report::to_string(f.level), escaped(f.message), f.rule);
    for (const diag::Note& note : f.notes) out += fmt::format("<br>{}", escaped(note.text));
    if (!f.fix.empty()) out += fmt::format("<br><b>fix</b> {}", escaped(f.fix));
    out += "</div>\n";
  }
  out +=
      "<table><tr><th>operation</th><th>step</th><th>size</th><th>count</th><th>each</th><th>range</"
      "th><th>aligned to</th></tr>\n";
  constexpr size_t kMostRows = 2000;
  for (size_t i = 0; i < a.rows.size() && i < kMostRows; ++i) {
    const Row& row = a.rows[i];
    out += fmt::format(
        "<tr><td>{}</td><td class=\"l\">{}</td><td class=\"l\">{}</td><td>{:.6g}</td><td>{}</td><td>{}</td>"
        "<td>{}</td></tr>\n",
        escaped(row.operation.name), to_string(row.operation.step), escaped(describe(row.operation)),
        row.operation.count, row.each && !estimated ? duration(row.each->us) : "-",
        row.each ? fmt::format("{} to {}", duration(row.each->low_us), duration(row.each->high_us)) : "-",
        escaped(row.alignment));
  }
  out += "</table>\n";
}

}  // namespace

std::string render_svg(const Curve& curve, const Advice& advice) {
  if (curve.points.empty()) return {};
  return Picture(curve, advice).draw();
}

std::string render_html(std::span<const Advice> advices, std::span<const Curve> curves,
                        std::span<const Error> errors) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>fullwarp "
      "shapes</title><style>{}</style>"
      "</head><body>\n",
      kStyle);
  for (const Error& error : errors)
    out += fmt::format("<p class=\"error\">{}</p>\n", escaped(error.to_string()));
  for (size_t i = 0; i < advices.size(); ++i)
    page_of(out, advices[i], i < curves.size() && !curves[i].points.empty() ? &curves[i] : nullptr);
  return out + "</body></html>\n";
}

}  // namespace fullwarp::shapes
