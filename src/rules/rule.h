// A rule as rules.def lists it. Inside src/rules/ only.
#pragma once

#include <vector>

#include "rules/rules.h"

namespace fullwarp::rules {

class Context;

struct Rule {
  RuleInfo info;
  // Appends findings. Null for a rule that speaks from elsewhere (expect-mismatch).
  void (*run)(Context& context, std::vector<diag::Finding>& findings) = nullptr;
};

#define FULLWARP_RULE(identifier) extern const Rule identifier##_rule;
#include "rules/rules.def"
#undef FULLWARP_RULE

// In the order of rules.def.
std::span<const Rule* const> all_rules();
const Rule* find_rule(std::string_view id);

}  // namespace fullwarp::rules
