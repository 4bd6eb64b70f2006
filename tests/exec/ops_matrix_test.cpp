// Matrix instructions through the interpreter. Products: every shape, type and layout against a plain triple
// loop, on values whose sums are exact. Accesses: requests, sectors and wavefronts against the H200's counters for
// the gallery (tests/hardware/h200_gallery.csv) and hand calculations.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "exec/semantics/matrix.h"
#include "run_ptx.h"

namespace fullwarp::exec::test {
namespace {

using sem::MatrixType;
using sem::Role;
using sem::Shape;

const char* name_of(MatrixType type) {
  static constexpr const char* kNames[] = {"f16", "bf16", "tf32", "f32", "f64", "s32", "s8",
                                           "u8",  "s4",   "u4",   "b1",  "e4m3", "e5m2"};
  return kNames[static_cast<unsigned>(type)];
}

std::string name_of(Shape s) {
  return "m" + std::to_string(s.m) + "n" + std::to_string(s.n) + "k" + std::to_string(s.k);
}

struct FloatFormat {
  int exponent_bits, mantissa_bits;
};
FloatFormat format_of(MatrixType type) {
  switch (type) {
    case MatrixType::f16: return {5, 10};
    case MatrixType::bf16: return {8, 7};
    case MatrixType::f64: return {11, 52};
    case MatrixType::e4m3: return {4, 3};
    case MatrixType::e5m2: return {5, 2};
    case MatrixType::f32: case MatrixType::tf32: return {8, 23};
    default: return {0, 0};
  }
}

// Bits of a value that the type can hold (normal or 0), and back.
uint64_t encode(MatrixType type, double value) {
  const FloatFormat f = format_of(type);
  if (f.exponent_bits == 0) {
    const unsigned bits = sem::element_bits(type);
    return static_cast<uint64_t>(static_cast<int64_t>(value)) & (~uint64_t{0} >> (64 - bits));
  }
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent) * 2 - 1;
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint64_t sign = value < 0, mantissa = static_cast<uint64_t>(std::ldexp(fraction, f.mantissa_bits));
  return sign << (f.exponent_bits + f.mantissa_bits) | static_cast<uint64_t>(exponent - 1 + bias) << f.mantissa_bits |
         mantissa;
}

double decode(MatrixType type, uint64_t bits) {
  const FloatFormat f = format_of(type);
  if (type == MatrixType::s32) return static_cast<int32_t>(bits);
  const uint64_t magnitude = bits & ((uint64_t{1} << (f.exponent_bits + f.mantissa_bits)) - 1);
  if (magnitude == 0) return 0;
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint64_t mantissa = magnitude & ((uint64_t{1} << f.mantissa_bits) - 1);
  const double value = std::ldexp(1 + std::ldexp(static_cast<double>(mantissa), -f.mantissa_bits),
                                  static_cast<int>(magnitude >> f.mantissa_bits) - bias);
  return magnitude == bits ? value : -value;
}

struct Matrix {
  unsigned rows = 0, columns = 0;
  std::vector<double> values;
  double& at(unsigned r, unsigned c) { return values[r * columns + c]; }
  double at(unsigned r, unsigned c) const { return values[r * columns + c]; }
  bool operator==(const Matrix&) const = default;
};

// Values of the type, small enough that all sums are exact in f16.
Matrix some_matrix(unsigned rows, unsigned columns, MatrixType type, unsigned seed) {
  Matrix m{rows, columns, std::vector<double>(rows * columns)};
  uint32_t state = seed * 2654435761u + 12345;
  for (double& v : m.values) {
    state = state * 1664525u + 1013904223u;
    const int r = static_cast<int>(state >> 16);
    switch (type) {
      case MatrixType::s8: v = r % 256 - 128; break;
      case MatrixType::u8: v = r % 256; break;
      case MatrixType::s4: v = r % 16 - 8; break;
      case MatrixType::u4: v = r % 16; break;
      case MatrixType::b1: v = r % 2; break;
      case MatrixType::s32: v = r % 20001 - 10000; break;
      case MatrixType::f64: v = (r % 2001 - 1000) / 64.0; break;
      default: v = (r % 13 - 6) / 2.0; break;
    }
  }
  return m;
}

Matrix product(const Matrix& a, const Matrix& b, const Matrix& c,
               const std::function<double(double, double)>& multiply = std::multiplies<double>()) {
  Matrix d = c;
  for (unsigned m = 0; m < a.rows; ++m)
    for (unsigned n = 0; n < b.columns; ++n)
      for (unsigned k = 0; k < a.columns; ++k) d.at(m, n) += multiply(a.at(m, k), b.at(k, n));
  return d;
}

// ---- mma.sync: registers from buffers, [register][lane] ----

std::vector<uint64_t> to_registers(const Matrix& m, const sem::Fragment& f) {
  std::vector<uint64_t> registers(f.registers * 32u);
  for (unsigned r = 0; r < f.registers; ++r)
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < f.elements_per_register(); ++i) {
        const sem::Position p = f.position(lane, r, i);
        registers[r * 32 + lane] |= encode(f.type, m.at(p.row, p.column)) << (i * sem::element_bits(f.type));
      }
  return registers;
}

