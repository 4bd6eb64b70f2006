// A launch's arguments as bytes: each is converted to its parameter's type as C++ would, structs are laid out
// member by member with natural alignment, buffers become addresses. And the other way round: the arguments
// an example launch gives.
#include <array>
#include <cstring>
#include <limits>
#include <optional>

#include "input/resolve.h"
#include "input/small_float.h"

namespace fullwarp::input {
namespace {

constexpr uint32_t kMaxParameterBytes = 32764;  // CUDA's own limit

struct Encoded {
  std::vector<std::byte> bytes;
  uint32_t align = 1;
};

template <class T>
Encoded encoded(T value, size_t bytes = sizeof(T)) {
  Encoded out;
  out.bytes.resize(bytes);
  std::memcpy(out.bytes.data(), &value, bytes);
  out.align = static_cast<uint32_t>(bytes);
  return out;
}

struct BuiltinType {
  std::string_view cpp;
  ElementType type;
};
constexpr std::array<BuiltinType, 16> kBuiltins = {{{"float", ElementType::f32},
                                                    {"double", ElementType::f64},
                                                    {"__half", ElementType::f16},
                                                    {"__nv_bfloat16", ElementType::bf16},
                                                    {"int", ElementType::i32},
                                                    {"unsigned int", ElementType::u32},
                                                    {"long", ElementType::i64},
                                                    {"unsigned long", ElementType::u64},
                                                    {"long long", ElementType::i64},
                                                    {"unsigned long long", ElementType::u64},
                                                    {"short", ElementType::i16},
                                                    {"unsigned short", ElementType::u16},
                                                    {"char", ElementType::i8},
                                                    {"signed char", ElementType::i8},
                                                    {"unsigned char", ElementType::u8},
                                                    {"bool", ElementType::u8}}};

std::optional<ElementType> element_type(std::string_view cpp) {
  for (const BuiltinType& builtin : kBuiltins) {
    if (builtin.cpp == cpp) return builtin.type;
  }
  return std::nullopt;
}

std::string without_const(std::string_view type) {
  std::string text = canonical_type(type);
  if (text.ends_with(" const")) text.resize(text.size() - 6);
  return text;
}

// `float (*)(int)`, `float (* const*)(int)`, `int (&) [4]`: a pointer to a function or an array. Those among
// a template's arguments say nothing about the type itself.
bool points_to_function_or_array(std::string_view type) {
  int depth = 0;
  for (size_t i = 0; i + 1 < type.size(); ++i) {
    if (type[i] == '<') ++depth;
    if (type[i] == '>') --depth;
    if (depth == 0 && type[i] == '(' && (type[i + 1] == '*' || type[i + 1] == '&')) return true;
  }
  return false;
}

bool is_pointer(const ParameterInfo& parameter) {
  return !parameter.type.empty() &&
         (parameter.type.back() == '*' || parameter.type.back() == '&' ||
          parameter.type.ends_with("* const") || points_to_function_or_array(parameter.type));
}

// The type a plain number takes, from the C++ type or else from PTX; none for a struct.
std::optional<ElementType> scalar_type(const ParameterInfo& parameter) {
  if (const auto type = element_type(without_const(parameter.type));
      type && size_bytes(*type) == parameter.bytes) {
    return type;
  }
  if (parameter.is_struct) return std::nullopt;
  if (parameter.ptx_type == ptx::Type::f32) return ElementType::f32;
  if (parameter.ptx_type == ptx::Type::f64) return ElementType::f64;
  switch (parameter.bytes) {
    case 1: return ElementType::i8;
    case 2: return ElementType::i16;
    case 4: return ElementType::i32;
    case 8: return ElementType::i64;
    default: return std::nullopt;
  }
}

bool is_float(ElementType type) { return type >= ElementType::f16; }

Result<Encoded> encode_scalar(const ScalarArgument& scalar, ElementType type) {
  if (is_float(type)) {
    const double value = scalar.is_float ? scalar.real : static_cast<double>(scalar.integer);
    switch (type) {
      case ElementType::f16: return encoded(f16_bits(value));
      case ElementType::bf16: return encoded(bf16_bits(value));
      case ElementType::f32:
        return encoded(scalar.is_float ? static_cast<float>(scalar.real)
                                       : static_cast<float>(scalar.integer));
      default: return encoded(value);
    }
  }
  if (scalar.is_float) return Error{"takes an integer, not a number with a decimal point"};
  const unsigned bits = size_bytes(type) * 8;
  if (bits < 64) {  // what fits neither signed nor unsigned would lose digits
    const int64_t least = -(int64_t{1} << (bits - 1)), most = (int64_t{1} << bits) - 1;
    if (scalar.integer < least || scalar.integer > most) {
      return Error{std::to_string(scalar.integer) + " does not fit in its " + std::to_string(bits) + " bits"};
    }
  }
  return encoded(scalar.integer, size_bytes(type));
}

class Packer {
 public:
  explicit Packer(const ArgumentMemory& memory) : memory_(memory) {}

