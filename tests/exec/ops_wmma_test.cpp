// wmma through the interpreter: every shape, type, layout and space against a plain triple loop; requests and
// sectors against the H200's counters for the gallery (tests/hardware/h200_gallery.csv).
#include "matrix_values.h"

namespace fullwarp::exec::test {
namespace {

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

Matrix from_memory(const std::vector<uint8_t>& bytes, unsigned rows, unsigned columns, MatrixType type,
                   Layout layout) {
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
  const Matrix a = some_matrix(s.m, s.k, x.a, 4), b = some_matrix(s.k, s.n, x.a, 5),
               c = some_matrix(s.m, s.n, x.c, 6);
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
              "st.shared.b32 [%s+" + std::to_string(from) +
              "], %v; add.u32 %u, %u, 32; setp.lt.u32 %more, %u, " +
              std::to_string(to_memory(role == Role::a   ? a
                                       : role == Role::b ? b
                                                         : c,
                                       type, layout)
                                 .size() /
                             4) +
              "; @%more bra $copy_" + name + "; }\nbar.sync 0;\nmov.u32 %s, " + std::to_string(from) + ";\n";
      at = "[%s]";
    }
    text += "wmma.load." + role_text + ".sync.aligned." + (layout.row_major ? "row." : "col.") + name_of(s) +
            x.space + "." + name_of(type) + " " + list(name, wmma_registers(role, type, s)) + ", " + at;
    return text + (x.with_stride ? ", " + std::to_string(layout.stride) : "") + ";\n";
  };
  const unsigned count_d = wmma_registers(Role::c, x.d, s);
  const std::string types = x.a == MatrixType::f16 ? std::string(name_of(x.d)) + "." + name_of(x.c)
                                                   : std::string(name_of(x.d)) + "." + name_of(x.a) + "." +
                                                         name_of(x.a) + "." + name_of(x.c);
  const std::string mma = std::string("wmma.mma") + (x.a == MatrixType::b1 ? ".xor.popc" : "") +
                          ".sync.aligned." + (x.a_row ? "row." : "col.") + (x.b_row ? "row." : "col.") +
                          name_of(s) + "." + types;
  std::string body = registers(wide) + (x.space == ".shared" ? ".shared .align 128 .b8 tile[24576];\n" : "") +
                     load("a", Role::a, x.a, la) + load("b", Role::b, x.a, lb) + load("c", Role::c, x.c, lc) +
                     mma + " " + list("d", count_d) + ", " + list("a", wmma_registers(Role::a, x.a, s)) +
                     ", " + list("b", wmma_registers(Role::b, x.a, s)) + ", " +
                     list("c", wmma_registers(Role::c, x.c, s)) + ";\n";
  const std::string store =
      std::string("wmma.store.d.sync.aligned.") + (x.d_row ? "row." : "col.") + name_of(s);
  const std::string stride = x.with_stride ? ", %stride;\n" : ";\n";
  body += "mov.u32 %stride, " + std::to_string(ld.stride) + ";\nld.param.u64 %at, [d];\n";
  if (x.space == ".shared") {  // to shared memory, and from there by the lanes
    // The padding between lines is copied too: give it a value.
    body +=
        "bar.sync 0; mov.u32 %s, %lane;\n{ .reg .b32 %u, %v; .reg .pred %more; mov.u32 %v, 0; $clear: "
        "shl.b32 %u, %s, 2; "
        "st.shared.b32 [%u], %v; add.u32 %s, %s, 32; setp.lt.u32 %more, %s, 2048; @%more bra $clear; }\n"
        "bar.sync 0; mov.u32 %s, 0;\n" +
        store + ".shared." + name_of(x.d) + " [%s], " + list("d", count_d) + stride +
        "bar.sync 0;\n{ .reg .b32 %u, %v; .reg .b64 %x; .reg .pred %more; mov.u32 %u, %lane; $copy_d: "
        "mul.wide.u32 "
        "%x, %u, 4; add.u64 %x, %x, %at; shl.b32 %s, %u, 2; ld.shared.b32 %v, [%s]; st.global.b32 [%x], %v; "
        "add.u32 %u, %u, 32; setp.lt.u32 %more, %u, " +
        std::to_string(to_memory(c, x.d, ld).size() / 4) + "; @%more bra $copy_d; }\nret;";
  } else {
    body += store + x.space + "." + name_of(x.d) + " [%at], " + list("d", count_d) + stride + "ret;";
  }
  SCOPED_TRACE(mma + " " + (x.c_row ? "row " : "col ") + (x.d_row ? "row" : "col") + x.space +
               (x.with_stride ? " stride" : ""));
  Kernel kernel(body);
  kernel.buffer("a", to_memory(a, x.a, la))
      .buffer("b", to_memory(b, x.a, lb))
      .buffer("c", to_memory(c, x.c, lc));
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

TEST(WmmaTest, DoublePrecision) {
  check_layouts({8, 8, 4}, MatrixType::f64, MatrixType::f64, MatrixType::f64);
}

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
      {"wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%at], {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, 64", 8,
       false, 4, 32},
      {"wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%at], {%r0,%r1}, 64", 2, true, 1, 16},
      // m8n32k16 is m32n8k16 transposed (ptxas: four STG.64 for .col, eight STG.32 for .row). Here each
      // STG.64 fills 8 columns' 32 bytes, each STG.32 8 neighbours of 4 rows.
      {"wmma.store.d.sync.aligned.col.m8n32k16.global.f32 [%at], {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, 64", 8,
       false, 4, 32},
      {"wmma.store.d.sync.aligned.row.m8n32k16.global.f32 [%at], {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, 64", 8,
       false, 8, 32},
  };
  for (const WmmaCount& x : cases) {
    SCOPED_TRACE(x.instruction);
    Kernel kernel(std::string(".reg .b64 %at; .reg ") + (x.wide ? ".b64" : ".b32") +
                  " %r<8>;\nld.param.u64 %at, [m];\n" + x.instruction + ";\nret;");
    kernel.buffer("m", std::vector<uint8_t>(64 * 64 * 8));
    const profile::KernelProfile p = kernel.run_clean();
    ASSERT_EQ(p.memory.size(), 1u);
    EXPECT_EQ(p.memory[0].requests, x.requests);
    EXPECT_EQ(p.memory[0].sectors, x.sectors);
  }
}

}  // namespace
}  // namespace fullwarp::exec::test
