// The part of read_config() that reads one stack of layers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "shapes/model.h"

namespace fullwarp::shapes {

// So that heads x head size and the like stay within 64 bits.
inline constexpr int64_t kMaxConfigNumber = kMaxSize / 8;

// The word at `key`; empty if there is none.
std::string config_text(const nlohmann::json& json, const char* key);

// Adds the stack that an object of the file describes, its numbers named with `prefix` ("vision_config.").
// `text` is the whole file, for the numbers of lines.
Status read_stack(const nlohmann::json& json, std::string_view text, const std::string& prefix,
                  const std::string& model_type, Model& model);

}  // namespace fullwarp::shapes
