#include "shapes/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "shapes/bounds.h"
#include "shapes/findings.h"

namespace fullwarp::shapes {

namespace {

constexpr int64_t kUnits[] = {1, 8, 16, 32};  // times 16 bytes of elements: 8, 64, 128, 256 of 16 bits
// Where only estimates exist, a pad to 128 bytes is preferred if it costs no more than this: NVIDIA's guide
// asks for it on the A100, and cuBLAS was seen to be slow at odd multiples of 16 bytes on an RTX 4090
// (docs/shapes.md, "Other GPUs").
constexpr double kCautiousPad = 0.02;

int64_t up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// Images of 3 and 4 channels have kernels of their own: measured, 8 channels take twice the time of 3. With
// several groups nothing was measured.
bool keeps_alignment(const Conv& c) {
  constexpr int64_t kImageChannels = 4;
  return c.groups > 1 || ((c.in <= kImageChannels || c.in % 8 == 0) && c.out % 8 == 0);
}

// Whether all operands keep to 16 bytes; channels and head sizes likewise to 8.
bool keeps_alignment(const Operation& operation) {
  if (const Gemm* g = std::get_if<Gemm>(&operation.work)) {
    if (g->dtype == Dtype::fp32) return true;  // its kernels load single elements: no cliff
    const GemmAlignment alignment = alignment_of(*g);
    return alignment.ab == Alignment::full && alignment.c == Alignment::full;
  }
  if (const Conv* c = std::get_if<Conv>(&operation.work)) return keeps_alignment(*c);
  if (const Attention* a = std::get_if<Attention>(&operation.work)) return a->head_size % 8 == 0;
  return true;
}

// How many operands do not: a change may cure one of two.
int misaligned_operands(const Operation& operation) {
  const Gemm* g = std::get_if<Gemm>(&operation.work);
  if (g == nullptr || g->dtype == Dtype::fp32) return keeps_alignment(operation) ? 0 : 1;
  const std::array<int64_t, 3> extents = contiguous_extents(*g);
  const std::array<int64_t, 3> pitches = {g->lda, g->ldb, g->ldc};
  int count = 0;
  for (size_t i = 0; i < 3; ++i)
    count += alignment_of(extents[i], pitches[i], g->base_bytes[i], g->dtype) == Alignment::full ? 0 : 1;
  return count;
}

std::string alignment_text(const Operation& operation) {
  const Gemm* g = std::get_if<Gemm>(&operation.work);
  if (g == nullptr) return {};
  const std::array<int64_t, 3> extents = contiguous_extents(*g);
  const std::array<int64_t, 3> pitches = {g->lda, g->ldb, g->ldc};
  std::map<uint32_t, std::string> worse;
  for (size_t i = 0; i < 3; ++i) {
    uint32_t bytes = kVectorBytes;
    while (bytes > 1 && (extents[i] * element_bytes(g->dtype) % bytes != 0 ||
                         pitches[i] * element_bytes(g->dtype) % bytes != 0 || g->base_bytes[i] < bytes))
      bytes /= 2;
    if (bytes < kVectorBytes)
      worse[bytes] += worse[bytes].empty() ? std::string(1, "ABC"[i]) : fmt::format(", {}", "ABC"[i]);
  }
  if (worse.empty()) return "16 bytes";
  std::string text;
  for (const auto& [bytes, operands] : worse)
    text += fmt::format("{}{}: {} bytes", text.empty() ? "" : "; ", operands, bytes);
  return text;
}

void add(Total& total, const std::optional<Estimate>& each, double count) {
  if (!each) {
    ++total.untimed;
    return;
  }
  total.us += count * each->us;
  total.low_us += count * each->low_us;
  total.high_us += count * each->high_us;
}

std::optional<Estimate> times(const std::optional<Estimate>& each, double count) {
  if (!each) return std::nullopt;
  return Estimate{each->us * count, each->low_us * count, each->high_us * count};
}

class Adviser {
 public:
  Adviser(const Model& model, const RunOptions& run, const gpu::Gpu& gpu)
      : model_(model), run_(run), gpu_(gpu), table_(gpu) {}

  Advice advise() && {
    Derived derived = derive(model_, run_);
    advice_.file = model_.file;
    advice_.title = model_.title;
    advice_.gpu = gpu_.name;
    advice_.basis = table_.basis();
    advice_.conditions = table_.conditions();
    advice_.run = run_;
    advice_.own_run = model_.architectures.empty() && model_.weights.empty() && !model_.open_axes;
    advice_.notes = model_.notes;
    for (Operation& operation : derived.operations) {
      Row row = {std::move(operation), {}, {}, {}, {}};
      row.each = table_.time(row.operation);
      if (!row.each) row.least_us = table_.least_us(row.operation);
      note_missing_type(row.operation);
      row.alignment = alignment_text(row.operation);
      if (const Gemm* g = std::get_if<Gemm>(&row.operation.work); g != nullptr && g->dtype != Dtype::fp32)
        row.tiles = tile_fit(*g, gpu_.sms);
      add(advice_.total, row.each, row.operation.count);
      weight_elements_ += row.operation.weight_elements * row.operation.count;
      flops_ += flops(row.operation) * row.operation.count;
      advice_.rows.push_back(std::move(row));
    }
    changes();
    findings(advice_, model_, derived.problems, table_);
    return std::move(advice_);
  }

