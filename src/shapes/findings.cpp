#include "shapes/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "shapes/embedded.h"

namespace fullwarp::shapes {

namespace {

using diag::Level;
constexpr RuleInfo kRules[] = {
    {"shape-alignment", "rows of a product are no multiple of 16 bytes, which fast kernels need",
     Level::warning},
    {"shape-channels", "a convolution's channels are no multiple of 8", Level::warning},
    {"shape-head-size", "an attention head size that fused kernels do not take as it is", Level::warning},
    {"shape-pitch", "extents fit, but a row pitch or a base address keeps the fast kernels away",
     Level::warning},
    {"shape-tile", "a slightly larger size fits the tiles and SMs so much better that it is faster",
     Level::note},
    {"shape-parallel", "a size cannot be split over the ranks", Level::error},
    {"shape-quantization-block", "a size is no multiple of the quantization block", Level::error},
};

constexpr double kNothing = 1.02;  // a factor below is no gain: measurements repeat within 2 %

std::string range(const Total& total) {
  return fmt::format("{} ({} to {})", duration(total.us), duration(total.low_us), duration(total.high_us));
}

std::string rule_of(const Change& change) {
  if (!change.alignment) return "shape-tile";
  const bool odd_heads = change.number.name.ends_with("head_dim") && change.number.value % 8 != 0;
  if (odd_heads || change.only_heads) return "shape-head-size";
  return change.only_channels ? "shape-channels" : "shape-alignment";
}

struct Names {
  std::string text;
  bool several = false;
};

// The operations that gain most, at most three.
Names names_of(const Change& change) {
  std::vector<const Affected*> sorted;
  for (const Affected& affected : change.affected) sorted.push_back(&affected);
  const auto gain = [](const Affected* a) { return a->now && a->then ? a->now->us - a->then->us : 0; };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Affected* a, const Affected* b) { return gain(a) > gain(b); });
  constexpr size_t kShown = 3;
  std::set<std::string_view> seen;
  std::string text;
  for (const Affected* affected : sorted)
    if (seen.insert(affected->name).second && seen.size() <= kShown)
      text += (text.empty() ? "" : "; ") + affected->name;
  if (seen.size() > kShown) text += fmt::format("; {} more", seen.size() - kShown);
  return {text, seen.size() > 1};
}

std::string why(const std::string& rule, const Change& change, const Advice& advice) {
  const std::string name = change.number.name == fmt::format("{}", change.number.value)
                               ? "size " + change.number.name
                               : fmt::format("{} {}", change.number.name, change.number.value);
  if (rule == "shape-tile") return fmt::format("{} fits tiles and SMs badly", name);
  if (rule == "shape-channels")
    return fmt::format("{} of a convolution's channels is no multiple of 8", name);
  if (rule == "shape-head-size")
    return fmt::format("{}: heads that are no multiple of 8 elements are padded by copies before attention",
                       name);
  const uint32_t unit = vector_elements(advice.run.dtype);
  if (change.number.value % unit != 0)
    return fmt::format("{} is no multiple of {} elements, 16 bytes in {}", name, unit,
                       to_string(advice.run.dtype));
  return fmt::format("{} leaves rows that are no multiple of 16 bytes", name);
}

