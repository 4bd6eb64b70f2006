// Device memory: every buffer and module variable lives in its own window of the 64-bit address space.
//
//   address  63        40 39                 0
//            [  window  ] [      offset      ]
//
// A bounds check is one table look-up by window, and no stride reaches a neighbour. Window 0 is the null
// page; a few windows stand for the spaces that a generic address can point to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ptx/module.h"

namespace fullwarp::exec {

inline constexpr unsigned kWindowShift = 40;
inline constexpr uint64_t kOffsetMask = (uint64_t{1} << kWindowShift) - 1;
inline constexpr uint64_t kSharedWindow = 1, kLocalWindow = 2, kParamWindow = 3, kFunctionWindow = 4;
inline constexpr uint64_t kFirstBufferWindow = 16;

inline constexpr uint64_t window_of(uint64_t address) { return address >> kWindowShift; }
inline constexpr uint64_t offset_of(uint64_t address) { return address & kOffsetMask; }

struct AlignedDelete {
  std::byte* mapping = nullptr;
  uint64_t mapped_bytes = 0;
  void operator()(std::byte* p) const;
};
using AlignedBytes = std::unique_ptr<std::byte[], AlignedDelete>;
// Zeroed memory, 64-byte aligned, with 64 readable bytes after its end so that whole vectors can be read.
// None of its pages is touched: whoever uses it first makes them, on its own CPU thread. Null if the host has
// no memory for it.
AlignedBytes allocate_zeroed(uint64_t bytes);

// An array of zeroed words whose pages take memory only once they are touched.
template <class T>
class LazyWords {
 public:
  LazyWords() = default;
  explicit LazyWords(AlignedBytes zeroes) : bytes_(std::move(zeroes)) {}
  T* get() const { return reinterpret_cast<T*>(bytes_.get()); }
  T& operator[](uint64_t i) const { return get()[i]; }
  explicit operator bool() const { return bytes_ != nullptr; }
  AlignedBytes release() { return std::move(bytes_); }

 private:
  AlignedBytes bytes_;
};

struct Buffer {
  std::string name;
  uint64_t bytes = 0;
  AlignedBytes data;
  // One bit per byte, set where the byte has a value; null where the whole buffer had one from the start.
  std::unique_ptr<uint64_t[]> written;
  bool read_only = false;  // a __constant__ variable
  int32_t variable = -1;   // index in Module::variables, -1: a buffer of the launch script
};

class SpareBlocks;

class DeviceMemory {
 public:
  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&&) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) noexcept;

  // Returns the buffer's device address (offset 0 of a fresh window). `bytes` 0 is allowed.
  Result<uint64_t> allocate(std::string name, uint64_t bytes, bool initialised = true);

  // Gives every .global and .const variable of the module a window and its initial value. Once per module.
  Status load_module(const ptx::Module& module);

  // Forgets the buffers from index `count` on.
  void release_from(size_t count) { buffers_.resize(std::min(count, buffers_.size())); }

  size_t size() const { return buffers_.size(); }
  Buffer& buffer(size_t index) { return buffers_[index]; }
  const Buffer& buffer(size_t index) const { return buffers_[index]; }
  static uint64_t address_of(size_t index) { return (kFirstBufferWindow + index) << kWindowShift; }
  // Index of the buffer whose window holds the address, or -1.
  int64_t find(uint64_t address) const;
  int64_t find(std::string_view name) const;
  int64_t find_variable(int32_t module_variable) const;  // index in Module::variables -> buffer

  // What launches kept beside the buffers, for the next launch.
  SpareBlocks& spare_blocks() { return *spare_blocks_; }

 private:
  std::unique_ptr<SpareBlocks> spare_blocks_;
  std::vector<Buffer> buffers_;
  std::vector<int64_t> variable_buffer_;
};

}  // namespace fullwarp::exec
