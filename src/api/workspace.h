// The buffers of one script: device memory, and what the script knows of it (names, element types, counts).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/device_memory.h"
#include "input/resolve.h"
#include "ptx/module.h"

namespace fullwarp::api {

struct TypedBuffer {
  std::string name;  // empty for a buffer that stands in place as an argument
  input::ElementType type = input::ElementType::u8;
  uint64_t count = 0;
  size_t memory_index = 0;
};

// "f32" and the like; empty for another name.
std::optional<input::ElementType> element_type_named(std::string_view name);

class Workspace {
 public:
  // Gives the module's variables their memory. Called once, before anything else; the module must outlive
  // this.
  Status load(const ptx::Module& module);

  Status define(const std::string& name, const input::BufferSpec& spec, const std::string& base_dir);
  // Where the argument's buffer begins. One in place is made here; `label` is what messages call it.
  Result<input::BufferAddress> address(const input::BufferArgument& argument, const std::string& label,
                                       const std::string& base_dir);
  Status set_symbol(const input::SetSymbol& symbol, const std::string& base_dir);
  // A table of device addresses in a buffer of its own; gives its address.
  Result<uint64_t> pointer_array(std::span<const uint64_t> addresses, const std::string& label);

  // The two above, for input::pack_arguments; to be used while this lives.
  input::ArgumentMemory argument_memory(const std::string& base_dir);
  const TypedBuffer* find(std::string_view name) const;
  // What the script knows of a buffer of device memory; module variables are typed by their declaration.
  TypedBuffer typed(size_t memory_index) const;

  std::span<const std::byte> bytes(const TypedBuffer& buffer) const;
  std::span<std::byte> bytes(const TypedBuffer& buffer);

  exec::DeviceMemory& memory() { return memory_; }
  const exec::DeviceMemory& memory() const { return memory_; }

 private:
  Result<size_t> add(const std::string& name, const std::string& label, const input::BufferSpec& spec,
                     const std::string& base_dir);

  const ptx::Module* module_ = nullptr;
  exec::DeviceMemory memory_;
  std::deque<TypedBuffer> buffers_;  // pointers to elements stay valid
};

}  // namespace fullwarp::api
