// The initial values of buffers. The generator is a counter: value i of a seed needs no other value, so that
// any program (the launcher on a real GPU too) can make the same buffer.
#include <cstring>
#include <filesystem>

#include "input/launch.h"
#include "input/small_float.h"

namespace fullwarp::input {
namespace {

uint64_t splitmix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The double between which and `value` no rounding boundary of a smaller format lies: bits that a double
// cannot hold are folded into its last one.
double as_double_sticky(uint64_t value) {
  if (value >> 53 == 0) return static_cast<double>(value);
  const uint64_t sticky = (value & 0x7ff) != 0 ? 0x800 : 0;
  return static_cast<double>((value & ~uint64_t{0x7ff}) | sticky);
}

template <class Integer>
struct IntegerOf {
  using Stored = Integer;
  static Integer uniform(uint64_t u) { return static_cast<Integer>(u); }
  static Integer whole(uint64_t value) { return static_cast<Integer>(value); }
};
struct F32 {
  using Stored = float;
  static float uniform(uint64_t u) { return static_cast<float>(u >> 40) * 0x1p-24f; }
  static float whole(uint64_t value) { return static_cast<float>(value); }
};
struct F64 {
  using Stored = double;
  static double uniform(uint64_t u) { return static_cast<double>(u >> 11) * 0x1p-53; }
  static double whole(uint64_t value) { return static_cast<double>(value); }
};
struct F16 {
  using Stored = uint16_t;
  static uint16_t uniform(uint64_t u) { return f16_bits(F32::uniform(u)); }
  static uint16_t whole(uint64_t value) { return f16_bits(as_double_sticky(value)); }
};
struct Bf16 {
  using Stored = uint16_t;
  static uint16_t uniform(uint64_t u) { return bf16_bits(F32::uniform(u)); }
  static uint16_t whole(uint64_t value) { return bf16_bits(as_double_sticky(value)); }
};

template <class Type>
void fill_values(const Fill& fill, uint64_t seed, BufferData* data) {
  std::byte* out = data->bytes.data();
  const uint64_t first = seed * 0x100000001b3u;
  for (uint64_t i = 0; i < data->count; ++i) {
    typename Type::Stored value{};
    switch (fill.kind) {
      case Fill::Kind::iota: value = Type::whole(i); break;
      case Fill::Kind::uniform: value = Type::uniform(splitmix64(first + i)); break;
      case Fill::Kind::below: value = Type::whole(splitmix64(first + i) % fill.below); break;
      default: break;
    }
    std::memcpy(out + i * sizeof value, &value, sizeof value);
  }
}

void fill_values(const Fill& fill, uint64_t seed, BufferData* data) {
  switch (data->type) {  // signedness does not change the bits
    case ElementType::i8:
    case ElementType::u8: return fill_values<IntegerOf<uint8_t>>(fill, seed, data);
    case ElementType::i16:
    case ElementType::u16: return fill_values<IntegerOf<uint16_t>>(fill, seed, data);
    case ElementType::i32:
    case ElementType::u32: return fill_values<IntegerOf<uint32_t>>(fill, seed, data);
    case ElementType::i64:
    case ElementType::u64: return fill_values<IntegerOf<uint64_t>>(fill, seed, data);
    case ElementType::f16: return fill_values<F16>(fill, seed, data);
    case ElementType::bf16: return fill_values<Bf16>(fill, seed, data);
    case ElementType::f32: return fill_values<F32>(fill, seed, data);
    case ElementType::f64: return fill_values<F64>(fill, seed, data);
  }
}

// A file may hold the other signedness of the same width, and bf16 as plain 16-bit words.
bool fits(ElementType file, ElementType wanted) {
  const auto is_integer = [](ElementType t) { return t < ElementType::f16; };
  if (file == wanted) return true;
  if (is_integer(file) && is_integer(wanted)) return size_bytes(file) == size_bytes(wanted);
  return wanted == ElementType::bf16 && (file == ElementType::u16 || file == ElementType::i16);
}

Result<BufferData> from_file(const BufferSpec& spec, const std::string& base_dir) {
  const std::filesystem::path path = std::filesystem::path(base_dir) / spec.fill.path;
  Result<NpyArray> array = read_npy(path.string());
  if (!array) return array.error();
  const uint64_t count = array->bytes.size() / size_bytes(array->type);
  if (!fits(array->type, spec.type)) {
    return Error{"the file holds " + std::string(to_string(array->type)) + " values, the buffer " +
                     std::string(to_string(spec.type)),
                 path.string(), 0, 0,
                 "convert the array before saving it, for example with numpy's astype()"};
  }
  if (spec.count != 0 && spec.count != count) {
    return Error{
        "the file holds " + std::to_string(count) + " values, the buffer " + std::to_string(spec.count),
        path.string(), 0, 0,
        "leave the count out to take the file's: `" + std::string(to_string(spec.type)) + "[] : @" +
            spec.fill.path + "`"};
  }
  return BufferData{spec.type, count, true, std::move(array->bytes)};
}

}  // namespace

unsigned size_bytes(ElementType type) {
  static constexpr unsigned char kBytes[] = {1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  return kBytes[static_cast<size_t>(type)];
}

std::string_view to_string(ElementType type) {
  static constexpr std::string_view kNames[] = {"i8",  "i16", "i32", "i64",  "u8",  "u16",
                                                "u32", "u64", "f16", "bf16", "f32", "f64"};
  return kNames[static_cast<size_t>(type)];
}

Result<BufferData> make_buffer(const BufferSpec& spec, uint64_t position_from_1,
                               const std::string& base_dir) {
  if (spec.fill.kind == Fill::Kind::file) return from_file(spec, base_dir);
  if (spec.count > kMaxBufferBytes / size_bytes(spec.type)) {
    return Error{"a buffer of " + std::to_string(spec.count) + " " + std::string(to_string(spec.type)) +
                 " values is larger than 16 GiB"};
  }
  if (spec.fill.kind == Fill::Kind::below && spec.fill.below == 0) return Error{"below(0) has no values"};
  BufferData data{spec.type, spec.count, spec.fill.kind != Fill::Kind::uninit, {}};
  try {
    data.bytes.resize(spec.count * size_bytes(spec.type));
  } catch (const std::bad_alloc&) {
    return Error{"not enough memory for a buffer of " + std::to_string(spec.count * size_bytes(spec.type)) +
                 " bytes"};
  }
  if (spec.fill.kind != Fill::Kind::zero && spec.fill.kind != Fill::Kind::uninit) {
    fill_values(spec.fill, spec.fill.seed.value_or(position_from_1), &data);
  }
  return data;
}

}  // namespace fullwarp::input
