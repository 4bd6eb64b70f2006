#include "shapes/time_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "shapes/bounds.h"
#include "shapes/embedded.h"
#include "shapes/formula.h"

namespace fullwarp::shapes {

namespace {

constexpr std::string_view kMeasuredGpu = "h200";
constexpr size_t kNeighbours = 10;
constexpr double kSharpness = 3;  // of the weights: the farthest neighbour has e^-3
constexpr double kRange =
    1.28;  // standard deviations of the neighbours; tails are heavy, so nine of ten lie inside
constexpr double kLeastSpread = 0.05;    // of the logarithm; measurements themselves repeat within 2 %
constexpr double kSpreadPerStep = 0.03;  // ... for each factor of two that the nearest point is away
constexpr double kLaunchUs = 2.4, kCopyBytesPerUs = 3.6e6;  // measured copies, read and written, on an H200
constexpr double kScaledSpread = 0.2;                       // added on a GPU that was not measured
constexpr double kEstimatedSpread = 0.55;                   // ... nor any of its architecture
constexpr uint32_t kLeastFusedAttention = 80;  // FlashAttention-2, which was measured, needs Ampere

// Rows of an embedded table by column name.
class Csv {
 public:
  explicit Csv(std::string_view name) {
    std::string_view text = embedded_table(name);
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.starts_with('#')) {
        notes_.push_back(line.substr(2));
      } else if (columns_.empty()) {
        columns_ = split(line);
      } else if (!line.empty()) {
        rows_.push_back(split(line));
      }
    }
  }

  size_t size() const { return rows_.size(); }
  const std::vector<std::string_view>& notes() const { return notes_; }
  std::string_view text(size_t row, std::string_view column) const { return rows_[row][index(column)]; }
  double number(size_t row, std::string_view column) const {
    const std::string_view field = text(row, column);
    double value = 0;
    std::from_chars(field.data(), field.data() + field.size(), value);
    return value;
  }
  int64_t whole(size_t row, std::string_view column) const {
    return static_cast<int64_t>(number(row, column));
  }

 private:
  static std::vector<std::string_view> split(std::string_view line) {
    std::vector<std::string_view> fields;
    for (size_t start = 0;;) {
      const size_t comma = line.find(',', start);
      fields.push_back(line.substr(start, comma - start));
      if (comma == std::string_view::npos) return fields;
      start = comma + 1;
    }
  }
  size_t index(std::string_view column) const {
    return static_cast<size_t>(std::find(columns_.begin(), columns_.end(), column) - columns_.begin());
  }

  std::vector<std::string_view> notes_, columns_;
  std::vector<std::vector<std::string_view>> rows_;
};

constexpr size_t kFeatures = 5;
using Features = std::array<double, kFeatures>;

struct Point {
  Features at = {};
  double residual = 0;  // log(measured / formula)
};

struct Residual {
  double value = 0, spread = 0;
};

