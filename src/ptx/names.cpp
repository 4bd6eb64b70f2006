#include "ptx/names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace fullwarp::ptx {
namespace {

constexpr std::string_view kOps[] = {
#define FULLWARP_PTX_OP(identifier, text) text,
#include "ptx/instructions.def"
};

constexpr std::string_view kMods[] = {
#define FULLWARP_PTX_MOD(identifier, text) text,
#include "ptx/modifiers.def"
#undef FULLWARP_PTX_MOD
};

constexpr std::string_view kSpecials[] = {
#define FULLWARP_PTX_SPECIAL(identifier, text) text,
#include "ptx/specials.def"
#undef FULLWARP_PTX_SPECIAL
};

// In the order of enum Type.
constexpr std::string_view kTypes[] = {
    "none",    "b8",     "b16",    "b32",    "b64",    "b128",   "u8",     "u16",       "u32",
    "u64",     "s8",     "s16",    "s32",    "s64",    "f16",    "f16x2",  "bf16",      "bf16x2",
    "tf32",    "f32",    "f32x2",  "f64",    "pred",   "u16x2",  "s16x2",  "u8x4",      "s8x4",
    "e4m3",    "e5m2",   "e4m3x2", "e5m2x2", "b1",     "u4",     "s4",     "texref",    "samplerref",
    "surfref", "e2m1",   "e2m3",   "e3m2",   "ue8m0",  "ue4m3",  "e2m1x2", "e2m3x2",    "e3m2x2",
    "ue8m0x2", "e2m1x4", "e2m3x4", "e3m2x4", "e4m3x4", "e5m2x4", "b8x16",  "b6x16_p32", "b4x16_p64",
    "b6p2x16", "b4x16",  "s8x2",   "u8x2",   "u2",     "s2"};
static_assert(std::size(kTypes) == static_cast<size_t>(Type::count));

constexpr uint8_t kTypeBytes[] = {0, 1, 2, 4, 8, 16, 1, 2, 4, 8, 1, 2,  4,  8,  2,  4,  2, 4, 4, 4,
                                  8, 8, 1, 4, 4, 4,  4, 1, 1, 2, 2, 1,  1,  1,  8,  8,  8, 1, 1, 1,
                                  1, 1, 1, 2, 2, 2,  2, 4, 4, 4, 4, 16, 16, 16, 16, 16, 2, 2, 1, 1};
static_assert(std::size(kTypeBytes) == static_cast<size_t>(Type::count));

// The words of one list, sorted, with their positions in it.
template <size_t n>
constexpr auto sorted(const std::string_view (&list)[n]) {
  std::array<std::pair<std::string_view, uint16_t>, n> result;
  for (size_t i = 0; i < n; ++i) result[i] = {list[i], static_cast<uint16_t>(i)};
  std::sort(result.begin(), result.end());
  return result;
}

template <class Enum, class Sorted>
std::optional<Enum> find(const Sorted& list, std::string_view text) {
  auto it = std::lower_bound(list.begin(), list.end(), text,
                             [](const auto& entry, std::string_view key) { return entry.first < key; });
  if (it == list.end() || it->first != text) return std::nullopt;
  return static_cast<Enum>(it->second);
}

}  // namespace

std::optional<Op> op_from(std::string_view text) {
  static const auto list = sorted(kOps);
  return find<Op>(list, text);
}

std::optional<Mod> mod_from(std::string_view text) {
  static const auto list = sorted(kMods);
  return find<Mod>(list, text);
}

std::optional<Type> type_from(std::string_view text) {
  static const auto list = sorted(kTypes);
  if (text == kTypes[0]) return std::nullopt;
  return find<Type>(list, text);
}

std::string_view to_string(Op op) { return op < Op::count ? kOps[static_cast<size_t>(op)] : "?"; }
std::string_view to_string(Mod mod) { return mod < Mod::count ? kMods[static_cast<size_t>(mod)] : "?"; }
std::string_view to_string(Type type) { return type < Type::count ? kTypes[static_cast<size_t>(type)] : "?"; }
std::string_view to_string(Special special) {
  return special < Special::count ? kSpecials[static_cast<size_t>(special)] : "?";
}

unsigned size_bytes(Type type) { return type < Type::count ? kTypeBytes[static_cast<size_t>(type)] : 0; }

int32_t Module::find_function(std::string_view name) const {
  for (size_t i = 0; i < functions.size(); ++i)
    if (functions[i].name == name)
      return functions[i].alias_of >= 0 ? functions[i].alias_of : static_cast<int32_t>(i);
  return -1;
}

int32_t Module::find_variable(std::string_view name) const {
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i].function < 0 && variables[i].name == name) return static_cast<int32_t>(i);
  return -1;
}

}  // namespace fullwarp::ptx