  Result<Encoded> parameter(const ParameterInfo& parameter, const Argument& argument,
                            const std::string& label) {
    const bool pointer = is_pointer(parameter);
    const bool address = std::holds_alternative<BufferArgument>(argument.value) ||
                         std::holds_alternative<PointerArrayArgument>(argument.value);
    if (const auto* scalar = std::get_if<ScalarArgument>(&argument.value)) {
      if (pointer && (scalar->is_float || scalar->integer != 0)) {
        return Error{
            "takes a pointer, not a number", {}, 0, 0, "name a buffer or write one in place: `f32[1024]`"};
      }
      const std::optional<ElementType> type =
          scalar->type && parameter.is_struct && size_bytes(*scalar->type) == parameter.bytes
              ? scalar->type
              : scalar_type(parameter);
      if (!type) {
        return Error{"takes a struct of " + std::to_string(parameter.bytes) + " bytes, not a number",
                     {},
                     0,
                     0,
                     "write its members: `{f32 1.5, i32 3, in}`"};
      }
      return encode_scalar(*scalar, *type);
    }
    if (address && !pointer && !parameter.type.empty() && !parameter.is_struct) {
      return Error{"takes a number, not a buffer"};
    }
    Result<Encoded> value = any(argument, label);
    if (!value) return value;
    if (parameter.is_struct) value->bytes.resize(round_up(value->bytes.size(), parameter.align));
    if (value->bytes.size() != parameter.bytes) {
      return Error{"has " + std::to_string(parameter.bytes) + " bytes, the argument " +
                   std::to_string(value->bytes.size())};
    }
    return value;
  }

 private:
  static size_t round_up(size_t value, size_t align) { return (value + align - 1) / align * align; }

  Result<Encoded> any(const Argument& argument, const std::string& label) {
    if (const auto* buffer = std::get_if<BufferArgument>(&argument.value)) {
      const Result<uint64_t> address = address_of(*buffer, label);
      if (!address) return address.error();
      return encoded(address.value());
    }
    if (const auto* array = std::get_if<PointerArrayArgument>(&argument.value))
      return pointers(*array, label);
    if (const auto* members = std::get_if<StructArgument>(&argument.value)) return structure(*members, label);
    const auto& scalar = std::get<ScalarArgument>(argument.value);
    if (!scalar.type) {
      return Error{"a number in a struct needs its type", {}, 0, 0, "write `i32 3`, `f32 1.5` or `f64 1.5`"};
    }
    return encode_scalar(scalar, *scalar.type);
  }

  Result<uint64_t> address_of(const BufferArgument& buffer, const std::string& label) {
    const Result<BufferAddress> base = memory_.buffer(buffer, label);
    if (!base) return base.error();
    return base.value().address +
           static_cast<uint64_t>(buffer.offset_elements) * size_bytes(base.value().type);
  }

  Result<Encoded> pointers(const PointerArrayArgument& array, const std::string& label) {
    std::vector<uint64_t> addresses;
    for (size_t i = 0; i < array.pointers.size(); ++i) {
      addresses.push_back(0);  // a number here is the null pointer
      const auto* buffer = std::get_if<BufferArgument>(&array.pointers[i].value);
      if (buffer == nullptr) continue;
      const Result<uint64_t> address = address_of(*buffer, label + "[" + std::to_string(i) + "]");
      if (!address) return address.error();
      addresses.back() = address.value();
    }
    const Result<uint64_t> table = memory_.pointer_array(addresses, label);
    if (!table) return table.error();
    return encoded(table.value());
  }

  Result<Encoded> structure(const StructArgument& members, const std::string& label) {
    Encoded out;
    for (size_t i = 0; i < members.members.size(); ++i) {
      Result<Encoded> member = any(members.members[i], label + "." + std::to_string(i + 1));
      if (!member) return member;
      out.bytes.resize(round_up(out.bytes.size(), member->align));
      out.bytes.insert(out.bytes.end(), member->bytes.begin(), member->bytes.end());
      out.align = std::max(out.align, member->align);
    }
    out.bytes.resize(round_up(out.bytes.size(), out.align));
    return out;
  }