Matrix from_registers(const std::vector<uint64_t>& registers, const sem::Fragment& f) {
  Matrix m{f.rows, f.columns, std::vector<double>(size_t{f.rows} * f.columns)};
  const unsigned bits = sem::element_bits(f.type);
  for (unsigned r = 0; r < f.registers; ++r)
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < f.elements_per_register(); ++i) {
        const sem::Position p = f.position(lane, r, i);
        m.at(p.row, p.column) =
            decode(f.type, registers[r * 32 + lane] >> (i * bits) & (~uint64_t{0} >> (64 - bits)));
      }
  return m;
}

std::string list(const std::string& name, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += (i ? ", %" : "%") + name + std::to_string(i);
  return text + "}";
}

// Loads `count` registers (8 bytes apart in the buffers, 32 lanes each) and stores them.
std::string load_registers(const std::string& name, unsigned count, bool wide) {
  std::string text = "ld.param.u64 %at, [" + name + "]; add.u64 %at, %at, %i;\n";
  for (unsigned r = 0; r < count; ++r)
    text += "ld.global." + std::string(wide ? "b64" : "b32") + " %" + name + std::to_string(r) + ", [%at+" +
            std::to_string(256 * r) + "];\n";
  return text;
}
std::string store_registers(const std::string& name, unsigned count, bool wide) {
  std::string text = "ld.param.u64 %at, [" + name + "]; add.u64 %at, %at, %i;\n";
  for (unsigned r = 0; r < count; ++r)
    text += "st.global." + std::string(wide ? "b64" : "b32") + " [%at+" + std::to_string(256 * r) + "], %" + name +
            std::to_string(r) + ";\n";
  return text;
}

std::string registers(bool wide) {
  const std::string type = wide ? ".b64" : ".b32";
  return ".reg .b64 %at, %i; .reg .b32 %lane, %stride, %s; .reg " + type + " %a<8>, %b<8>, %c<8>, %d<8>;\n" +
         "mov.u32 %lane, %laneid; mul.wide.u32 %i, %lane, 8;\n";
}

Matrix run_mma(const std::string& instruction, Shape shape, MatrixType ta, MatrixType tb, MatrixType tc,
               MatrixType td, const Matrix& a, const Matrix& b, const Matrix& c) {
  const sem::Fragment fa = sem::mma_fragment(Role::a, ta, shape), fb = sem::mma_fragment(Role::b, tb, shape),
                      fc = sem::mma_fragment(Role::c, tc, shape), fd = sem::mma_fragment(Role::c, td, shape);
  const bool wide = tc == MatrixType::f64;
  SCOPED_TRACE(instruction);
  Kernel kernel(registers(wide) + load_registers("a", fa.registers, wide) + load_registers("b", fb.registers, wide) +
                load_registers("c", fc.registers, wide) + instruction + " " + list("d", fd.registers) + ", " +
                list("a", fa.registers) + ", " + list("b", fb.registers) + ", " + list("c", fc.registers) + ";\n" +
                store_registers("d", fd.registers, wide) + "ret;");
  kernel.buffer("a", to_registers(a, fa)).buffer("b", to_registers(b, fb)).buffer("c", to_registers(c, fc));
  kernel.buffer("d", std::vector<uint64_t>(fd.registers * 32u));
  kernel.run_clean();
  std::vector<uint64_t> result = kernel.values<uint64_t>("d");
  result.resize(fd.registers * 32u);
  return from_registers(result, fd);
}

struct MmaCase {
  Shape shape;
  MatrixType a, b, c, d;
  std::string text() const {
    return "mma.sync.aligned." + name_of(shape) + ".row.col." + name_of(d) + "." + name_of(a) + "." + name_of(b) + "." +
           name_of(c);
  }
};

std::vector<MmaCase> mma_cases() {
  using enum MatrixType;
  std::vector<MmaCase> cases;
  const auto add = [&](std::vector<Shape> shapes, std::vector<MatrixType> as, std::vector<MatrixType> sums) {
    for (Shape s : shapes)
      for (MatrixType a : as)
        for (MatrixType b : as)
          for (MatrixType c : sums) cases.push_back({s, a, b, c, c});
  };
  add({{16, 8, 8}, {16, 8, 16}}, {f16}, {f16, f32});
  add({{16, 8, 8}, {16, 8, 16}}, {bf16}, {f32});
  add({{16, 8, 4}, {16, 8, 8}}, {tf32}, {f32});
  add({{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}}, {f64}, {f64});
  add({{8, 8, 16}, {16, 8, 16}, {16, 8, 32}}, {s8, u8}, {s32});
  add({{8, 8, 32}, {16, 8, 32}, {16, 8, 64}}, {s4, u4}, {s32});
  add({{16, 8, 32}, {16, 8, 16}}, {e4m3, e5m2}, {f16, f32});
  cases.push_back({{16, 8, 16}, f16, f16, f16, f32});  // C and D of different types
  cases.push_back({{16, 8, 16}, f16, f16, f32, f16});
  return cases;
}

