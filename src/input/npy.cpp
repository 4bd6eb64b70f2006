// NumPy's .npy files, versions 1 to 3:
//
//   "\x93NUMPY" major minor | header length (2 bytes; 4 from version 2) | header | values
//   header: {'descr': '<f4', 'fortran_order': False, 'shape': (32, 32), }
//
// The header is a Python literal; only the three keys and their plain forms are read, anything else is an
// error that says what was met. Values in Fortran order are brought to row-major order.
#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "input/launch.h"

namespace fullwarp::input {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxDimensions = 64;        // NumPy's own limit
constexpr size_t kMaxHeaderBytes = 1 << 20;  // a shape of 64 numbers is far below

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<uint64_t> shape;
};

// Reads the header's dictionary. `problem` is empty when all went well.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  bool parse(Header* header) {
    bool descr = false, order = false, shape = false;
    if (!expect('{')) return false;
    while (!accept('}')) {
      std::string key;
      if (!parse_string(&key) || !expect(':')) return false;
      bool* seen = key == "descr"           ? &descr
                   : key == "fortran_order" ? &order
                   : key == "shape"         ? &shape
                                            : nullptr;
      if (seen == nullptr) return fail("unknown header key '" + key + "'");
      if (*seen) return fail("the header key '" + key + "' stands twice");
      *seen = true;
      const bool good = seen == &descr   ? parse_descr(&header->descr)
                        : seen == &order ? parse_bool(&header->fortran_order)
                                         : parse_shape(&header->shape);
      if (!good) return false;
      if (!accept(',') && !peek('}')) return fail("expected `,` or `}` in the header");
    }
    if (!descr || !order || !shape) return fail("the header needs descr, fortran_order and shape");
    skip_blanks();
    return rest_.empty() || fail("text after the header's `}`");
  }

  std::string problem;

 private:
  bool fail(std::string message) {
    if (problem.empty()) problem = std::move(message);
    return false;
  }
  void skip_blanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0])) != 0) rest_.remove_prefix(1);
  }
  bool peek(char c) {
    skip_blanks();
    return !rest_.empty() && rest_[0] == c;
  }
  bool accept(char c) {
    if (!peek(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool expect(char c) { return accept(c) || fail(std::string("expected `") + c + "` in the header"); }

  bool parse_string(std::string* text) {
    if (!peek('\'') && !peek('"')) return fail("expected a quoted text in the header");
    const size_t close = rest_.find(rest_[0], 1);
    if (close == std::string_view::npos) return fail("a quote in the header is not closed");
    *text = rest_.substr(1, close - 1);
    rest_.remove_prefix(close + 1);
    return true;
  }
  bool parse_descr(std::string* descr) {
    if (peek('[')) return fail("arrays of records are not supported; save each field on its own");
    return parse_string(descr);
  }
  bool parse_bool(bool* value) {
    skip_blanks();
    for (const bool candidate : {false, true}) {
      const std::string_view word = candidate ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      *value = candidate;
      return true;
    }
    return fail("fortran_order must be True or False");
  }
  bool parse_shape(std::vector<uint64_t>* shape) {
    if (!expect('(')) return false;
    while (!accept(')')) {
      uint64_t extent = 0;
      skip_blanks();
      size_t digits = 0;
      while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') {
        if (__builtin_mul_overflow(extent, uint64_t{10}, &extent) ||
            __builtin_add_overflow(extent, static_cast<uint64_t>(rest_[digits] - '0'), &extent)) {
          return fail("an extent in the shape does not fit in 64 bits");
        }
        ++digits;
      }
      if (digits == 0) return fail("expected a number in the shape");
      rest_.remove_prefix(digits);
      if (!rest_.empty() && rest_[0] == 'L') rest_.remove_prefix(1);  // written by Python 2
      shape->push_back(extent);
      if (shape->size() > kMaxDimensions) return fail("the shape has more than 64 dimensions");
      if (!accept(',') && !peek(')')) return fail("expected `,` or `)` in the shape");
    }
    return true;
  }

  std::string_view rest_;
};

struct Descr {
  std::string_view code;  // without the byte order
  ElementType type;
};
constexpr Descr kDescrs[] = {{"f2", ElementType::f16}, {"f4", ElementType::f32}, {"f8", ElementType::f64},
                             {"i1", ElementType::i8},  {"i2", ElementType::i16}, {"i4", ElementType::i32},
                             {"i8", ElementType::i64}, {"u1", ElementType::u8},  {"u2", ElementType::u16},
                             {"u4", ElementType::u32}, {"u8", ElementType::u64}, {"b1", ElementType::u8},
                             {"V2", ElementType::bf16}};  // ml_dtypes writes bfloat16 as two void bytes

std::string type_from_descr(std::string_view descr, ElementType* type) {
  const bool ordered = !descr.empty() && std::string_view("<>|=").find(descr[0]) != std::string_view::npos;
  const std::string_view code = ordered ? descr.substr(1) : descr;
  for (const Descr& d : kDescrs) {
    if (d.code != code) continue;
    *type = d.type;
    if (descr[0] == '>' && size_bytes(d.type) > 1)
      return "the values are big-endian ('" + std::string(descr) + "')";
    return {};
  }
  return "the type '" + std::string(descr) + "' is not supported";
}

std::vector<std::byte> to_row_major(const std::byte* values, const std::vector<uint64_t>& shape,
                                    unsigned width, uint64_t count) {
  std::vector<std::byte> out(count * width);
  std::vector<uint64_t> stride(shape.size(), 1), index(shape.size(), 0);  // strides in the file
  for (size_t d = 1; d < shape.size(); ++d) stride[d] = stride[d - 1] * shape[d - 1];
  uint64_t from = 0;
  for (uint64_t i = 0; i < count; ++i) {
    std::memcpy(out.data() + i * width, values + from * width, width);
    for (size_t d = shape.size(); d-- > 0;) {  // the last index runs fastest
      from += stride[d];
      if (++index[d] < shape[d]) break;
      from -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
  return out;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

Result<NpyArray> parse_npy(std::string_view bytes, const std::string& name) {
  const auto error = [&](std::string message, std::string hint = {}) {
    return Error{std::move(message), name, 0, 0, std::move(hint)};
  };
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + 4) {
    return error("this is not a .npy file", "write one with numpy.save()");
  }
  const auto byte_at = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(bytes[i])); };
  const size_t version = byte_at(6);
  if (version < 1 || version > 3) {
    return error("version " + std::to_string(version) + " of the .npy format is not supported");
  }
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t start = kMagic.size() + 2 + length_bytes;
  if (bytes.size() < start) return error("the file ends inside its header");
  size_t header_bytes = 0;
  for (size_t i = 0; i < length_bytes; ++i) header_bytes |= byte_at(8 + i) << (8 * i);
  if (header_bytes > kMaxHeaderBytes) return error("the header is longer than 1 MiB");
  if (header_bytes > bytes.size() - start) return error("the file ends inside its header");

  Header header;
  HeaderParser parser(bytes.substr(start, header_bytes));
  if (!parser.parse(&header)) return error(parser.problem);
  NpyArray array;
  if (std::string problem = type_from_descr(header.descr, &array.type); !problem.empty()) {
    return error(problem, "convert the array with numpy's astype(), for example to '<f4'");
  }
  const unsigned width = size_bytes(array.type);
  uint64_t count = 1, size = 0;
  bool overflow = false;
  for (const uint64_t extent : header.shape) overflow |= __builtin_mul_overflow(count, extent, &count);
  overflow |= __builtin_mul_overflow(count, uint64_t{width}, &size);
  if (overflow || size > kMaxBufferBytes) return error("the array is larger than 16 GiB");
  const std::string_view values = bytes.substr(start + header_bytes);
  if (values.size() != size) {
    return error("the shape needs " + std::to_string(size) + " bytes of values, the file has " +
                 std::to_string(values.size()));
  }
  const auto* data = reinterpret_cast<const std::byte*>(values.data());
  try {
    if (header.fortran_order && header.shape.size() > 1) {
      array.bytes = to_row_major(data, header.shape, width, count);
    } else {
      array.bytes.assign(data, data + size);
    }
  } catch (const std::bad_alloc&) {
    return error("not enough memory for " + std::to_string(size) + " bytes");
  }
  array.shape = std::move(header.shape);
  return array;
}

Result<NpyArray> read_npy(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::exists(path, code)) return Error{"there is no such file", path};
  if (!std::filesystem::is_regular_file(path, code)) return Error{"this is not a file", path};
  const uint64_t size = std::filesystem::file_size(path, code);
  if (code) return Error{"the file cannot be read: " + code.message(), path};
  if (size > kMaxBufferBytes + kMaxHeaderBytes) return Error{"the file is larger than 16 GiB", path};
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return Error{std::string("the file cannot be read: ") + std::strerror(errno), path};
  std::string bytes;
  try {
    bytes.resize(size);
  } catch (const std::bad_alloc&) {
    return Error{"not enough memory for " + std::to_string(size) + " bytes", path};
  }
  bytes.resize(std::fread(bytes.data(), 1, size, file.get()));  // a file cut meanwhile is reported as short
  return parse_npy(bytes, path);
}

