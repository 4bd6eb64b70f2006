#include "api/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "api/buffers.h"
#include "api/names.h"

namespace fullwarp::api {

using input::Argument;
using input::ElementType;

namespace {

uint64_t align_up(uint64_t value, uint64_t align) {
  return align <= 1 ? value : (value + align - 1) / align * align;
}

// A value with its natural alignment, as C++ lays out the members of a struct.
struct Encoded {
  std::vector<std::byte> bytes;
  uint64_t align = 1;
};

Encoded encoded_address(uint64_t address) {
  Encoded value;
  value.bytes.resize(sizeof address);
  std::memcpy(value.bytes.data(), &address, sizeof address);
  value.align = sizeof address;
  return value;
}

class ArgumentEncoder {
 public:
  ArgumentEncoder(Workspace& workspace, const std::string& base_dir)
      : workspace_(workspace), base_dir_(base_dir) {}

  // `type`: of a scalar that does not say its own.
  Result<Encoded> encode(const Argument& argument, std::optional<ElementType> type,
                         const std::string& label) {
    if (const auto* scalar = std::get_if<input::ScalarArgument>(&argument.value))
      return encode_scalar(*scalar, type);
    if (const auto* buffer = std::get_if<input::BufferArgument>(&argument.value)) {
      const Result<uint64_t> address = workspace_.address(*buffer, label, base_dir_);
      if (!address) return address.error();
      return encoded_address(*address);
    }
    if (const auto* pointers = std::get_if<input::PointerArrayArgument>(&argument.value))
      return encode_pointers(*pointers, label);
    return encode_struct(std::get<input::StructArgument>(argument.value), label);
  }

 private:
  static Result<Encoded> encode_scalar(const input::ScalarArgument& scalar, std::optional<ElementType> type) {
    if (scalar.type && (!type || !scalar.is_float)) type = scalar.type;
    if (!type) {
      if (scalar.is_float)
        return Error{"a real number in a struct needs a type", {}, 0, 0, "write `f32 1.5` or `f64 1.5`"};
      type = ElementType::i32;  // as an integer literal of C++
    }
    Result<std::vector<std::byte>> bytes = api::encode(scalar, *type);
    if (!bytes) return bytes.error();
    const uint64_t size = bytes->size();
    return Encoded{std::move(*bytes), size};
  }

  Result<Encoded> encode_pointers(const input::PointerArrayArgument& array, const std::string& label) {
    std::vector<uint64_t> addresses;
    for (size_t i = 0; i < array.pointers.size(); ++i) {
      uint64_t address = 0;  // a literal 0 is a null pointer
      if (const auto* buffer = std::get_if<input::BufferArgument>(&array.pointers[i].value)) {
        const Result<uint64_t> found =
            workspace_.address(*buffer, fmt::format("{}[{}]", label, i), base_dir_);
        if (!found) return found.error();
        address = *found;
      }
      addresses.push_back(address);
    }
    const Result<uint64_t> table = workspace_.pointer_array(addresses, label);
    if (!table) return table.error();
    return encoded_address(*table);
  }

  Result<Encoded> encode_struct(const input::StructArgument& members, const std::string& label) {
    Encoded value;
    for (size_t i = 0; i < members.members.size(); ++i) {
      Result<Encoded> member = encode(members.members[i], std::nullopt, fmt::format("{}.{}", label, i + 1));
      if (!member) return member.error();
      value.bytes.resize(align_up(value.bytes.size(), member->align));
      value.bytes.insert(value.bytes.end(), member->bytes.begin(), member->bytes.end());
      value.align = std::max(value.align, member->align);
    }
    value.bytes.resize(align_up(value.bytes.size(), value.align));
    return value;
  }

