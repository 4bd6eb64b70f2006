// An advice in, text out. None of these opens a file or looks at the environment; equal advices give equal
// text.
#pragma once

#include <span>
#include <string>

#include "report/report.h"
#include "shapes/advise.h"

namespace fullwarp::shapes {

struct TextOptions {
  bool colour = false;
  bool table = true;  // the table of operations
  size_t rows = 30;   // of it at most, those with most time
};
std::string render_text(const Advice& advice, const TextOptions& options = {});

// Schema 1 (docs/shapes.md, docs/schema/shapes-1.json). UTF-8; bytes that are not UTF-8 are replaced.
std::string render_json(std::span<const Advice> advices, std::span<const Error> errors);

// One row per operation.
std::string render_csv(std::span<const Advice> advices);

// For code review tools; the findings as the checker's report has them.
std::string render_sarif(std::span<const Advice> advices, std::span<const Error> errors);

// Time against one number, the cliff and the pad marked: an SVG image of its own.
std::string render_svg(const Curve& curve, const Advice& advice);

// A page without scripts or outside references: findings, curves, the table. One curve per advice or none.
std::string render_html(std::span<const Advice> advices, std::span<const Curve> curves,
                        std::span<const Error> errors);

}  // namespace fullwarp::shapes
