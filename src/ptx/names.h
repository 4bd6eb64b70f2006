// The words of PTX and their enumerators: Op, Mod, Type and Special to text and back. Looking a word up is
// not on the hot path: the parser does it once per distinct instruction (opcode_cache.h).
#pragma once

#include <optional>
#include <string_view>

#include "ptx/module.h"

namespace fullwarp::ptx {

std::optional<Op> op_from(std::string_view text);      // "add"
std::optional<Mod> mod_from(std::string_view text);    // "shared::cta", without the dot
std::optional<Type> type_from(std::string_view text);  // "f32", without the dot

}  // namespace fullwarp::ptx