double distance_squared(const Features& a, const Features& b) {
  double sum = 0;
  for (size_t i = 0; i < kFeatures; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

Residual interpolate(std::span<const Point> points, const Features& at) {
  struct Near {
    double distance = 0, residual = 0;
  };
  std::array<Near, kNeighbours> nearest;
  size_t count = 0;
  const auto closer = [](const Near& a, const Near& b) { return a.distance < b.distance; };
  for (const Point& point : points) {  // a heap with the farthest of the nearest on top
    const Near near = {distance_squared(point.at, at), point.residual};
    if (count < kNeighbours) {
      nearest[count++] = near;
      std::push_heap(nearest.begin(), nearest.begin() + count, closer);
    } else if (near.distance < nearest[0].distance) {
      std::pop_heap(nearest.begin(), nearest.end(), closer);
      nearest.back() = near;
      std::push_heap(nearest.begin(), nearest.end(), closer);
    }
  }
  if (count == 0) return {};
  const double farthest = nearest[0].distance + 1e-9;
  double weights = 0, sum = 0, least = farthest;
  for (size_t i = 0; i < count; ++i) {
    const double weight = std::exp(-kSharpness * nearest[i].distance / farthest);
    weights += weight;
    sum += weight * nearest[i].residual;
    least = std::min(least, nearest[i].distance);
  }
  Residual result = {sum / weights, 0};
  double squares = 0;
  for (size_t i = 0; i < count; ++i)
    squares += std::exp(-kSharpness * nearest[i].distance / farthest) * (nearest[i].residual - result.value) *
               (nearest[i].residual - result.value);
  result.spread = std::sqrt(squares / weights) + kSpreadPerStep * std::sqrt(least);
  return result;
}

Estimate estimate(double formula_us, const Residual& residual, double extra_spread) {
  const double spread = std::sqrt(residual.spread * residual.spread + kLeastSpread * kLeastSpread +
                                  extra_spread * extra_spread);
  const double us = formula_us * std::exp(residual.value);
  return {us, us * std::exp(-kRange * spread), us * std::exp(kRange * spread)};
}

// Sizes that fall off the cliff run kernels of Ampere's kind on Hopper too (the newer ones copy 16 bytes at a
// time), which loads limit, not tensor cores: their rate goes with SMs and clock. No GPU runs them faster
// than sizes that fit.
Estimate slower(const Estimate& a, const Estimate& b) {
  return {std::max(a.us, b.us), std::max(a.low_us, b.low_us), std::max(a.high_us, b.high_us)};
}

double log2_of(int64_t value) { return std::log2(static_cast<double>(std::max<int64_t>(1, value))); }

Features features(const Gemm& g) { return {log2_of(g.m), log2_of(g.n), log2_of(g.k), 0, 0}; }

Features features(const Conv& c) {
  return {0.6 * (log2_of(c.batch) + log2_of(c.out_height) + log2_of(c.out_width)), log2_of(c.out),
          log2_of(c.in), 1.2 * (log2_of(c.kernel_h) + log2_of(c.kernel_w)), c.stride_h > 1 ? 2.0 : 0.0};
}

// A wide head takes twice the time of a narrow one at once, where a tile more is needed: heads differ most.
Features features(const Attention& a) {
  return {0.3 * (log2_of(a.batch) + log2_of(a.heads)), 0.5 * (log2_of(a.queries) + log2_of(a.keys)),
          4 * log2_of(a.head_size), a.causal ? 0.5 : 0.0, 0};
}

template <class Work, class Constants>
struct Group {
  Constants constants;
  std::vector<Point> points;
};

using GemmKey = std::tuple<Dtype, Layout, Alignment, Alignment>;
using ConvKey =
    std::tuple<bool, Step, bool, bool>;             // channels last, pass, channels in and out multiples of 8
using AttentionKey = std::tuple<bool, bool, bool>;  // backward too, multiple of 8, at most 256

ConvKey key_of(const Conv& c) { return {c.channels_last, c.step, c.in % 8 == 0, c.out % 8 == 0}; }
AttentionKey key_of(const Attention& a) { return {a.backward, a.head_size % 8 == 0, a.head_size <= 256}; }

Alignment alignment_named(std::string_view name) {
  return name == "full" ? Alignment::full : name == "even" ? Alignment::even : Alignment::odd;
}
Layout layout_named(std::string_view name) {
  return name == "NT" ? Layout::nt : name == "TN" ? Layout::tn : Layout::nn;
}
Step step_named(std::string_view name) {
  return name == "forward"          ? Step::forward
         : name == "input_gradient" ? Step::input_gradient
                                    : Step::weight_gradient;
}

GemmConstants gemm_constants(const Csv& csv, size_t row) {
  return {csv.number(row, "launch_us"), csv.number(row, "flop_per_us_sm"), csv.number(row, "bytes_per_us"),
          csv.number(row, "tile_us"), csv.number(row, "edge")};
}

}  // namespace

struct TimeTable::Data {
  std::map<GemmKey, Group<Gemm, GemmConstants>> gemms;
  std::map<ConvKey, Group<Conv, GemmConstants>> convs;
  std::map<AttentionKey, Group<Attention, AttentionConstants>> attentions;
  std::string conditions;

  Data() {
    read_gemms();
    read_convs();
    read_attentions();
  }

  void read_gemms() {
    const auto key = [](const Csv& csv, size_t row) -> GemmKey {
      return {*dtype_named(csv.text(row, "dtype")), layout_named(csv.text(row, "layout")),
              alignment_named(csv.text(row, "ab")), alignment_named(csv.text(row, "c"))};
    };
    const Csv fit("h200_gemm_fit");
    for (size_t row = 0; row < fit.size(); ++row) gemms[key(fit, row)].constants = gemm_constants(fit, row);
    const Csv measured("h200_gemm");
    conditions = measured.notes().empty() ? "" : std::string(measured.notes()[0]);
    for (size_t row = 0; row < measured.size(); ++row) {
      const GemmKey group_key = key(measured, row);
      Group<Gemm, GemmConstants>& group = gemms[group_key];
      const Gemm gemm =
          dense_gemm(std::get<Dtype>(group_key), std::get<Layout>(group_key), measured.whole(row, "M"),
                     measured.whole(row, "N"), measured.whole(row, "K"));
      group.points.push_back(
          {features(gemm), std::log(measured.number(row, "us") / gemm_us(gemm, group.constants))});
    }
  }

  void read_convs() {
    const Csv fit("h200_conv_fit");
    for (size_t row = 0; row < fit.size(); ++row)
      convs[{fit.text(row, "memory") == "nhwc", step_named(fit.text(row, "pass")),
             fit.text(row, "in") == "full", fit.text(row, "out") == "full"}]
          .constants = gemm_constants(fit, row);
    const Csv measured("h200_conv");
    for (size_t row = 0; row < measured.size(); ++row) {
      Conv c;
      c.dtype = *dtype_named(measured.text(row, "dtype"));
      c.channels_last = measured.text(row, "memory") == "nhwc";
      c.step = step_named(measured.text(row, "pass"));
      c.batch = measured.whole(row, "batch"), c.in = measured.whole(row, "in"),
      c.out = measured.whole(row, "out");
      c.height = measured.whole(row, "height"), c.width = measured.whole(row, "width");
      c.kernel_h = measured.whole(row, "kernel_h"), c.kernel_w = measured.whole(row, "kernel_w");
      c.stride_h = measured.whole(row, "stride"), c.stride_w = c.width > 1 ? c.stride_h : 1;
      const auto pixels = [](int64_t size, int64_t kernel,
                             int64_t stride) {  // padding as hw/shapes_grid.py has it
        return (size + 2 * (kernel < 8 ? kernel / 2 : 0) - kernel) / stride + 1;
      };
      c.out_height = pixels(c.height, c.kernel_h, c.stride_h);
      c.out_width = pixels(c.width, c.kernel_w, c.stride_w);
      Group<Conv, GemmConstants>& group = convs[key_of(c)];
      group.points.push_back(
          {features(c), std::log(measured.number(row, "us") / conv_us(c, group.constants))});
    }
  }

  void read_attentions() {
    const Csv fit("h200_attention_fit");
    for (size_t row = 0; row < fit.size(); ++row)
      attentions[{fit.text(row, "pass") != "forward", fit.text(row, "alignment") == "full",
                  fit.text(row, "size") == "small"}]
          .constants = {fit.number(row, "launch_us"), fit.number(row, "us_per_score"),
                        fit.number(row, "us_per_product"), fit.number(row, "bytes_per_us")};
    const Csv measured("h200_attention");
    for (size_t row = 0; row < measured.size(); ++row) {
      Attention a;
      a.backward = measured.text(row, "pass") != "forward";
      a.causal = measured.whole(row, "causal") != 0;
      a.batch = measured.whole(row, "batch");
      a.heads = a.kv_heads = measured.whole(row, "heads");
      a.queries = a.keys = measured.whole(row, "length");
      a.head_size = measured.whole(row, "head_size");
      Group<Attention, AttentionConstants>& group = attentions[key_of(a)];
      group.points.push_back(
          {features(a), std::log(measured.number(row, "us") / attention_us(a, group.constants))});
    }
  }
};

const TimeTable::Data& TimeTable::data() {
  static const Data data;
  return data;
}

TimeTable::TimeTable(const gpu::Gpu& gpu) : gpu_(gpu) {
  const gpu::Gpu& measured = *gpu::find_gpu(kMeasuredGpu);
  basis_ = gpu.name == kMeasuredGpu                  ? Basis::measured
           : gpu.sm->version == measured.sm->version ? Basis::scaled
                                                     : Basis::estimated;
  if (basis_ == Basis::measured) return;
  const double sms = static_cast<double>(measured.sms) / gpu.sms;
  fp32_ = gpu.fp32_tflops / measured.fp32_tflops * sms;
  tf32_ = gpu.tf32_tflops / measured.tf32_tflops * sms;
  half_ = gpu.f16_tensor_tflops / measured.f16_tensor_tflops * sms;
  int8_ = gpu.int8_tops / measured.int8_tops * sms;
  memory_ = gpu.dram_gb_per_s / measured.dram_gb_per_s;
  clock_per_sm_ = static_cast<double>(gpu.boost_mhz) / measured.boost_mhz;
  spread_ = basis_ == Basis::scaled ? kScaledSpread : kEstimatedSpread;
  if (basis_ == Basis::estimated && gpu.base_mhz > 0)
    clock_ = static_cast<double>(gpu.boost_mhz) / gpu.base_mhz;
}

const std::string& TimeTable::conditions() const { return data().conditions; }

std::optional<Estimate> TimeTable::time(const Operation& operation) const {
  const bool reads_only = std::holds_alternative<Gather>(operation.work);
  if (!reads_only && peak_tflops(gpu_, dtype_of(operation)) == 0) return std::nullopt;
  const std::optional<Estimate> each =
      std::visit([this](const auto& work) { return time(work); }, operation.work);
  if (!each || basis_ != Basis::estimated) return each;
  const double low = bound_us(operation, gpu_), high = std::max(low, each->high_us * clock_);
  return Estimate{std::sqrt(low * high), low, high};
}

std::optional<Estimate> TimeTable::time(const Gemm& gemm) const {
  const GemmAlignment alignment = alignment_of(gemm);
  Gemm as = gemm;
  double extra = spread_;
  if (as.layout == Layout::tt) {  // not measured; the kernels of TN are the nearest
    as.layout = Layout::tn;
    extra += 0.2;
  }
  if (gemm.batch > 1) extra += 0.15;  // batched products were not measured
  GemmKey key = {as.dtype, as.layout, alignment.ab, alignment.c};
  auto& [dtype, layout, ab, c] = key;
  if (dtype == Dtype::fp8 || dtype == Dtype::int8) {
    if (ab != Alignment::full || c != Alignment::full) return std::nullopt;
    layout = as.layout = Layout::nt;  // the only one Hopper's kernels take; frameworks transpose beforehand
  }
  // Groups as hw/shapes_table.py makes them.
  if (dtype == Dtype::fp32) ab = c = Alignment::full;
  if (dtype == Dtype::fp16 && ab == Alignment::full && c == Alignment::full) dtype = Dtype::bf16;
  auto found = data().gemms.find(key);
  if (found == data().gemms.end()) {
    ab = c = std::min(ab, c);
    found = data().gemms.find(key);
  }
  if (found == data().gemms.end()) return std::nullopt;
  const double compute = dtype == Dtype::fp32   ? fp32_
                         : dtype == Dtype::tf32 ? tf32_
                         : dtype == Dtype::int8
                             ? int8_
                             : half_;  // that of fp8 is twice the half-precision one everywhere
  const auto& group = found->second;
  const bool fits = (ab == Alignment::full && c == Alignment::full) || basis_ != Basis::estimated;
  const Estimate own =
      estimate(gemm_us(as, group.constants, {gpu_.sms, fits ? compute : clock_per_sm_, memory_}),
               interpolate(group.points, features(as)), extra);
  if (fits) return own;
  ab = c = Alignment::full;
  if (dtype == Dtype::fp16) dtype = Dtype::bf16;
  const auto& fitting = data().gemms.at(key);
  return slower(own, estimate(gemm_us(as, fitting.constants, {gpu_.sms, compute, memory_}),
                              interpolate(fitting.points, features(as)), extra));
}

std::optional<Estimate> TimeTable::time(const Conv& conv) const {
  if (conv.groups != 1 || over_volumes(conv) || (conv.dtype != Dtype::bf16 && conv.dtype != Dtype::fp16))
    return std::nullopt;
  double extra = spread_;
  Conv as = conv;
  if (!as.channels_last && as.step != Step::forward) {  // measured with channels last only
    as.channels_last = true;
    extra += 0.3;
  }
  const auto found = data().convs.find(key_of(as));
  if (found == data().convs.end()) return std::nullopt;
  const auto& group = found->second;
  const bool fits = (as.in % 8 == 0 && as.out % 8 == 0) || basis_ != Basis::estimated;
  const Estimate own =
      estimate(conv_us(as, group.constants, {gpu_.sms, fits ? half_ : clock_per_sm_, memory_}),
               interpolate(group.points, features(as)), extra);
  if (fits) return own;
  const auto& fitting = data().convs.at({as.channels_last, as.step, true, true});
  return slower(own, estimate(conv_us(as, fitting.constants, {gpu_.sms, half_, memory_}),
                              interpolate(fitting.points, features(as)), extra));
}

std::optional<Estimate> TimeTable::time(const Attention& attention) const {
  if (attention.dtype != Dtype::bf16 && attention.dtype != Dtype::fp16) return std::nullopt;
  if (gpu_.sm->version < kLeastFusedAttention) return std::nullopt;
  const auto found = data().attentions.find(key_of(attention));
  if (found == data().attentions.end()) return std::nullopt;
  double extra = spread_;
  // Not measured: two lengths (behind a cache kernels split the keys), narrower values, windows.
  if (attention.queries != attention.keys) extra += attention.causal ? 0.5 : 0.2;
  if (attention.value_size != 0 && attention.value_size != attention.head_size) extra += 0.2;
  if (attention.window != 0) extra += 0.3;
  const auto& group = found->second;
  return estimate(attention_us(attention, group.constants, {gpu_.sms, half_, memory_}),
                  interpolate(group.points, features(attention)), extra);
}

double TimeTable::least_us(const Operation& operation) const {
  if (basis_ == Basis::estimated) return bound_us(operation, gpu_);
  return kLaunchUs + bytes(operation) / (kCopyBytesPerUs * memory_);
}

std::optional<Estimate> TimeTable::time(const Gather& gather) const {
  const double us = kLaunchUs + bytes(Operation{.work = gather}) / (kCopyBytesPerUs * memory_);
  return Estimate{us, us * 0.85, us * 1.25 * std::exp(kRange * spread_)};
}

}  // namespace fullwarp::shapes