  const ArgumentMemory& memory_;
};

std::string example_argument(const ParameterInfo& parameter) {
  if (is_pointer(parameter)) {
    std::string pointee = parameter.type.substr(0, parameter.type.find_last_of("*&"));
    const bool read_only = pointee.ends_with(" const") || pointee.starts_with("const ");
    const ElementType type = element_type(without_const(pointee)).value_or(ElementType::f32);
    std::string text = std::string(to_string(type)) + "[1024]";
    if (read_only) text += is_float(type) ? ":uniform" : ":iota";
    return text;
  }
  if (const std::optional<ElementType> type = scalar_type(parameter)) {
    if (parameter.use == Use::none) return "nullptr";  // right for a pointer and for a number
    if (parameter.use == Use::address) return "f32[1024]";
    if (parameter.use == Use::unknown && parameter.type.empty() && parameter.ptx_type == ptx::Type::u64)
      return "f32[1024]";  // most likely a pointer
    if (parameter.type == "bool") return "true";
    if (is_float(*type)) return "1.0";
    return size_bytes(*type) == 1 ? "1" : "1024";
  }
  const uint32_t word = std::min(parameter.align, 8u);  // the struct's members are not known: all zero
  if (parameter.bytes > kMaxParameterBytes) return "{...}";
  std::string text = "{";
  for (uint32_t at = 0; at < parameter.bytes; at += word) {
    text += (at == 0 ? "u" : ", u") + std::to_string(word * 8) + " 0";
  }
  return text + "}";
}

}  // namespace

namespace {

std::string launch_with(const KernelInfo& kernel, const std::vector<std::string>& arguments) {
  const Dim3& block = kernel.block;
  const bool one_dimension = block.y == 1 && block.z == 1;
  std::string text = kernel.name;
  if (one_dimension) {
    text += "<<<4, " + std::to_string(block.x);
  } else {
    text += "<<<(4, 4), (" + std::to_string(block.x) + ", " + std::to_string(block.y);
    text += (block.z == 1 ? "" : ", " + std::to_string(block.z)) + ")";
  }
  text += kernel.dynamic_shared ? ", 1024>>>(" : ">>>(";
  for (size_t i = 0; i < arguments.size(); ++i) text += (i == 0 ? "" : ", ") + arguments[i];
  return text + ")";
}

// May the parameter's name stand on the left of a statement?
bool usable_name(const std::string& name) {
  for (const char* word :
       {"symbol", "expect", "save", "print", "ptr", "nullptr", "true", "false", "inf", "nan", "min", "max",
        "ceil_div", "dim3", "zero", "uninit", "iota", "uniform", "below"}) {
    if (name == word) return false;
  }
  return !name.empty() && !element_type(name);
}

}  // namespace

std::string example_launch(const KernelInfo& kernel) {
  std::vector<std::string> arguments;
  for (const ParameterInfo& parameter : kernel.parameters) arguments.push_back(example_argument(parameter));
  return launch_with(kernel, arguments);
}

std::vector<std::string> example_statements(const KernelInfo& kernel) {
  constexpr size_t kLongest = 90;  // characters of a line, but for a long launch
  std::vector<std::string> lines, names;
  std::string line;
  for (const ParameterInfo& parameter : kernel.parameters) {
    if (!usable_name(parameter.name) || std::find(names.begin(), names.end(), parameter.name) != names.end())
      return {example_launch(kernel)};
    const std::string value = example_argument(parameter);
    const bool in_place = value.starts_with("{") || value == "true";
    names.push_back(in_place ? value : parameter.name);
    if (in_place) continue;
    const std::string statement = parameter.name + " = " + value;
    if (!line.empty() && line.size() + statement.size() > kLongest) lines.push_back(std::exchange(line, {}));
    line += (line.empty() ? "" : ";  ") + statement;
  }
  if (!line.empty()) lines.push_back(line);
  lines.push_back(launch_with(kernel, names));
  return lines;
}

Result<std::vector<std::byte>> pack_arguments(const KernelInfo& kernel, const KernelLaunch& launch,
                                              const ArgumentMemory& memory) {
  if (launch.arguments.size() != kernel.parameters.size()) {
    return Error{kernel.name + " takes " + std::to_string(kernel.parameters.size()) + " argument" +
                     (kernel.parameters.size() == 1 ? "" : "s") + ", the launch gives " +
                     std::to_string(launch.arguments.size()),
                 {},
                 0,
                 0,
                 kernel.signature};
  }
  if (kernel.parameter_bytes > kMaxParameterBytes) {
    return Error{"the parameters of " + kernel.name + " take more than " +
                 std::to_string(kMaxParameterBytes) + " bytes"};
  }
  std::vector<std::byte> block(kernel.parameter_bytes);
  Packer packer(memory);
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const ParameterInfo& parameter = kernel.parameters[i];
    const std::string label = parameter.name.empty() ? "argument " + std::to_string(i + 1) : parameter.name;
    const Result<Encoded> value = packer.parameter(parameter, launch.arguments[i], label);
    if (!value) {
      Error error = value.error();
      std::string what = "parameter " + std::to_string(i + 1);
      if (!parameter.name.empty()) what = "parameter `" + parameter.name + "`";
      if (!parameter.type.empty()) what += " (" + readable_type(parameter.type) + ")";
      if (error.file.empty()) {
        error.message = what + " of " + kernel.name + " " + error.message;
        error.column = launch.arguments[i].column;
      }
      return error;
    }
    std::memcpy(block.data() + parameter.offset, value.value().bytes.data(), parameter.bytes);
  }
  return block;
}

}  // namespace fullwarp::input
