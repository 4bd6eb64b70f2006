#include "api/workspace.h"

#include <cstring>

#include "input/cpp_names.h"

namespace fullwarp::api {

namespace {

input::ElementType element_type(ptx::Type type) {
  using input::ElementType;
  switch (type) {
    case ptx::Type::s8: return ElementType::i8;
    case ptx::Type::u16:
    case ptx::Type::b16: return ElementType::u16;
    case ptx::Type::s16: return ElementType::i16;
    case ptx::Type::u32:
    case ptx::Type::b32: return ElementType::u32;
    case ptx::Type::s32: return ElementType::i32;
    case ptx::Type::u64:
    case ptx::Type::b64: return ElementType::u64;
    case ptx::Type::s64: return ElementType::i64;
    case ptx::Type::f16: return ElementType::f16;
    case ptx::Type::bf16: return ElementType::bf16;
    case ptx::Type::f32: return ElementType::f32;
    case ptx::Type::f64: return ElementType::f64;
    default: return ElementType::u8;
  }
}

}  // namespace

std::optional<input::ElementType> element_type_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(input::ElementType::f64); ++i)
    if (const auto type = static_cast<input::ElementType>(i); input::to_string(type) == name) return type;
  return std::nullopt;
}

Status Workspace::load(const ptx::Module& module) {
  module_ = &module;
  return memory_.load_module(module);
}

Result<size_t> Workspace::add(const std::string& name, const std::string& label,
                              const input::BufferSpec& spec, const std::string& base_dir) {
  Result<input::BufferData> data = input::make_buffer(spec, 1, base_dir);
  if (!data) return data.error();
  const Result<uint64_t> address =
      memory_.allocate(label, data->count * input::size_bytes(data->type), data->initialised);
  if (!address) return address.error();
  const size_t index = memory_.size() - 1;
  if (data->initialised && !data->bytes.empty())
    std::memcpy(memory_.buffer(index).data.get(), data->bytes.data(), data->bytes.size());
  buffers_.push_back({name, data->type, data->count, index});
  return index;
}

Status Workspace::define(const std::string& name, const input::BufferSpec& spec,
                         const std::string& base_dir) {
  if (find(name) != nullptr) return Error{"buffer '" + name + "' is defined twice"};
  const Result<size_t> index = add(name, name, spec, base_dir);
  if (!index) return index.error();
  return Ok{};
}

Result<input::BufferAddress> Workspace::address(const input::BufferArgument& argument,
                                                const std::string& label, const std::string& base_dir) {
  // The address may lie outside the buffer, as a C++ pointer may; its accesses are then out of bounds. An
  // offset that reached another buffer's window would not be.
  constexpr int64_t kFarthest = int64_t{1} << (exec::kWindowShift - 4);
  if (argument.offset_elements > kFarthest || argument.offset_elements < -kFarthest)
    return Error{"the offset of " + std::to_string(argument.offset_elements) + " elements is too large"};
  if (argument.spec) {
    const Result<size_t> index = add("", label, *argument.spec, base_dir);
    if (!index) return index.error();
    return input::BufferAddress{exec::DeviceMemory::address_of(*index), argument.spec->type};
  }
  const TypedBuffer* buffer = find(argument.name);
  if (buffer == nullptr)
    return Error{"there is no buffer '" + argument.name + "'",
                 {},
                 0,
                 0,
                 "define it first: `" + argument.name + " = f32[1024]`"};
  return input::BufferAddress{exec::DeviceMemory::address_of(buffer->memory_index), buffer->type};
}

Status Workspace::set_symbol(const input::SetSymbol& symbol, const std::string& base_dir) {
  const int32_t variable = input::find_symbol(*module_, symbol.symbol);
  const int64_t index = memory_.find_variable(variable);
  if (variable < 0 || index < 0)
    return Error{"the program has no __constant__ or __device__ variable '" + symbol.symbol + "'"};
  Result<input::BufferData> data = input::make_buffer(symbol.spec, 1, base_dir);
  if (!data) return data.error();
  exec::Buffer& buffer = memory_.buffer(static_cast<size_t>(index));
  if (data->bytes.size() != buffer.bytes) {
    return Error{"variable '" + symbol.symbol + "' has " + std::to_string(buffer.bytes) +
                 " bytes, the value " + std::to_string(data->bytes.size())};
  }
  if (!data->bytes.empty()) std::memcpy(buffer.data.get(), data->bytes.data(), data->bytes.size());
  if (find(symbol.symbol) == nullptr)
    buffers_.push_back({symbol.symbol, data->type, data->count, static_cast<size_t>(index)});
  return Ok{};
}

Result<uint64_t> Workspace::pointer_array(std::span<const uint64_t> addresses, const std::string& label) {
  const Result<uint64_t> address = memory_.allocate(label, addresses.size_bytes());
  if (!address) return address.error();
  const size_t index = memory_.size() - 1;
  if (!addresses.empty())
    std::memcpy(memory_.buffer(index).data.get(), addresses.data(), addresses.size_bytes());
  buffers_.push_back({"", input::ElementType::u64, addresses.size(), index});
  return *address;
}

input::ArgumentMemory Workspace::argument_memory(const std::string& base_dir) {
  return {[this, base_dir](const input::BufferArgument& argument, const std::string& label) {
            return address(argument, label, base_dir);
          },
          [this](std::span<const uint64_t> addresses, const std::string& label) {
            return pointer_array(addresses, label);
          }};
}

const TypedBuffer* Workspace::find(std::string_view name) const {
  if (name.empty()) return nullptr;
  for (const TypedBuffer& buffer : buffers_)
    if (buffer.name == name) return &buffer;
  return nullptr;
}

TypedBuffer Workspace::typed(size_t memory_index) const {
  const exec::Buffer& buffer = memory_.buffer(memory_index);
  for (const TypedBuffer& known : buffers_)
    if (known.memory_index == memory_index) return {buffer.name, known.type, known.count, memory_index};
  TypedBuffer variable{input::demangle(buffer.name), input::ElementType::u8, buffer.bytes, memory_index};
  if (buffer.variable >= 0)
    variable.type = element_type(module_->variables[static_cast<size_t>(buffer.variable)].type);
  variable.count = buffer.bytes / input::size_bytes(variable.type);
  return variable;
}

std::span<const std::byte> Workspace::bytes(const TypedBuffer& buffer) const {
  const exec::Buffer& memory = memory_.buffer(buffer.memory_index);
  return {memory.data.get(), static_cast<size_t>(memory.bytes)};
}

std::span<std::byte> Workspace::bytes(const TypedBuffer& buffer) {
  exec::Buffer& memory = memory_.buffer(buffer.memory_index);
  return {memory.data.get(), static_cast<size_t>(memory.bytes)};
}

}  // namespace fullwarp::api
