// The wire format of Protocol Buffers, as far as ONNX needs it: fields of a message one after the other, each
// a number or so many bytes. Format: protobuf.dev/programming-guides/encoding.
#pragma once

#include <cstdint>
#include <vector>

#include "shapes/bytes.h"

namespace fullwarp::shapes {

struct OnnxField {
  uint32_t number = 0, wire = 0;  // wire 0: a varint, 1: 8 bytes, 2: a length and as many bytes, 5: 4 bytes
  uint64_t value = 0;             // of a varint; the length of the others
};

// One message: gives its fields until its end. Whoever gets a field that is no varint reads or skips its
// bytes.
class OnnxMessage {
 public:
  OnnxMessage(Cursor& cursor, uint64_t length);

  bool next(OnnxField& field);  // false at the end, or if the bytes are no message: then bad()
  void skip(const OnnxField& field);
  bool bad() const { return bad_ || cursor_.failed(); }

 private:
  Cursor& cursor_;
  uint64_t end_;
  bool bad_ = false;
};

// A repeated int64, packed or one at a time; only the first `most` are kept. False if damaged.
bool onnx_numbers(Cursor& cursor, const OnnxField& field, size_t most, std::vector<int64_t>& numbers);

}  // namespace fullwarp::shapes