diag::Finding finding_of(const Change& change, const Advice& advice) {
  diag::Finding f;
  f.rule = rule_of(change);
  f.kernel = change.number.name;
  f.place = {advice.file, change.number.line, 0, 0};
  const bool timed = change.affected_now.us > 0;
  const bool estimated = advice.basis == Basis::estimated;
  const double gain = timed ? change.affected_now.us / std::max(1e-9, change.affected_then.us) : 0;
  const double share = timed ? (change.now.us - change.then.us) / std::max(1e-9, change.now.us) : 0;
  f.message = why(f.rule, change, advice);
  const Names names = names_of(change);
  if (timed && change.affected_now.untimed == 0) {
    if (gain >= kNothing) {
      f.message +=
          fmt::format(": {} {}{} {}, with {} {}", names.text, names.several ? "take" : "takes",
                      estimated ? ", by an estimate," : "", time_text(change.affected_now, advice.basis),
                      change.to, time_text(change.affected_then, advice.basis));
    } else {
      f.message += fmt::format(": here it {} nothing ({})", estimated ? "should cost" : "costs", names.text);
    }
  } else {
    f.message += fmt::format(": {}", names.text);
  }
  double all = 1;
  for (const Row& row : advice.rows) all += flops(row.operation) * row.operation.count;
  if (!timed)
    f.notes.push_back({fmt::format("{:.3g} % of the pass's operations are in products of this size",
                                   100 * change.affected_flops / all),
                       {}});
  f.level = diag::Level::note;
  if (!timed || (f.rule != "shape-tile" && gain >= kWarningGain && share >= kWarningShare))
    f.level = diag::Level::warning;
  if (f.rule == "shape-tile") f.level = diag::Level::note;
  if (timed) {
    if (estimated) {
      f.notes.push_back(
          {fmt::format(
               "estimated ranges, nothing was measured on this architecture: the whole pass {} -> {}; "
               "the gain is uncertain, its direction is that of the H200",
               time_text(change.now, advice.basis), time_text(change.then, advice.basis)),
           {}});
      f.evidence = {{"estimated_now_low_us", change.affected_now.low_us},
                    {"estimated_now_high_us", change.affected_now.high_us},
                    {"estimated_then_low_us", change.affected_then.low_us},
                    {"estimated_then_high_us", change.affected_then.high_us}};
    } else {
      f.notes.push_back(
          {fmt::format("now {}, then {}; the whole pass {} -> {}", range(change.affected_now),
                       range(change.affected_then), duration(change.now.us), duration(change.then.us)),
           {}});
      f.evidence = {{"now_us", change.affected_now.us},
                    {"then_us", change.affected_then.us},
                    {"pass_now_us", change.now.us},
                    {"pass_then_us", change.then.us}};
    }
    if (gain < kNothing && !estimated)
      f.notes.push_back({"other limits decide there: padding it would gain nothing", {}});
  }
  f.share = std::clamp(share, 0.0, 1.0);
  if (!timed || gain >= kNothing) {
    f.fix = fmt::format("{}: {}", change_text(change), how_text(change));
    f.notes.push_back({fmt::format("the padding costs {} of weights and {:.3g} % more operations",
                                   size_text(change.extra_weight_bytes), 100 * change.extra_flops / all),
                       {}});
  }
  f.evidence.emplace_back("extra_weight_bytes", change.extra_weight_bytes);
  f.evidence.emplace_back("extra_flops", change.extra_flops);
  return f;
}

// Extents fit, pitch or base do not: only logs and lists can have that.
void pitch_findings(Advice& advice, const TimeTable& table) {
  for (const Row& row : advice.rows) {
    const Gemm* g = std::get_if<Gemm>(&row.operation.work);
    if (g == nullptr || g->dtype == Dtype::fp32) continue;
    Gemm mended = *g;
    const int64_t unit = vector_elements(g->dtype);
    const std::array<int64_t, 3> extents = contiguous_extents(*g);
    int64_t* const pitches[] = {&mended.lda, &mended.ldb, &mended.ldc};
    std::string what;
    for (size_t i = 0; i < 3; ++i) {
      if (extents[i] % unit != 0) continue;
      if (*pitches[i] % unit != 0) {
        what += fmt::format("{}row pitch {} of {}", what.empty() ? "" : ", ", *pitches[i], "ABC"[i]);
        *pitches[i] = (*pitches[i] + unit - 1) / unit * unit;
      }
      if (mended.base_bytes[i] < kVectorBytes) {
        what += fmt::format("{}base of {} at a multiple of {} bytes", what.empty() ? "" : ", ", "ABC"[i],
                            mended.base_bytes[i]);
        mended.base_bytes[i] = kVectorBytes;
      }
    }
    if (what.empty()) continue;
    const std::optional<Estimate> then = table.time(Operation{.work = mended});
    diag::Finding f;
    f.rule = "shape-pitch";
    f.kernel = row.operation.name;
    f.place = {advice.file, 0, 0, 0};
    f.message = fmt::format("{} ({}): {}, no multiple of 16 bytes", row.operation.name,
                            describe(row.operation), what);
    f.level = diag::Level::warning;
    if (row.each && then) {
      f.message += fmt::format(": {} where aligned {}", time_text(*row.each, advice.basis),
                               time_text(*then, advice.basis));
      if (advice.basis != Basis::estimated)
        f.evidence = {{"now_us", row.each->us * row.operation.count},
                      {"then_us", then->us * row.operation.count}};
      f.share = std::clamp((row.each->us - then->us) * row.operation.count / std::max(1e-9, advice.total.us),
                           0.0, 1.0);
      if (row.each->us < kWarningGain * then->us || f.share < kWarningShare) f.level = diag::Level::note;
    }
    f.count = static_cast<uint64_t>(std::min(row.operation.count, 1e15));
    f.fix = "allocate rows and start of the operand at multiples of 16 bytes";
    advice.findings.push_back(std::move(f));
  }
}