TEST(MmaTest, EveryShapeAndTypeMatchesTheTripleLoop) {
  for (const MmaCase& x : mma_cases()) {
    const Matrix a = some_matrix(x.shape.m, x.shape.k, x.a, 1), b = some_matrix(x.shape.k, x.shape.n, x.b, 2),
                 c = some_matrix(x.shape.m, x.shape.n, x.c, 3);
    EXPECT_EQ(run_mma(x.text(), x.shape, x.a, x.b, x.c, x.d, a, b, c), product(a, b, c)) << x.text();
  }
}

// Any bits at all, NaNs and infinities among them, give what the functions that tests/semantics checks give.
TEST(MmaTest, AnyBitsGiveWhatTheScalarFunctionsGive) {
  for (const MmaCase& x : mma_cases()) {
    if (x.c == MatrixType::f64) continue;
    const sem::Mma op = sem::make_mma(x.shape, x.a, x.b, x.c, x.d);
    uint32_t state = 99;
    const auto some = [&](unsigned count) {
      std::vector<uint64_t> bits(count * 32);
      for (uint64_t& b : bits) {
        state = state * 1664525u + 1013904223u;
        b = state ^ state >> 13;
      }
      return bits;
    };
    const std::vector<uint64_t> a = some(op.a.fragment.registers), b = some(op.b.fragment.registers),
                                c = some(op.c.fragment.registers);
    const auto rows = [](const std::vector<uint64_t>& from) {
      std::vector<std::vector<uint32_t>> to(from.size() / 32);
      for (size_t i = 0; i < from.size(); ++i) to[i / 32].push_back(static_cast<uint32_t>(from[i]));
      return to;
    };
    const auto ra = rows(a), rb = rows(b), rc = rows(c);
    auto rd = rows(std::vector<uint64_t>(op.d.fragment.registers * 32u));
    std::vector<const uint32_t*> pa, pb, pc;
    std::vector<uint32_t*> pd;
    for (const auto& r : ra) pa.push_back(r.data());
    for (const auto& r : rb) pb.push_back(r.data());
    for (const auto& r : rc) pc.push_back(r.data());
    for (auto& r : rd) pd.push_back(r.data());
    sem::mma(op, pa.data(), pb.data(), pc.data(), pd.data());
    Kernel kernel(registers(false) + load_registers("a", op.a.fragment.registers, false) +
                  load_registers("b", op.b.fragment.registers, false) +
                  load_registers("c", op.c.fragment.registers, false) + x.text() + " " +
                  list("d", op.d.fragment.registers) + ", " + list("a", op.a.fragment.registers) + ", " +
                  list("b", op.b.fragment.registers) + ", " + list("c", op.c.fragment.registers) + ";\n" +
                  store_registers("d", op.d.fragment.registers, false) + "ret;");
    kernel.buffer("a", a).buffer("b", b).buffer("c", c);
    kernel.buffer("d", std::vector<uint64_t>(op.d.fragment.registers * 32u));
    kernel.run_clean();
    const std::vector<uint64_t> d = kernel.values<uint64_t>("d");
    for (unsigned i = 0; i < op.d.fragment.registers * 32u; ++i)
      ASSERT_EQ(d[i], rd[i / 32][i % 32]) << x.text() << ' ' << i;
  }
}

TEST(MmaTest, BitsAreCountedWhereTheyDifferOrBothAreSet) {
  const auto b1 = MatrixType::b1, s32 = MatrixType::s32;
  for (Shape s : {Shape{8, 8, 128}, Shape{16, 8, 128}, Shape{16, 8, 256}}) {
    const Matrix a = some_matrix(s.m, s.k, b1, 1), b = some_matrix(s.k, s.n, b1, 2), c = some_matrix(s.m, s.n, s32, 3);
    const std::string text = "mma.sync.aligned." + name_of(s) + ".row.col.s32.b1.b1.s32.";
    EXPECT_EQ(run_mma(text + "xor.popc", s, b1, b1, s32, s32, a, b, c), product(a, b, c, std::not_equal_to<double>()));
    EXPECT_EQ(run_mma(text + "and.popc", s, b1, b1, s32, s32, a, b, c), product(a, b, c));
  }
}

TEST(MmaTest, IntegersWrapOrClamp) {
  const auto s8 = MatrixType::s8, s32 = MatrixType::s32;
  const Shape s{16, 8, 32};
  const Matrix a{16, 32, std::vector<double>(512, 127)}, b{32, 8, std::vector<double>(256, 127)},
      c{16, 8, std::vector<double>(128, 2147483647.0)};
  const double sum = 32 * 127 * 127;
  const std::string text = "mma.sync.aligned.m16n8k32.row.col.";
  EXPECT_EQ(run_mma(text + "s32.s8.s8.s32", s, s8, s8, s32, s32, a, b, c).at(5, 3), sum - 2147483649.0);
  EXPECT_EQ(run_mma(text + "satfinite.s32.s8.s8.s32", s, s8, s8, s32, s32, a, b, c).at(5, 3), 2147483647.0);
}

