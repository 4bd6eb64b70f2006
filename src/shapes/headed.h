// Attention between the weights of a file without config.json: which projections belong together, and how
// many heads they have if names or shapes say so.
#pragma once

#include <vector>

#include "shapes/read.h"

namespace fullwarp::shapes {

// Fills model.headed from model.weights (names with * for the layer's number) and the tensors that tell a
// head's size. `heads` > 0: what the user says of every attention. Notes say what is assumed or missing.
void find_heads(Model& model, const std::vector<Tensor>& tensors, int64_t heads);

}  // namespace fullwarp::shapes
