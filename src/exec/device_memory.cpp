#include "exec/device_memory.h"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "base/huge_pages.h"
#include "exec/heap.h"
#include "exec/spare_blocks.h"

namespace fullwarp::exec {
namespace {

constexpr uint64_t kPadding = 64;

}  // namespace

void AlignedDelete::operator()(std::byte*) const { munmap(mapping, mapped_bytes); }

// Large blocks are made of huge pages, which saves most of the page faults. Their starts are staggered, or
// equal offsets of all large buffers would meet in one set of the caches.
AlignedBytes allocate_zeroed(uint64_t bytes) {
  if (bytes > (uint64_t{1} << 46)) return nullptr;
  static std::atomic<unsigned> large_blocks{0};
  const bool large = bytes >= kHugePage;
  const uint64_t stagger = large ? large_blocks.fetch_add(1, std::memory_order_relaxed) % 16 * 5 * 64 : 0;
  const uint64_t needed = stagger + bytes + kPadding;
  const uint64_t mapped_bytes = (needed + 4095) / 4096 * 4096 + (large ? kHugePage : 0);
  void* const mapped =
      mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  std::byte* const mapping = static_cast<std::byte*>(mapped);
  std::byte* start = mapping;
  if (large) {
    start += -reinterpret_cast<uintptr_t>(start) % kHugePage;
    prefer_huge_pages(start, mapped_bytes - static_cast<uint64_t>(start - mapping));
  }
  return AlignedBytes(start + stagger, AlignedDelete{mapping, mapped_bytes});
}

DeviceMemory::DeviceMemory() : spare_blocks_(std::make_unique<SpareBlocks>()) {}
DeviceMemory::~DeviceMemory() = default;
DeviceMemory::DeviceMemory(DeviceMemory&&) noexcept = default;
DeviceMemory& DeviceMemory::operator=(DeviceMemory&&) noexcept = default;

Result<uint64_t> DeviceMemory::allocate(std::string name, uint64_t bytes, bool initialised) {
  if (bytes >= (uint64_t{1} << kWindowShift))
    return Error{"buffer " + name + " is larger than 1 TiB", {}, 0, 0, "use a smaller count"};
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.bytes = bytes;
  buffer.data = allocate_zeroed(bytes);
  if (!buffer.data)
    return Error{"no memory for buffer " + buffer.name + " of " + std::to_string(bytes) + " bytes",
                 {},
                 0,
                 0,
                 "use a smaller count"};
  if (!initialised) buffer.written = std::make_unique<uint64_t[]>(bytes / 64 + 3);
  buffers_.push_back(std::move(buffer));
  return address_of(buffers_.size() - 1);
}

Status DeviceMemory::load_module(const ptx::Module& module) {
  variable_buffer_.assign(module.variables.size(), -1);
  for (size_t v = 0; v < module.variables.size(); ++v) {
    const ptx::Variable& variable = module.variables[v];
    if (variable.space != ptx::Space::global && variable.space != ptx::Space::const_) continue;
    Result<uint64_t> address = allocate(std::string(variable.name), variable.bytes);
    if (!address) return address.error();
    Buffer& buffer = buffers_.back();
    buffer.read_only = variable.space == ptx::Space::const_;
    buffer.variable = static_cast<int32_t>(v);
    variable_buffer_[v] = static_cast<int64_t>(buffers_.size() - 1);
    if (!variable.init.empty())
      std::memcpy(buffer.data.get(), variable.init.data(),
                  std::min<uint64_t>(variable.init.size(), variable.bytes));
  }
  for (size_t v = 0; v < module.variables.size(); ++v) {
    if (variable_buffer_[v] < 0) continue;
    Buffer& buffer = buffers_[static_cast<size_t>(variable_buffer_[v])];
    for (const ptx::Relocation& r : module.variables[v].relocations) {
      if (r.size_bytes > 8 || uint64_t{r.offset} + r.size_bytes > buffer.bytes) continue;
      uint64_t value = 0;
      if (r.variable >= 0 && variable_buffer_[static_cast<size_t>(r.variable)] >= 0)
        value = address_of(static_cast<size_t>(variable_buffer_[static_cast<size_t>(r.variable)]));
      else if (r.function >= 0)
        value = (kFunctionWindow << kWindowShift) + 16 * (static_cast<uint64_t>(r.function) + 1);
      value += static_cast<uint64_t>(r.addend);
      std::memcpy(buffer.data.get() + r.offset, &value, r.size_bytes);
    }
  }
  return make_heap(*this, module);
}

int64_t DeviceMemory::find(uint64_t address) const {
  uint64_t window = window_of(address);
  if (window < kFirstBufferWindow || window - kFirstBufferWindow >= buffers_.size()) return -1;
  return static_cast<int64_t>(window - kFirstBufferWindow);
}

int64_t DeviceMemory::find(std::string_view name) const {
  for (size_t i = 0; i < buffers_.size(); ++i)
    if (buffers_[i].name == name) return static_cast<int64_t>(i);
  return -1;
}

int64_t DeviceMemory::find_variable(int32_t module_variable) const {
  if (module_variable < 0 || static_cast<size_t>(module_variable) >= variable_buffer_.size()) return -1;
  return variable_buffer_[static_cast<size_t>(module_variable)];
}

}  // namespace fullwarp::exec