// m8n8k4 of f16 is four products; lanes 4p..4p+3 and 16+4p..16+4p+3 hold product p. With A the identity in its
// first four columns and B as it lies in the registers, D = C + the rows of B.
TEST(MmaTest, FourProductsOfEight) {
  const std::string in = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, "
                         "{%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};\n";
  Kernel kernel(registers(false) + load_registers("a", 2, false) + load_registers("b", 2, false) +
                load_registers("c", 8, false) + in + store_registers("d", 8, false) + "ret;");
  // A .row: lane holds row l % 4 (+ 4 for the high group), columns 0..3. B .col: column l % 4 (+ 4), rows 0..3.
  std::vector<uint64_t> a(64), b(64), c(256);
  const auto element_a = [](unsigned p, unsigned m, unsigned k) { return double((p + 3 * m + 5 * k) % 7) - 3; };
  const auto element_b = [](unsigned p, unsigned k, unsigned n) { return double((2 * p + k + 4 * n) % 9) - 4; };
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned p = lane % 16 / 4, line = lane % 4 + lane / 16 * 4;
    for (unsigned k = 0; k < 4; ++k) {
      a[k / 2 * 32 + lane] |= encode(MatrixType::f16, element_a(p, line, k)) << (k % 2 * 16);
      b[k / 2 * 32 + lane] |= encode(MatrixType::f16, element_b(p, k, line)) << (k % 2 * 16);
    }
    for (unsigned i = 0; i < 8; ++i) c[i * 32 + lane] = encode(MatrixType::f32, lane);
  }
  kernel.buffer("a", a).buffer("b", b).buffer("c", c).buffer("d", std::vector<uint64_t>(256));
  kernel.run_clean();
  const std::vector<uint64_t> d = kernel.values<uint64_t>("d");
  ASSERT_EQ(d.size(), 256u);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 8; ++i) {
      // PTX ISA, "Matrix fragments for mma.m8n8k4", accumulators of .f32.
      const unsigned p = lane % 16 / 4, m = (lane & 1) + (i & 2) + (lane < 16 ? 0 : 4),
                     n = (i & 4) + (lane & 2) + (i & 1);
      double want = lane;
      for (unsigned k = 0; k < 4; ++k) want += element_a(p, m, k) * element_b(p, k, n);
      EXPECT_EQ(decode(MatrixType::f32, d[i * 32 + lane]), want) << lane << ' ' << i;
    }
}

// ---- wmma: matrices in memory ----

struct Layout {
  bool row_major = true;
  unsigned stride = 0;
};

unsigned tight(const Matrix& m, bool row_major) { return row_major ? m.columns : m.rows; }

std::vector<uint8_t> to_memory(const Matrix& m, MatrixType type, Layout layout) {
  const unsigned bits = sem::element_bits(type), lines = layout.row_major ? m.rows : m.columns;
  std::vector<uint8_t> bytes(size_t{lines} * layout.stride * bits / 8 + 16);
  for (unsigned r = 0; r < m.rows; ++r)
    for (unsigned c = 0; c < m.columns; ++c) {
      const size_t element = layout.row_major ? size_t{r} * layout.stride + c : size_t{c} * layout.stride + r;
      const uint64_t value = encode(type, m.at(r, c));
      for (unsigned i = 0; i < bits; ++i) {
        const size_t bit = element * bits + i;
        bytes[bit / 8] = static_cast<uint8_t>(bytes[bit / 8] | (value >> i & 1) << (bit % 8));
      }
    }
  return bytes;
}

Matrix from_memory(const std::vector<uint8_t>& bytes, unsigned rows, unsigned columns, MatrixType type, Layout layout) {
  Matrix m{rows, columns, std::vector<double>(size_t{rows} * columns)};
  const unsigned size = sem::element_bits(type) / 8;
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned c = 0; c < columns; ++c) {
      const size_t element = layout.row_major ? size_t{r} * layout.stride + c : size_t{c} * layout.stride + r;
      uint64_t value = 0;
      if ((element + 1) * size <= bytes.size()) std::memcpy(&value, bytes.data() + element * size, size);
      m.at(r, c) = decode(type, value);
    }
  return m;
}

struct WmmaCase {
  Shape shape;
  MatrixType a, c, d;
  bool a_row, b_row, c_row, d_row;
  bool with_stride;
  std::string space;  // "", ".global", ".shared"
};

unsigned wmma_registers(Role role, MatrixType type, Shape s) {
  const unsigned bits = sem::element_bits(type);
  if (type == MatrixType::f16 && role != Role::c) return 8;  // as the manual lists them
  const unsigned elements = (role == Role::a ? s.m * s.k : role == Role::b ? s.k * s.n : s.m * s.n) / 32;
  return bits == 64 ? elements : elements * bits / 32;
}

