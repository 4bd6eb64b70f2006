// Judges a model's sizes: what each operation takes, which numbers fall off a cliff, what padding them costs
// and gains. Everything is data; render.h turns it into text, JSON, SARIF, CSV, HTML and a picture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diag/finding.h"
#include "shapes/formula.h"
#include "shapes/model.h"
#include "shapes/time_table.h"

namespace fullwarp::shapes {

// Thresholds, each with its reason.
inline constexpr double kWarningGain = 1.10;    // on the operations concerned: below, a fix is a note
inline constexpr double kWarningShare = 0.002;  // of the pass: below, a fix gains nothing that one would see
inline constexpr double kTileGain = 1.15;      // for an aligned number, and only where the ranges do not meet
inline constexpr double kSmallestPad = 0.015;  // a larger pad must gain this much more of the time
inline constexpr size_t kMostNumbers = 24;     // of a list or log: those with most time

struct Row {
  Operation operation;
  std::optional<Estimate> each;    // of one
  std::optional<double> least_us;  // where there is no time: what its memory traffic alone takes
  std::string alignment;           // "16 bytes", "A, C: 2 bytes"; empty where it means nothing
  std::optional<TileFit> tiles;    // products on tensor cores
};

struct Total {
  double us = 0, low_us = 0, high_us = 0;
  size_t untimed = 0;  // operations without an estimate
};

struct Affected {
  std::string name;
  Step step = Step::forward;
  std::string before, after;  // sizes
  double count = 1;
  std::optional<Estimate> now, then;  // of all `count`
};

struct Change {
  Number number;
  int64_t to = 0;
  std::vector<Affected> affected;
  Total now, then;  // of the whole pass
  Total affected_now, affected_then;
  double extra_weight_bytes = 0;  // of parameters, on one rank
  double extra_flops = 0;         // of one pass
  bool alignment = false;         // it brings some operand to 16 bytes
  bool only_heads = true;         // ... and those are attention's heads alone
  bool only_channels = true;      // every operation concerned is a convolution
  double affected_flops = 0;      // of the operations concerned, as they are now
};

// All worthwhile changes at once.
struct Together {
  std::vector<std::pair<std::string, int64_t>> numbers;
  Total then;
};

struct Advice {
  std::string file, title, gpu;
  Basis basis = Basis::measured;
  std::string conditions;
  RunOptions run;
  bool own_run = false;  // sizes come from the file: batch and sequence do not matter
  std::vector<std::string> notes;
  std::vector<Row> rows;  // in the order of the model
  Total total;
  std::vector<Change> changes;  // the largest gain first; only such as gain or cure
  std::optional<Together> together;
  std::vector<diag::Finding> findings;
};

Advice advise(const Model& model, const RunOptions& run, const gpu::Gpu& gpu);

// Time of the pass for values of one number.
struct Curve {
  std::string number;
  int64_t now = 0, to = 0;  // to: 0 if no change is proposed
  std::vector<std::pair<int64_t, Total>> points;
};

// Around the number `name`, or that of the first change, or that with most time; an error if there is no such
// number.
Result<Curve> curve_of(const Model& model, const Advice& advice, const gpu::Gpu& gpu,
                       const std::string& name);

}  // namespace fullwarp::shapes
