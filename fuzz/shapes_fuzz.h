// What every fuzz target of the shape readers does with a model that was read.
#pragma once

#include <cstdint>
#include <string_view>

#include "shapes/advise.h"
#include "shapes/read.h"

inline void judge(const fullwarp::shapes::Model& model) {
  using namespace fullwarp::shapes;
  const fullwarp::gpu::Gpu& gpu = *fullwarp::gpu::find_gpu("h200");
  if (model.operations.size() + model.weights.size() > 64) return;  // many are slow and no other than few
  const RunOptions run = {.batch = 3, .sequence = 65, .tensor_parallel = 3, .backward = true};
  const Advice advice = advise(model, run, gpu);
  (void)curve_of(model, advice, gpu, "");
}
