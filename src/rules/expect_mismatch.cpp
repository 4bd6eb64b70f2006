// expect-mismatch: a result that is not what an `expect` statement says. It is found after a launch, not in a
// profile, so that it enters by finding_for_mismatch() instead of a run over the rules.
#include <fmt/format.h>

#include "rules/rule.h"
#include "rules/text.h"

namespace fullwarp::rules {

const Rule expect_mismatch_rule = {
    {"expect-mismatch", "results that differ from an expect statement", diag::Level::error, {}}, nullptr};

diag::Finding finding_for_mismatch(const Mismatch& mismatch, const Options& options) {
  diag::Finding finding;
  finding.rule = expect_mismatch_rule.info.id;
  finding.level = options.level(finding.rule).value_or(expect_mismatch_rule.info.level);
  finding.kernel = mismatch.kernel;
  finding.place = mismatch.statement;
  finding.message = fmt::format("{} is not as expected: {} of {} differ", mismatch.buffer,
                                grouped(mismatch.different), counted(mismatch.compared, "element"));
  finding.label = fmt::format("{}[{}] is {}, expected {}", mismatch.buffer, mismatch.first_index,
                              mismatch.actual, mismatch.expected);
  if (mismatch.rtol && mismatch.atol)
    finding.notes.push_back(
        {fmt::format("compared with rtol {:g}, atol {:g}", *mismatch.rtol, *mismatch.atol), {}});
  if (mismatch.largest_difference)
    finding.notes.push_back(
        {fmt::format("the largest difference is {:g}", *mismatch.largest_difference), {}});
  finding.evidence = {{"buffer", mismatch.buffer},
                      {"compared", static_cast<int64_t>(mismatch.compared)},
                      {"different", static_cast<int64_t>(mismatch.different)},
                      {"first_index", static_cast<int64_t>(mismatch.first_index)},
                      {"actual", mismatch.actual},
                      {"expected", mismatch.expected}};
  if (mismatch.largest_difference)
    finding.evidence.emplace_back("largest_difference", *mismatch.largest_difference);
  finding.share = mismatch.compared
                      ? static_cast<double>(mismatch.different) / static_cast<double>(mismatch.compared)
                      : 0;
  finding.count = mismatch.different;
  return finding;
}

}  // namespace fullwarp::rules