  // The pass with one number changed. Only operations that differ are timed anew.
  Change change(const Number& number, int64_t to) const {
    Change change;
    change.number = number;
    change.to = to;
    change.now = advice_.total;
    const std::vector<Operation> changed = derive(with_number(model_, number, to), run_).operations;
    double weights = 0, work = 0;
    for (size_t i = 0; i < changed.size() && i < advice_.rows.size(); ++i) {
      const Row& row = advice_.rows[i];
      const Operation& after = changed[i];
      weights += after.weight_elements * after.count;
      work += flops(after) * after.count;
      if (after.work == row.operation.work) {
        add(change.then, row.each, after.count);
        continue;
      }
      const std::optional<Estimate> then = table_.time(after);
      change.only_channels = change.only_channels && std::holds_alternative<Conv>(after.work);
      change.affected_flops += flops(row.operation) * row.operation.count;
      add(change.then, then, after.count);
      add(change.affected_now, row.each, row.operation.count);
      add(change.affected_then, then, after.count);
      if (misaligned_operands(after) < misaligned_operands(row.operation)) {
        change.alignment = true;
        change.only_heads = change.only_heads && std::holds_alternative<Attention>(after.work);
      }
      change.affected.push_back({row.operation.name, row.operation.step, describe(row.operation),
                                 describe(after), after.count, times(row.each, row.operation.count),
                                 times(then, after.count)});
    }
    change.extra_weight_bytes = (weights - weight_elements_) * element_bytes(run_.dtype);
    change.extra_flops = work - flops_;
    return change;
  }

 private:
  // In a list or log every size is a number: those in misaligned operations, by the time these take.
  std::vector<Number> candidates() const {
    std::vector<Number> all = adjustable_numbers(model_);
    if (!model_.architectures.empty()) return all;
    std::map<int64_t, double> weight;
    for (const Row& row : advice_.rows) {
      if (keeps_alignment(row.operation)) continue;
      const double us =
          row.each ? row.each->us * row.operation.count : flops(row.operation) * row.operation.count;
      std::set<int64_t> sizes;
      if (const Gemm* g = std::get_if<Gemm>(&row.operation.work)) {
        for (int64_t extent : contiguous_extents(*g)) sizes.insert(extent);
      } else if (const Conv* c = std::get_if<Conv>(&row.operation.work)) {
        sizes = {c->in, c->out};
      } else if (const Attention* a = std::get_if<Attention>(&row.operation.work)) {
        sizes = {a->heads * a->head_size, a->kv_heads * a->head_size};
      }
      const bool heads = std::holds_alternative<Attention>(row.operation.work);
      for (int64_t size : sizes)
        if (heads || size % 8 != 0) weight[size] += us;
    }
    std::erase_if(all, [&](const Number& number) { return !weight.contains(number.value); });
    std::stable_sort(all.begin(), all.end(),
                     [&](const Number& a, const Number& b) { return weight[a.value] > weight[b.value]; });
    if (all.size() > kMostNumbers) all.resize(kMostNumbers);
    return all;
  }

  // Multiples of 16 bytes, and of larger units on which tiles fit; with several ranks each rank's part too.
  std::set<int64_t> values(int64_t now) const {
    std::set<int64_t> result;
    const int64_t vector = std::max<int64_t>(8, vector_elements(run_.dtype));
    const auto cautious = static_cast<double>(up(now, vector * kUnits[1] * run_.tensor_parallel) - now);
    const bool coarse =
        table_.basis() == Basis::estimated && cautious <= kCautiousPad * static_cast<double>(now);
    for (int64_t unit : kUnits) {
      if (coarse && unit == kUnits[0]) continue;
      for (int64_t ranks : {int64_t{1}, run_.tensor_parallel}) {
        const int64_t step = vector * unit * ranks;
        const int64_t to = up(now, step);
        if (to != now && (to <= now + now * 3 / 10 || (unit == 1 && to - now < step && to <= 2 * now + 8)))
          result.insert(to);
      }
    }
    return result;
  }