void check_wmma(const WmmaCase& x) {
  const Shape s = x.shape;
  const bool wide = x.c == MatrixType::f64;
  const Matrix a = some_matrix(s.m, s.k, x.a, 4), b = some_matrix(s.k, s.n, x.a, 5), c = some_matrix(s.m, s.n, x.c, 6);
  const unsigned pad = x.with_stride ? 128 / sem::element_bits(x.a) : 0, pad_c = x.with_stride ? 8 : 0;
  const Layout la{x.a_row, tight(a, x.a_row) + pad}, lb{x.b_row, tight(b, x.b_row) + pad},
      lc{x.c_row, tight(c, x.c_row) + pad_c}, ld{x.d_row, tight(c, x.d_row) + pad_c};
  const auto load = [&](const std::string& name, Role role, MatrixType type, Layout layout) {
    std::string at = "[%at]", text = "ld.param.u64 %at, [" + name + "];\n";
    const std::string role_text = role == Role::a ? "a" : role == Role::b ? "b" : "c";
    if (x.space == ".shared") {  // the lanes copy the whole buffer first, 16 bytes each at a time
      const unsigned from = name == "a" ? 0 : name == "b" ? 8192 : 16384;
      text += "{ .reg .b32 %u, %v; .reg .b64 %x; .reg .pred %more; mov.u32 %u, %lane; $copy_" + name +
              ": mul.wide.u32 %x, %u, 4; add.u64 %x, %x, %at; ld.global.b32 %v, [%x]; shl.b32 %s, %u, 2;\n" +
              "st.shared.b32 [%s+" + std::to_string(from) + "], %v; add.u32 %u, %u, 32; setp.lt.u32 %more, %u, " +
              std::to_string(to_memory(role == Role::a ? a : role == Role::b ? b : c, type, layout).size() / 4) +
              "; @%more bra $copy_" + name + "; }\nbar.sync 0;\nmov.u32 %s, " + std::to_string(from) + ";\n";
      at = "[%s]";
    }
    text += "wmma.load." + role_text + ".sync.aligned." + (layout.row_major ? "row." : "col.") + name_of(s) + x.space +
            "." + name_of(type) + " " + list(name, wmma_registers(role, type, s)) + ", " + at;
    return text + (x.with_stride ? ", " + std::to_string(layout.stride) : "") + ";\n";
  };
  const unsigned count_d = wmma_registers(Role::c, x.d, s);
  const std::string types = x.a == MatrixType::f16
                                ? std::string(name_of(x.d)) + "." + name_of(x.c)
                                : std::string(name_of(x.d)) + "." + name_of(x.a) + "." + name_of(x.a) + "." + name_of(x.c);
  const std::string mma = std::string("wmma.mma") + (x.a == MatrixType::b1 ? ".xor.popc" : "") + ".sync.aligned." +
                          (x.a_row ? "row." : "col.") + (x.b_row ? "row." : "col.") + name_of(s) + "." + types;
  std::string body = registers(wide) + (x.space == ".shared" ? ".shared .align 128 .b8 tile[24576];\n" : "") +
                     load("a", Role::a, x.a, la) + load("b", Role::b, x.a, lb) + load("c", Role::c, x.c, lc) + mma + " " +
                     list("d", count_d) + ", " + list("a", wmma_registers(Role::a, x.a, s)) + ", " +
                     list("b", wmma_registers(Role::b, x.a, s)) + ", " + list("c", wmma_registers(Role::c, x.c, s)) + ";\n";
  const std::string store = std::string("wmma.store.d.sync.aligned.") + (x.d_row ? "row." : "col.") + name_of(s);
  const std::string stride = x.with_stride ? ", %stride;\n" : ";\n";
  body += "mov.u32 %stride, " + std::to_string(ld.stride) + ";\nld.param.u64 %at, [d];\n";
  if (x.space == ".shared") {  // to shared memory, and from there by the lanes
    // The padding between lines is copied too: give it a value.
    body += "bar.sync 0; mov.u32 %s, %lane;\n{ .reg .b32 %u, %v; .reg .pred %more; mov.u32 %v, 0; $clear: shl.b32 %u, %s, 2; "
            "st.shared.b32 [%u], %v; add.u32 %s, %s, 32; setp.lt.u32 %more, %s, 2048; @%more bra $clear; }\n"
            "bar.sync 0; mov.u32 %s, 0;\n" + store + ".shared." + name_of(x.d) + " [%s], " + list("d", count_d) + stride +
            "bar.sync 0;\n{ .reg .b32 %u, %v; .reg .b64 %x; .reg .pred %more; mov.u32 %u, %lane; $copy_d: mul.wide.u32 "
            "%x, %u, 4; add.u64 %x, %x, %at; shl.b32 %s, %u, 2; ld.shared.b32 %v, [%s]; st.global.b32 [%x], %v; add.u32 "
            "%u, %u, 32; setp.lt.u32 %more, %u, " + std::to_string(to_memory(c, x.d, ld).size() / 4) +
            "; @%more bra $copy_d; }\nret;";
  } else {
    body += store + x.space + "." + name_of(x.d) + " [%at], " + list("d", count_d) + stride + "ret;";
  }
  SCOPED_TRACE(mma + " " + (x.c_row ? "row " : "col ") + (x.d_row ? "row" : "col") + x.space + (x.with_stride ? " stride" : ""));
  Kernel kernel(body);
  kernel.buffer("a", to_memory(a, x.a, la)).buffer("b", to_memory(b, x.a, lb)).buffer("c", to_memory(c, x.c, lc));
  kernel.buffer("d", std::vector<uint8_t>(to_memory(c, x.d, ld).size()));
  kernel.run_clean();
  EXPECT_EQ(from_memory(kernel.values<uint8_t>("d"), s.m, s.n, x.d, ld),
            x.a == MatrixType::b1 ? product(a, b, c, std::not_equal_to<double>()) : product(a, b, c));
}