Status write_npy(const std::string& path, const NpyArray& array) {
  std::string_view code;
  for (const Descr& d : kDescrs) {
    if (d.type == array.type && code.empty()) code = d.code;  // u1 stands before b1
  }
  std::string header = "{'descr': '" + std::string(size_bytes(array.type) == 1 ? "|" : "<") +
                       std::string(code) + "', 'fortran_order': False, 'shape': (";
  for (size_t d = 0; d < array.shape.size(); ++d) {
    header += std::to_string(array.shape[d]) + (d + 1 < array.shape.size() ? ", " : "");
  }
  header += array.shape.size() == 1 ? ",), }" : "), }";
  constexpr size_t kPrefix = 10;
  while ((kPrefix + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  if (header.size() > 0xffff) return Error{"the array has too many dimensions", path};
  std::string start(kMagic);
  start += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  start += header;

  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) return Error{std::string("the file cannot be written: ") + std::strerror(errno), path};
  const bool written =
      std::fwrite(start.data(), 1, start.size(), file.get()) == start.size() &&
      std::fwrite(array.bytes.data(), 1, array.bytes.size(), file.get()) == array.bytes.size();
  if (std::fclose(file.release()) != 0 || !written) {
    return Error{std::string("the file cannot be written: ") + std::strerror(errno), path};
  }
  return Ok{};
}

}  // namespace fullwarp::input
