// The lookup: the families' tables joined and sorted once.
#include "libdevice/libdevice.h"

#include <algorithm>
#include <vector>

#include "libdevice/adapt.h"

namespace fullwarp::libdevice {
namespace {

std::vector<Function> join() {
  std::vector<Function> functions;
  for (const auto& family : {integer_functions(), conversion_functions(), rounded_functions(),
                             elementary_functions(), special_functions()}) {
    functions.insert(functions.end(), family.begin(), family.end());
  }
  std::sort(functions.begin(), functions.end(),
            [](const Function& a, const Function& b) { return a.name < b.name; });
  return functions;
}

}  // namespace

std::span<const Function> all() {
  static const std::vector<Function> functions = join();
  return functions;
}

const Function* find(std::string_view name) {
  const auto functions = all();
  const auto at = std::lower_bound(functions.begin(), functions.end(), name,
                                   [](const Function& f, std::string_view n) { return f.name < n; });
  return at != functions.end() && at->name == name ? &*at : nullptr;
}

}  // namespace fullwarp::libdevice
