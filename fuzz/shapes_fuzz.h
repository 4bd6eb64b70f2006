// What every fuzz target of the shape readers does with a model that was read.
#pragma once

#include <cstdint>
#include <string_view>

#include "shapes/advise.h"
#include "shapes/read.h"

// Of one input in four, told by its size: judging takes a thousand times as long as reading.
inline void judge(const fullwarp::shapes::Model& model, size_t input_bytes) {
  using namespace fullwarp::shapes;
  if (input_bytes % 4 != 0) return;
  const fullwarp::gpu::Gpu& gpu = *fullwarp::gpu::find_gpu("h200");
  if (model.operations.size() + model.weights.size() > 64) return;  // many are slow and no other than few
  const RunOptions run = {.batch = 3, .sequence = 65, .tensor_parallel = 3, .backward = true};
  const Advice advice = advise(model, run, gpu);
  if (advice.rows.size() <= 8) (void)curve_of(model, advice, gpu, "");
}