void check_layouts(Shape shape, MatrixType a, MatrixType c, MatrixType d) {
  const bool fixed = sem::element_bits(a) < 8;
  for (unsigned bits = 0; bits < 16; ++bits) {
    if (fixed && (bits & 3) != 1) continue;  // A .row, B .col
    for (const char* space : {"", ".global", ".shared"})
      check_wmma({shape, a, c, d, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0,
                  ((bits >> 2 ^ bits >> 3) & 1) != 0, space});
  }
}

TEST(WmmaTest, HalfPrecision) {
  using enum MatrixType;
  for (Shape s : {Shape{16, 16, 16}, Shape{8, 32, 16}, Shape{32, 8, 16}})
    for (MatrixType c : {f16, f32})
      for (MatrixType d : {f16, f32}) check_layouts(s, f16, c, d);
}

TEST(WmmaTest, BrainFloatAndTf32) {
  using enum MatrixType;
  for (Shape s : {Shape{16, 16, 16}, Shape{8, 32, 16}, Shape{32, 8, 16}}) check_layouts(s, bf16, f32, f32);
  check_layouts({16, 16, 8}, tf32, f32, f32);
}

TEST(WmmaTest, DoublePrecision) { check_layouts({8, 8, 4}, MatrixType::f64, MatrixType::f64, MatrixType::f64); }

TEST(WmmaTest, Integers) {
  using enum MatrixType;
  for (Shape s : {Shape{16, 16, 16}, Shape{8, 32, 16}, Shape{32, 8, 16}})
    for (MatrixType a : {s8, u8}) check_layouts(s, a, s32, s32);
  for (MatrixType a : {s4, u4}) check_layouts({8, 8, 32}, a, s32, s32);
  check_layouts({8, 8, 128}, b1, s32, s32);
}

// ---- what wmma's accesses count ----

struct WmmaCount {
  const char* instruction;  // with %r0.. as registers, stride 64, at the start of a buffer
  unsigned registers;
  bool wide;
  uint64_t requests, sectors;
};

// Per instruction, from the H200's counters of the gallery's 64 x 64 x 64 products:
//   05_wmma_bf16  64 loads each of A and B: 512 requests, 4096 sectors; 16 stores: 64 requests, 512 sectors
//   04_wmma_int8  64 each: 640 requests, 3072 sectors; rows are 64 bytes
//   06_wmma_tf32  128 each: 1024 requests, 6144 sectors
//   07_wmma_f64   1024 each: 2048 requests, 16384 sectors; 64 stores: 64 requests, 1024 sectors
// A's and B's shares: A's registers cover 8 rows of 16 bytes each; B .row of 8 bits 4 rows (t) of 8 bytes.
TEST(WmmaTest, CountsRequestsAndSectorsAsTheHardwareDoes) {
  const WmmaCount cases[] = {
      {"wmma.load.a.sync.aligned.row.m16n16k16.global.bf16 {%r0,%r1,%r2,%r3}, [%at], 64", 4, false, 4, 32},
      {"wmma.load.b.sync.aligned.row.m16n16k16.global.bf16 {%r0,%r1,%r2,%r3}, [%at], 64", 4, false, 4, 32},
      {"wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r0,%r1}, [%at], 64", 2, false, 2, 16},
      {"wmma.load.b.sync.aligned.row.m16n16k16.global.s8 {%r0,%r1}, [%at], 64", 2, false, 8, 32},
      {"wmma.load.a.sync.aligned.row.m16n16k8.global.tf32 {%r0,%r1,%r2,%r3}, [%at], 64", 4, false, 4, 32},
      {"wmma.load.b.sync.aligned.row.m16n16k8.global.tf32 {%r0,%r1,%r2,%r3}, [%at], 64", 4, false, 4, 16},
      {"wmma.load.a.sync.aligned.row.m8n8k4.global.f64 {%r0}, [%at], 64", 1, true, 1, 8},
      {"wmma.load.b.sync.aligned.row.m8n8k4.global.f64 {%r0}, [%at], 64", 1, true, 1, 8},
      {"wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%at], {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, 64", 8, false, 4, 32},
      {"wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%at], {%r0,%r1}, 64", 2, true, 1, 16},
      // m8n32k16 is m32n8k16 transposed (ptxas: four STG.64 for .col, eight STG.32 for .row). Here each STG.64 fills
      // 8 columns' 32 bytes, each STG.32 8 neighbours of 4 rows.
      {"wmma.store.d.sync.aligned.col.m8n32k16.global.f32 [%at], {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, 64", 8, false, 4, 32},
      {"wmma.store.d.sync.aligned.row.m8n32k16.global.f32 [%at], {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, 64", 8, false, 8, 32},
  };
  for (const WmmaCount& x : cases) {
    SCOPED_TRACE(x.instruction);
    Kernel kernel(std::string(".reg .b64 %at; .reg ") + (x.wide ? ".b64" : ".b32") + " %r<8>;\nld.param.u64 %at, [m];\n" +
                  x.instruction + ";\nret;");
    kernel.buffer("m", std::vector<uint8_t>(64 * 64 * 8));
    const profile::KernelProfile p = kernel.run_clean();
    ASSERT_EQ(p.memory.size(), 1u);
    EXPECT_EQ(p.memory[0].requests, x.requests);
    EXPECT_EQ(p.memory[0].sectors, x.sectors);
  }
}