  void changes() {
    for (const Number& number : candidates()) {
      std::optional<Change> best;
      for (int64_t to : values(number.value)) {
        Change candidate = change(number, to);
        if (candidate.affected.empty()) continue;
        if (!best || candidate.then.us < best->then.us - kSmallestPad * candidate.affected_now.us ||
            (candidate.alignment && !best->alignment))
          best = std::move(candidate);
      }
      if (!best) continue;
      const bool gains = best->affected_then.high_us < best->affected_now.low_us &&
                         best->affected_now.us > kTileGain * best->affected_then.us &&
                         best->now.us - best->then.us > kWarningShare * best->now.us;
      if (best->alignment || gains) advice_.changes.push_back(std::move(*best));
    }
    std::stable_sort(advice_.changes.begin(), advice_.changes.end(), [](const Change& a, const Change& b) {
      return a.now.us - a.then.us > b.now.us - b.then.us;
    });
    together();
  }

  void together() {
    Model all = model_;
    Together result;
    for (const Change& change : advice_.changes) {
      if (change.now.us - change.then.us <= kWarningShare * change.now.us) continue;
      all = with_number(all, change.number, change.to);
      result.numbers.emplace_back(change.number.name, change.to);
    }
    if (result.numbers.size() < 2) return;
    const std::vector<Operation> operations = derive(all, run_).operations;
    for (size_t i = 0; i < operations.size(); ++i) {
      const bool same = i < advice_.rows.size() && operations[i].work == advice_.rows[i].operation.work;
      add(result.then, same ? advice_.rows[i].each : table_.time(operations[i]), operations[i].count);
    }
    advice_.together = std::move(result);
  }

  void note_missing_type(const Operation& operation) {
    const Dtype dtype = dtype_of(operation);
    if (std::holds_alternative<Gather>(operation.work) || peak_tflops(gpu_, dtype) > 0) return;
    std::string others;
    for (Dtype other : {Dtype::bf16, Dtype::fp16, Dtype::tf32, Dtype::fp8, Dtype::int8})
      if (peak_tflops(gpu_, other) > 0)
        others += fmt::format("{}{}", others.empty() ? "" : ", ", to_string(other));
    std::string note = fmt::format("the tensor cores of {} have no {}, only {}: such operations have no time",
                                   gpu_.name, to_string(dtype), others);
    if (std::find(advice_.notes.begin(), advice_.notes.end(), note) == advice_.notes.end())
      advice_.notes.push_back(std::move(note));
  }

  const Model& model_;
  const RunOptions& run_;
  const gpu::Gpu& gpu_;
  TimeTable table_;
  double weight_elements_ = 0, flops_ = 0;
  Advice advice_;
};

}  // namespace

Advice advise(const Model& model, const RunOptions& run, const gpu::Gpu& gpu) {
  return Adviser(model, run, gpu).advise();
}

Result<Curve> curve_of(const Model& model, const Advice& advice, const gpu::Gpu& gpu,
                       const std::string& name) {
  constexpr int64_t kMargin = 24, kMostPoints = 200;
  const std::vector<Number> numbers = adjustable_numbers(model);
  Curve curve;
  const Number* number = nullptr;
  const std::string wanted = !name.empty()             ? name
                             : !advice.changes.empty() ? advice.changes[0].number.name
                             : !numbers.empty()        ? numbers[0].name
                                                       : "";
  for (const Number& candidate : numbers)
    if (candidate.name == wanted) number = &candidate;
  if (number == nullptr) {
    std::string known;
    for (size_t i = 0; i < numbers.size() && i < 12; ++i)
      known += (known.empty() ? "" : ", ") + numbers[i].name;
    return Error{.message = fmt::format("no number `{}` that could be changed", wanted.substr(0, 60)),
                 .file = model.file,
                 .hint = known.empty() ? "" : "one of " + known};
  }
  curve.number = number->name;
  curve.now = number->value;
  for (const Change& change : advice.changes)
    if (change.number.name == number->name) curve.to = change.to;
  const int64_t from = std::max<int64_t>(1, curve.now - kMargin),
                until = std::max(curve.now, curve.to) + kMargin;
  const int64_t step = (until - from) / kMostPoints + 1;
  std::set<int64_t> values = {curve.now};
  if (curve.to != 0) values.insert(curve.to);
  for (int64_t value = from; value <= until; value += step) values.insert(value);
  for (int64_t value = up(from, 8); value <= until; value += std::max<int64_t>(8, up(step, 8)))
    values.insert(value);
  const TimeTable table(gpu);
  for (int64_t value : values) {
    Total total;
    const std::vector<Operation> operations =
        derive(with_number(model, *number, value), advice.run).operations;
    for (size_t i = 0; i < operations.size(); ++i) {
      const bool same = i < advice.rows.size() && operations[i].work == advice.rows[i].operation.work;
      add(total, same ? advice.rows[i].each : table.time(operations[i]), operations[i].count);
    }
    curve.points.emplace_back(value, total);
  }
  return curve;
}

}  // namespace fullwarp::shapes
