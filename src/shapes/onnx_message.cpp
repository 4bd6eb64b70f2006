#include "shapes/onnx_message.h"

#include <algorithm>

namespace fullwarp::shapes {

OnnxMessage::OnnxMessage(Cursor& cursor, uint64_t length)
    : cursor_(cursor), end_(cursor.position() + std::min(length, cursor.left())) {}

bool OnnxMessage::next(OnnxField& field) {
  if (cursor_.failed() || cursor_.position() >= end_) return false;
  const uint64_t key = cursor_.varint();
  field = {static_cast<uint32_t>(key >> 3), static_cast<uint32_t>(key & 7), 0};
  if (field.wire == 0 || field.wire == 2) {
    field.value = cursor_.varint();
  } else if (field.wire == 1) {
    field.value = 8;
  } else if (field.wire == 5) {
    field.value = 4;
  } else {
    bad_ = true;  // groups are not part of ONNX's schema
    return false;
  }
  if (field.wire != 0 && field.value > end_ - std::min(end_, cursor_.position())) bad_ = true;
  return !bad_ && !cursor_.failed();
}

void OnnxMessage::skip(const OnnxField& field) {
  if (field.wire != 0) cursor_.skip(field.value);
}

bool onnx_numbers(Cursor& cursor, const OnnxField& field, size_t most, std::vector<int64_t>& numbers) {
  const auto keep = [&](uint64_t value) {
    if (numbers.size() < most) numbers.push_back(static_cast<int64_t>(value));
  };
  if (field.wire == 0) {
    keep(field.value);
    return true;
  }
  if (field.wire != 2) return false;
  const uint64_t end = cursor.position() + field.value;
  while (!cursor.failed() && cursor.position() < end) keep(cursor.varint());
  return !cursor.failed() && cursor.position() == end;
}

}  // namespace fullwarp::shapes