// ---- ldmatrix, stmatrix, movmatrix ----

// 16 KiB of shared memory, halfword i holding i; lane l's address is l * pitch.
std::string with_tile(unsigned pitch, const std::string& code) {
  return ".reg .b64 %at, %i; .reg .b32 %lane, %s, %u, %v; .reg .b32 %r<8>; .reg .pred %more;\n"
         ".shared .align 128 .b8 tile[16384];\n"
         "mov.u32 %lane, %laneid; mul.wide.u32 %i, %lane, 8; mov.u32 %u, %lane;\n"
         "$fill: shl.b32 %s, %u, 2; shl.b32 %v, %u, 17; or.b32 %v, %v, 0x10000; add.u32 %v, %v, %u; add.u32 %v, %v, %u;\n"
         "st.shared.b32 [%s], %v; add.u32 %u, %u, 32; setp.lt.u32 %more, %u, 4096; @%more bra $fill;\n"
         "bar.sync 0;\nmul.lo.u32 %s, %lane, " + std::to_string(pitch) + ";\n" + code;
}

const profile::MemoryCounters* counters_of(const profile::KernelProfile& p, mem::AccessKind kind) {
  for (const profile::MemoryCounters& m : p.memory)
    if (m.kind == kind) return &m;
  return nullptr;
}

TEST(LdmatrixTest, LanesGetTheirPiecesOfEveryMatrix) {
  for (unsigned count : {1u, 2u, 4u})
    for (bool trans : {false, true}) {
      const std::string text = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (trans ? ".trans" : "") +
                               ".shared.b16 " + list("r", count) + ", [%s+64];\n";
      SCOPED_TRACE(text);
      Kernel kernel(with_tile(48, text + store_registers("r", count, false) + "ret;"));
      kernel.buffer("r", std::vector<uint64_t>(count * 32));
      kernel.run_clean();
      const std::vector<uint64_t> r = kernel.values<uint64_t>("r");
      ASSERT_EQ(r.size(), count * 32);
      for (unsigned i = 0; i < count; ++i)
        for (unsigned lane = 0; lane < 32; ++lane) {
          // Element (row, column) of matrix i is halfword (64 + (8 i + row) * 48) / 2 + column.
          const auto element = [&](unsigned row, unsigned column) { return (64 + (8 * i + row) * 48) / 2 + column; };
          const unsigned line = lane / 4, first = lane % 4 * 2;
          const uint64_t low = trans ? element(first, line) : element(line, first);
          const uint64_t high = trans ? element(first + 1, line) : element(line, first + 1);
          EXPECT_EQ(r[i * 32 + lane], high << 16 | low) << i << ' ' << lane;
        }
    }
}

TEST(LdmatrixTest, WavefrontsAreThoseOfEightRowsAtATime) {
  struct Case { unsigned count, pitch; uint64_t wavefronts; };
  const Case cases[] = {
      {1, 16, 1}, {2, 16, 2}, {4, 16, 4},     // 8 rows of 16 bytes side by side: all 32 banks once
      {1, 128, 8}, {4, 128, 32},              // rows 128 bytes apart: the same four banks eight times
      {4, 80, 4}, {4, 32, 8}, {2, 64, 8},     // 20 words apart: 8 x 4 banks differ; 2-way; 4-way
  };
  for (const Case& x : cases) {
    SCOPED_TRACE(std::to_string(x.count) + " matrices, pitch " + std::to_string(x.pitch));
    Kernel kernel(with_tile(x.pitch, "ldmatrix.sync.aligned.m8n8.x" + std::to_string(x.count) + ".shared.b16 " +
                                         list("r", x.count) + ", [%s];\nret;"));
    const profile::KernelProfile p = kernel.run_clean();
    const profile::MemoryCounters* m = counters_of(p, mem::AccessKind::matrix_load);
    ASSERT_NE(m, nullptr);
    EXPECT_EQ(m->requests, 1u);
    EXPECT_EQ(m->lanes, 8 * x.count);
    EXPECT_EQ(m->width_bytes, 16u);
    EXPECT_EQ(m->wavefronts, x.wavefronts);
    EXPECT_EQ(m->ideal_wavefronts, x.count);
  }
}

