// Finding a product in what derive() gives.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "shapes/model.h"

namespace fullwarp::shapes::test {

inline const Operation* find(const Derived& derived, const std::string& name, Step step = Step::forward) {
  for (const Operation& operation : derived.operations)
    if (operation.name == name && operation.step == step) return &operation;
  return nullptr;
}

// "M x N x K, LAYOUT, count times", or what is there instead.
inline std::string product(const Derived& derived, const std::string& name, Step step = Step::forward) {
  const Operation* operation = find(derived, name, step);
  if (operation == nullptr) {
    std::string names;
    for (const Operation& other : derived.operations) names += other.name + "; ";
    return "none of this name: " + names;
  }
  return describe(*operation) + ", " + std::to_string(static_cast<int64_t>(operation->count)) + " times";
}

inline double total_weights(const Derived& derived) {
  double sum = 0;
  for (const Operation& operation : derived.operations) sum += operation.weight_elements * operation.count;
  return sum;
}

}  // namespace fullwarp::shapes::test
