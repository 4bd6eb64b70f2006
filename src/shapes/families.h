// Which layers a `model_type` of Hugging Face's transformers has, and what its numbers are called. Facts from
// the modeling_*.py and configuration_*.py of transformers; a config names sizes, but not whether an MLP is
// gated, q, k and v are one product, or weights are stored as [in, out].
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "shapes/model.h"

namespace fullwarp::shapes {

enum Trait : uint32_t {
  kGated = 1,        // MLP: down(act(gate x) * up x), else down(act(up x))
  kFusedGateUp = 2,  // gate and up are one product
  kFusedQkv = 4,     // q, k and v are one product
  kTransposed = 8,   // weights are stored as [in, out]
  kTied = 16,        // the output head is the embedding, unless the config says otherwise
  kPooler = 32,      // an encoder with a dense layer on the first token where no head stands
  kWindows = 64,     // `sliding_window` holds for every layer, unless the config says otherwise
  kCausal = 128,     // an encoder whose tokens see only those before
  kSharedGate = 256  // the shared expert is scaled by a product with one output
};

struct Family {
  std::string_view model_type;
  Kind kind;
  uint32_t traits = 0;
};
const Family* family_of(std::string_view model_type);  // nullptr if unknown

// A number of a model, the keys that configs have for it in the order of trust, and how one changes it
// (empty: not by padding).
struct Field {
  const char* name;
  std::array<std::string_view, 6> keys;
  std::string_view how;
  bool lenient = false;  // another kind of value is passed over
};
std::span<const Field> config_fields();

// How a head size and an MLP width are padded where they follow from other numbers.
extern const std::string_view kHowToPadHeads;
extern const std::string_view kHowToPadWidth;

// What transformers takes where a config leaves a number out: configs nested in others often do. 0: none.
int64_t default_number(std::string_view model_type, std::string_view field);

}  // namespace fullwarp::shapes