TEST(LdmatrixTest, OnlyTheFirstLanesAddressesCount) {
  // Lanes 8 and up point far outside, .x1 does not look at them.
  Kernel kernel(with_tile(16, ".reg .pred %far; setp.ge.u32 %far, %lane, 8; @%far mov.u32 %s, 0x7fffff01;\n"
                              "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%s];\nret;"));
  kernel.run_clean();
  Kernel faulty(with_tile(16, "add.u32 %s, %s, 8;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%s];\nret;"));
  const profile::KernelProfile p = faulty.run();
  ASSERT_EQ(p.faults.size(), 1u);
  EXPECT_EQ(p.faults[0].kind, profile::FaultKind::misaligned);
  EXPECT_EQ(p.faults[0].count, 8u);
}

TEST(StmatrixTest, WritesWhatLdmatrixReads) {
  for (bool trans : {false, true})
    for (unsigned count : {1u, 2u, 4u}) {
      const std::string x = ".x" + std::to_string(count), t = trans ? ".trans" : "";
      // Registers hold 100000 * register + lane.
      std::string code;
      for (unsigned r = 0; r < count; ++r) code += "add.u32 %r" + std::to_string(r) + ", %lane, " + std::to_string(100000 * r) + ";\n";
      code += "stmatrix.sync.aligned.m8n8" + x + t + ".shared.b16 [%s], " + list("r", count) + ";\nbar.sync 0;\n" +
              "ldmatrix.sync.aligned.m8n8" + x + t + ".shared.b16 " + list("r", count) + ", [%s];\n";
      SCOPED_TRACE(x + t);
      Kernel kernel(with_tile(16, code + store_registers("r", count, false) + "ret;"));
      kernel.buffer("r", std::vector<uint64_t>(count * 32));
      const profile::KernelProfile p = kernel.run_clean();
      const std::vector<uint64_t> r = kernel.values<uint64_t>("r");
      ASSERT_EQ(r.size(), count * 32);
      for (unsigned i = 0; i < r.size(); ++i) EXPECT_EQ(r[i], 100000 * (i / 32) + i % 32);
      const profile::MemoryCounters* m = counters_of(p, mem::AccessKind::matrix_store);
      ASSERT_NE(m, nullptr);
      EXPECT_EQ(m->wavefronts, count);
    }
}

TEST(MovmatrixTest, ExchangesRowsAndColumns) {
  Kernel kernel(with_tile(16, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%s];\n"
                              "movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r0;\n"
                              "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r1}, [%s];\n" +
                              store_registers("r", 2, false) + "ret;"));
  kernel.buffer("r", std::vector<uint64_t>(64));
  kernel.run_clean();
  const std::vector<uint64_t> r = kernel.values<uint64_t>("r");
  ASSERT_EQ(r.size(), 64u);
  for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(r[lane], r[32 + lane]) << lane;
  EXPECT_EQ(r[1], (uint64_t{3 * 8} << 16) | 2 * 8);  // lane 1: rows 2 and 3 of column 0
}

// ---- together ----

// Lanes that took different ways to the instruction execute it as one; it may overwrite its own address.
TEST(MatrixTest, LanesThatPartedMeet) {
  Kernel kernel(with_tile(16, ".reg .pred %odd; and.b32 %u, %lane, 1; setp.ne.u32 %odd, %u, 0; @%odd bra $apart;\n"
                              "bra.uni $all;\n$apart: mov.u32 %v, 1; bra.uni $all;\n$all:\n"
                              "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%s}, [%s];\n"
                              "movmatrix.sync.aligned.m8n8.trans.b16 %s, %s; mov.u32 %r0, %s;\n" +
                              store_registers("r", 1, false) + "ret;"));
  kernel.buffer("r", std::vector<uint64_t>(32));
  kernel.run_clean();
  const std::vector<uint64_t> r = kernel.values<uint64_t>("r");
  ASSERT_EQ(r.size(), 32u);
  for (uint64_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(r[lane], ((lane % 4 * 2 + 1) * 8 + lane / 4) << 16 | (lane % 4 * 2 * 8 + lane / 4));
}

TEST(MatrixTest, FormsThatDoNotExistAreNamed) {
  struct Case { const char* instruction; const char* message; };
  const Case cases[] = {
      {"mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%r0,%r1,%r2,%r3};",
       "the layouts must be .row and .col"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1}, {%r4}, {%r0,%r1,%r2,%r3};",
       "there are no products of .f16 and .bf16 into .f32 in this shape"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1}, {%r4,%r5}, {%r0,%r1,%r2,%r3};",
       "takes 4 registers where it has 2"},
      {"wmma.load.a.sync.aligned.row.m16n16k8.global.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%at];",
       "there is no such matrix of this shape and type"},
      {"wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%r0}, [%at];", "matrices of this type are .row as A and .col as B"},
  };
  for (const Case& x : cases) {
    Kernel kernel(std::string(".reg .b64 %at; .reg .b32 %r<8>;\n") + x.instruction + "\nret;");
    kernel.run();
    EXPECT_NE(kernel.error.find(x.message), std::string::npos) << x.instruction << '\n' << kernel.error;
  }
}

}  // namespace
}  // namespace fullwarp::exec::test