  Workspace& workspace_;
  const std::string& base_dir_;
};

// What a plain number becomes for a parameter; nothing for a parameter that is a struct.
std::optional<ElementType> scalar_type(const ptx::Param& param) {
  using ptx::Type;
  if (param.array) return std::nullopt;
  switch (param.type) {
    case Type::f32:
      return ElementType::f32;
    case Type::f64:
      return ElementType::f64;
    case Type::f16:
      return ElementType::f16;
    case Type::bf16:
      return ElementType::bf16;
    default:
      break;
  }
  switch (ptx::size_bytes(param.type)) {
    case 1:
      return ElementType::u8;
    case 2:
      return ElementType::u16;
    case 4:
      return ElementType::u32;
    case 8:
      return ElementType::u64;
    default:
      return std::nullopt;
  }
}

bool holds_address(const Argument& argument) {
  return std::holds_alternative<input::BufferArgument>(argument.value) ||
         std::holds_alternative<input::PointerArrayArgument>(argument.value);
}

// __half and __nv_bfloat16 are structs of two bytes in PTX; their C++ type tells them apart.
std::optional<ElementType> type_by_name(std::string_view cpp_type) {
  if (cpp_type == "__half") return ElementType::f16;
  if (cpp_type == "__nv_bfloat16") return ElementType::bf16;
  return std::nullopt;
}

Result<Encoded> encode_parameter(const ptx::Param& param, const Argument& argument, std::string_view cpp_type,
                                 const std::string& label, ArgumentEncoder& encoder) {
  const std::optional<ElementType> type = param.array ? type_by_name(cpp_type) : scalar_type(param);
  const bool integer = type && *type < ElementType::f16;
  const auto* scalar = std::get_if<input::ScalarArgument>(&argument.value);
  if (holds_address(argument) && param.bytes != 8)
    return Error{fmt::format("takes {} bytes, not a pointer", param.bytes)};
  if (!cpp_type.empty() && cpp_type.back() == '*' && scalar != nullptr &&
      (scalar->is_float || scalar->integer != 0))
    return Error{
        "takes a pointer, not a number", {}, 0, 0, "name a buffer, or write one in place: `f32[1024]`"};
  if (scalar != nullptr && scalar->is_float && integer && !scalar->type)
    return Error{fmt::format("takes an integer, not {}", scalar->real)};
  Result<Encoded> value = encoder.encode(argument, type, label);
  if (!value) return value.error();
  if (param.array)
    value->bytes.resize(align_up(value->bytes.size(), param.align));  // an __align__ of the struct
  if (value->bytes.size() != param.bytes)
    return Error{fmt::format("has {} bytes, the argument {}", param.bytes, value->bytes.size())};
  return value;
}

}  // namespace

Result<std::vector<std::byte>> parameter_block(const ptx::Function& kernel,
                                               const std::vector<Argument>& arguments, Workspace& workspace,
                                               const std::string& base_dir) {
  const std::string signature = demangle(kernel.name);
  const std::vector<std::string> types = parameter_types(signature);
  if (arguments.size() != kernel.params.size()) {
    return Error{fmt::format("{} takes {} argument{}, the launch gives {}", signature, kernel.params.size(),
                             kernel.params.size() == 1 ? "" : "s", arguments.size())};
  }
  ArgumentEncoder encoder(workspace, base_dir);
  std::vector<std::byte> block;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ptx::Param& param = kernel.params[i];
    const std::string_view cpp_type =
        types.size() == arguments.size() ? std::string_view(types[i]) : std::string_view();
    const std::string label = fmt::format("argument {}", i + 1);
    Result<Encoded> value = encode_parameter(param, arguments[i], cpp_type, label, encoder);
    if (!value) {
      Error error = value.error();
      const std::string type_text = cpp_type.empty() ? "" : fmt::format(" ({})", cpp_type);
      error.message =
          fmt::format("parameter {}{} of {}: {}", i + 1, type_text, plain_name(signature), error.message);
      if (error.file.empty()) error.column = arguments[i].column;
      return error;
    }
    block.resize(align_up(block.size(), param.align != 0 ? param.align : ptx::size_bytes(param.type)));
    block.insert(block.end(), value->bytes.begin(), value->bytes.end());
  }
  return block;
}

}  // namespace fullwarp::api
