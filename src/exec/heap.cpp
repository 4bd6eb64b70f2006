#include "exec/heap.h"

#include <algorithm>
#include <cstring>

namespace fullwarp::exec {
namespace {

// At the start of the heap; the first block of memory follows.
struct HeapState {
  uint64_t next;  // offset of the first byte that was never handed out
  uint64_t live;  // bytes that are allocated now
};

// In front of each block of memory.
struct BlockHeader {
  uint64_t bytes;  // with the header
  uint64_t mark;   // kAllocated, or 0 when it was freed
};
constexpr uint64_t kAllocated = 0x6b6f6c62706165ull;
static_assert(sizeof(HeapState) == 16 && sizeof(BlockHeader) == 16);

template <class T>
T read(const Buffer& heap, uint64_t offset) {
  T value;
  std::memcpy(&value, heap.data.get() + offset, sizeof value);
  return value;
}

template <class T>
void write(Buffer& heap, uint64_t offset, const T& value) {
  std::memcpy(heap.data.get() + offset, &value, sizeof value);
}

}  // namespace

Status make_heap(DeviceMemory& memory, const ptx::Module& module) {
  const bool wanted =
      std::any_of(module.functions.begin(), module.functions.end(),
                  [](const ptx::Function& f) { return f.declared_only && f.name == "malloc"; });
  if (!wanted || memory.find(kHeapName) >= 0) return Ok{};
  Result<uint64_t> address = memory.allocate(kHeapName, kHeapBytes);
  if (!address) return address.error();
  write(memory.buffer(static_cast<size_t>(memory.find(kHeapName))), 0, HeapState{sizeof(HeapState), 0});
  return Ok{};
}

uint64_t heap_allocate(DeviceMemory& memory, uint64_t bytes) {
  const int64_t index = memory.find(kHeapName);
  if (index < 0 || bytes > kHeapLiveBytes) return 0;
  Buffer& heap = memory.buffer(static_cast<size_t>(index));
  HeapState state = read<HeapState>(heap, 0);
  const uint64_t taken = (bytes + sizeof(BlockHeader) + 15) / 16 * 16;
  // A kernel may write over the state: nothing in it is taken for granted.
  if (state.next % 16 != 0 || state.next > heap.bytes || taken > heap.bytes - state.next ||
      state.live > kHeapLiveBytes || taken > kHeapLiveBytes - state.live)
    return 0;
  write(heap, state.next, BlockHeader{taken, kAllocated});
  const uint64_t offset = state.next + sizeof(BlockHeader);
  state.next += taken;
  state.live += taken;
  write(heap, 0, state);
  return DeviceMemory::address_of(static_cast<size_t>(index)) + offset;
}

void heap_free(DeviceMemory& memory, uint64_t address) {
  const int64_t index = memory.find(kHeapName);
  if (index < 0 || memory.find(address) != index) return;
  Buffer& heap = memory.buffer(static_cast<size_t>(index));
  const uint64_t offset = offset_of(address);
  if (offset % 16 != 0 || offset < sizeof(HeapState) + sizeof(BlockHeader) || offset > heap.bytes) return;
  const BlockHeader header = read<BlockHeader>(heap, offset - sizeof(BlockHeader));
  HeapState state = read<HeapState>(heap, 0);
  if (header.mark != kAllocated || header.bytes > state.live) return;
  write(heap, offset - sizeof(BlockHeader), BlockHeader{header.bytes, 0});
  state.live -= header.bytes;
  write(heap, 0, state);
}

}  // namespace fullwarp::exec
