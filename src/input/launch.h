// Launch statements as data: what `--launch`, `// fullwarp:` comments and launch files say, before any
// kernel is looked up. The syntax stands in docs/launches.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/warp.h"

namespace fullwarp::input {

enum class ElementType : uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64 };
unsigned size_bytes(ElementType type);
std::string_view to_string(ElementType type);

inline constexpr uint64_t kMaxBufferBytes = uint64_t{16} << 30;  // a larger buffer is an error

struct Fill {
  enum class Kind : uint8_t { zero, uninit, iota, uniform, below, file };
  Kind kind = Kind::zero;
  std::optional<uint64_t> seed;  // default: the buffer's position, from 1
  uint64_t below = 0;
  std::string path;  // of a .npy file, relative to the statement's file
};

struct BufferSpec {  // f32[1024*1024] : uniform(7)
  ElementType type = ElementType::f32;
  uint64_t count = 0;  // 0: as many as the file has (`f32[] : @weights.npy`)
  Fill fill;
};

struct Argument;
struct BufferArgument {            // a name, or a buffer in place; `+ N` elements
  std::string name;                // empty: in place
  std::optional<BufferSpec> spec;  // in place
  int64_t offset_elements = 0;
};
struct ScalarArgument {  // 1024, 2.5f, n/2, or typed inside a struct: `f32 1.5`
  std::optional<ElementType> type;
  bool is_float = false;
  int64_t integer = 0;
  double real = 0;
};
struct StructArgument {
  std::vector<Argument> members;
};  // {f32 1.5, i32 3, in}
struct PointerArrayArgument {
  std::vector<Argument> pointers;
};  // ptr[]{in, out}
struct Argument {
  std::variant<ScalarArgument, BufferArgument, StructArgument, PointerArrayArgument> value;
  uint32_t column = 0;
};

struct DefineBuffer {
  std::string name;
  BufferSpec spec;
};
struct SetSymbol {
  std::string symbol;
  BufferSpec spec;
};
struct KernelLaunch {
  std::string kernel;  // as written: `transpose`, `ns::scan<float, 128>`
  Dim3 grid, block;
  uint64_t dynamic_shared_bytes = 0;
  std::vector<Argument> arguments;
};
struct Expect {  // expect out ~ @file.npy (rtol 1e-5, atol 0); expect out = f32[4]:iota; expect out[0:8] =
                 // other
  std::string buffer;
  std::optional<std::pair<uint64_t, uint64_t>> range;
  bool exact = true;         // `=`; `~` compares with the tolerances
  BufferArgument reference;  // `@file.npy` alone: a spec with count 0, of the buffer's own type
  double rtol = 1e-5, atol = 0;
};
struct Save {
  std::string buffer, path;
};
struct Print {
  std::string buffer;
  std::optional<std::pair<uint64_t, uint64_t>> range;
};

struct Statement {
  std::variant<DefineBuffer, SetSymbol, KernelLaunch, Expect, Save, Print> value;
  std::string file;  // where it stands; "--launch" for the command line
  uint32_t line = 0, column = 0;
  std::string text;
};

using Script = std::vector<Statement>;

// Parses statements, one a line or separated by `;`. `#` and `//` begin a comment.
Result<Script> parse_launches(std::string_view text, std::string_view file, uint32_t first_line = 1);
// The statements in the `// fullwarp:` comments of a CUDA source, in order (a comment may go on over
// following `// fullwarp:` lines). Empty if there are none.
Result<Script> launches_in_source(std::string_view source, std::string_view file);

// Gives every buffer of the whole script (named, in place or of a symbol) that names no seed its position
// in the text, from 1. make_buffer() then needs no position.
void assign_default_seeds(Script* script);

// Values of a buffer. Random value i of a seed: u = splitmix64(seed * 0x100000001b3 + i); f32 (u >> 40) /
// 2^24, f64 (u >> 11) / 2^53, integers the low bits, below: u mod K. `initialised` is false for `uninit`.
struct BufferData {
  ElementType type = ElementType::f32;
  uint64_t count = 0;
  bool initialised = true;
  std::vector<std::byte> bytes;  // little-endian, count x size_bytes(type)
};
Result<BufferData> make_buffer(const BufferSpec& spec, uint64_t position_from_1, const std::string& base_dir);

struct NpyArray {
  ElementType type = ElementType::f32;
  std::vector<uint64_t> shape;  // row-major
  std::vector<std::byte> bytes;
};
Result<NpyArray> read_npy(const std::string& path);
Result<NpyArray> parse_npy(std::string_view bytes, const std::string& name_for_messages);
Status write_npy(const std::string& path, const NpyArray& array);

}  // namespace fullwarp::input