// Head sizes beyond what fused attention has kernels for.
void head_findings(Advice& advice, const TimeTable& table) {
  constexpr int64_t kLargestFused = 256;
  for (const Row& row : advice.rows) {
    const Attention* a = std::get_if<Attention>(&row.operation.work);
    if (a == nullptr || a->head_size <= kLargestFused) continue;
    Attention narrow = *a;
    narrow.head_size = kLargestFused;
    const std::optional<Estimate> at_most = table.time(Operation{.work = narrow});
    diag::Finding f;
    f.rule = "shape-head-size";
    f.kernel = row.operation.name;
    f.place = {advice.file, 0, 0, 0};
    f.level = diag::Level::warning;
    f.message = fmt::format("{}: heads of {} elements, more than the {} that fused attention kernels take",
                            row.operation.name, a->head_size, kLargestFused);
    if (row.each && at_most)
      f.message += fmt::format(": {} where heads of {} take {}", time_text(*row.each, advice.basis),
                               kLargestFused, time_text(*at_most, advice.basis));
    f.fix = fmt::format("more heads of {} elements or fewer", kLargestFused);
    advice.findings.push_back(std::move(f));
    return;
  }
}

// cuBLASLt has no fp8 or int8 kernels for other rows at all.
void refused_findings(Advice& advice) {
  for (const Row& row : advice.rows) {
    const Gemm* g = std::get_if<Gemm>(&row.operation.work);
    if (g == nullptr || (g->dtype != Dtype::fp8 && g->dtype != Dtype::int8)) continue;
    const GemmAlignment alignment = alignment_of(*g);
    if (alignment.ab == Alignment::full && alignment.c == Alignment::full) continue;
    diag::Finding f;
    f.rule = "shape-alignment";
    f.kernel = row.operation.name;
    f.place = {advice.file, 0, 0, 0};
    f.level = diag::Level::error;
    f.message = fmt::format(
        "{} ({}): {} products need rows of multiples of 16 bytes; PyTorch and cuBLASLt refuse this one",
        row.operation.name, describe(row.operation), to_string(g->dtype));
    f.fix = "pad the sizes along rows to multiples of 16";
    advice.findings.push_back(std::move(f));
  }
}

}  // namespace

std::span<const RuleInfo> rule_infos() { return kRules; }

std::string_view explain(std::string_view rule_id) { return embedded_page(rule_id); }

std::string duration(double us) {
  if (us < 1) return fmt::format("{:.2g} us", us);
  if (us < 1000) return fmt::format("{:.3g} us", us);
  if (us < 1e6) return fmt::format("{:.3g} ms", us / 1000);
  return fmt::format("{:.4g} s", us / 1e6);
}

std::string time_text(const Estimate& each, Basis basis) {
  if (basis != Basis::estimated) return duration(each.us);
  return fmt::format("{} to {}", duration(each.low_us), duration(each.high_us));
}

std::string time_text(const Total& total, Basis basis) {
  return time_text(Estimate{total.us, total.low_us, total.high_us}, basis);
}

std::string size_text(double bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KB", "MB", "GB", "TB", "PB", "EB"};
  size_t unit = 0;
  while (std::abs(bytes) >= 1000 && unit + 1 < std::size(kUnits)) bytes /= 1000, ++unit;
  return fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

std::string change_text(const Change& change) {
  const std::string value = fmt::format("{}", change.number.value);
  return fmt::format("{}{} -> {}", change.number.name == value ? "" : change.number.name + " ", value,
                     change.to);
}

std::string how_text(const Change& change) {
  std::string text = change.number.how;
  if (const size_t at = text.find("{}"); at != std::string::npos)
    text.replace(at, 2, fmt::format("{}", change.to));
  return text;
}

void findings(Advice& advice, const Model& model, const std::vector<Problem>& problems,
              const TimeTable& table) {
  for (const Problem& problem : problems) {
    diag::Finding f;
    f.rule = problem.rule;
    f.level = diag::Level::error;
    f.kernel = problem.number;
    const Number* number = model.find(problem.number);
    f.place = {advice.file, number != nullptr ? number->line : 0, 0, 0};
    f.message = problem.message;
    f.fix = problem.fix;
    advice.findings.push_back(std::move(f));
  }
  refused_findings(advice);
  for (const Change& change : advice.changes) advice.findings.push_back(finding_of(change, advice));
  pitch_findings(advice, table);
  head_findings(advice, table);
}

}  // namespace fullwarp::shapes
