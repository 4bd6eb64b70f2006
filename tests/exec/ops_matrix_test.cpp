// mma.sync, ldmatrix, stmatrix and movmatrix through the interpreter. Products: every shape and type against
// a plain triple loop. Wavefronts: hand calculations.
#include "matrix_values.h"

namespace fullwarp::exec::test {
namespace {

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

Matrix run_mma(const std::string& instruction, Shape shape, MatrixType ta, MatrixType tb, MatrixType tc,
               MatrixType td, const Matrix& a, const Matrix& b, const Matrix& c) {
  const sem::Fragment fa = sem::mma_fragment(Role::a, ta, shape), fb = sem::mma_fragment(Role::b, tb, shape),
                      fc = sem::mma_fragment(Role::c, tc, shape), fd = sem::mma_fragment(Role::c, td, shape);
  const bool wide = tc == MatrixType::f64;
  SCOPED_TRACE(instruction);
  Kernel kernel(registers(wide) + load_registers("a", fa.registers, wide) +
                load_registers("b", fb.registers, wide) + load_registers("c", fc.registers, wide) +
                instruction + " " + list("d", fd.registers) + ", " + list("a", fa.registers) + ", " +
                list("b", fb.registers) + ", " + list("c", fc.registers) + ";\n" +
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
    return "mma.sync.aligned." + name_of(shape) + ".row.col." + name_of(d) + "." + name_of(a) + "." +
           name_of(b) + "." + name_of(c);
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
    const Matrix a = some_matrix(s.m, s.k, b1, 1), b = some_matrix(s.k, s.n, b1, 2),
                 c = some_matrix(s.m, s.n, s32, 3);
    const std::string text = "mma.sync.aligned." + name_of(s) + ".row.col.s32.b1.b1.s32.";
    EXPECT_EQ(run_mma(text + "xor.popc", s, b1, b1, s32, s32, a, b, c),
              product(a, b, c, std::not_equal_to<double>()));
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

// m8n8k4 of f16 is four products; lanes 4p..4p+3 and 16+4p..16+4p+3 hold product p. With A the identity in
// its first four columns and B as it lies in the registers, D = C + the rows of B.
TEST(MmaTest, FourProductsOfEight) {
  const std::string in =
      "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, "
      "{%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};\n";
  Kernel kernel(registers(false) + load_registers("a", 2, false) + load_registers("b", 2, false) +
                load_registers("c", 8, false) + in + store_registers("d", 8, false) + "ret;");
  // A .row: lane holds row l % 4 (+ 4 for the high group), columns 0..3. B .col: column l % 4 (+ 4), rows
  // 0..3.
  std::vector<uint64_t> a(64), b(64), c(256);
  const auto element_a = [](unsigned p, unsigned m, unsigned k) {
    return double((p + 3 * m + 5 * k) % 7) - 3;
  };
  const auto element_b = [](unsigned p, unsigned k, unsigned n) {
    return double((2 * p + k + 4 * n) % 9) - 4;
  };
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

// ---- ldmatrix, stmatrix, movmatrix ----

// 16 KiB of shared memory, halfword i holding i; lane l's address is l * pitch.
std::string with_tile(unsigned pitch, const std::string& code) {
  return ".reg .b64 %at, %i; .reg .b32 %lane, %s, %u, %v; .reg .b32 %r<8>; .reg .pred %more;\n"
         ".shared .align 128 .b8 tile[16384];\n"
         "mov.u32 %lane, %laneid; mul.wide.u32 %i, %lane, 8; mov.u32 %u, %lane;\n"
         "$fill: shl.b32 %s, %u, 2; shl.b32 %v, %u, 17; or.b32 %v, %v, 0x10000; add.u32 %v, %v, %u; add.u32 "
         "%v, %v, %u;\n"
         "st.shared.b32 [%s], %v; add.u32 %u, %u, 32; setp.lt.u32 %more, %u, 4096; @%more bra $fill;\n"
         "bar.sync 0;\nmul.lo.u32 %s, %lane, " +
         std::to_string(pitch) + ";\n" + code;
}

const profile::MemoryCounters* counters_of(const profile::KernelProfile& p, mem::AccessKind kind) {
  for (const profile::MemoryCounters& m : p.memory)
    if (m.kind == kind) return &m;
  return nullptr;
}

TEST(LdmatrixTest, LanesGetTheirPiecesOfEveryMatrix) {
  for (unsigned count : {1u, 2u, 4u})
    for (bool trans : {false, true}) {
      const std::string text = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                               (trans ? ".trans" : "") + ".shared.b16 " + list("r", count) + ", [%s+64];\n";
      SCOPED_TRACE(text);
      Kernel kernel(with_tile(48, text + store_registers("r", count, false) + "ret;"));
      kernel.buffer("r", std::vector<uint64_t>(count * 32));
      kernel.run_clean();
      const std::vector<uint64_t> r = kernel.values<uint64_t>("r");
      ASSERT_EQ(r.size(), count * 32);
      for (unsigned i = 0; i < count; ++i)
        for (unsigned lane = 0; lane < 32; ++lane) {
          // Element (row, column) of matrix i is halfword (64 + (8 i + row) * 48) / 2 + column.
          const auto element = [&](unsigned row, unsigned column) {
            return (64 + (8 * i + row) * 48) / 2 + column;
          };
          const unsigned line = lane / 4, first = lane % 4 * 2;
          const uint64_t low = trans ? element(first, line) : element(line, first);
          const uint64_t high = trans ? element(first + 1, line) : element(line, first + 1);
          EXPECT_EQ(r[i * 32 + lane], high << 16 | low) << i << ' ' << lane;
        }
    }
}

TEST(LdmatrixTest, WavefrontsAreThoseOfEightRowsAtATime) {
  struct Case {
    unsigned count, pitch;
    uint64_t wavefronts;
  };
  const Case cases[] = {
      {1, 16, 1},  {2, 16, 2},   {4, 16, 4},  // 8 rows of 16 bytes side by side: all 32 banks once
      {1, 128, 8}, {4, 128, 32},              // rows 128 bytes apart: the same four banks eight times
      {4, 80, 4},  {4, 32, 8},   {2, 64, 8},  // 20 words apart: 8 x 4 banks differ; 2-way; 4-way
  };
  for (const Case& x : cases) {
    SCOPED_TRACE(std::to_string(x.count) + " matrices, pitch " + std::to_string(x.pitch));
    Kernel kernel(with_tile(x.pitch, "ldmatrix.sync.aligned.m8n8.x" + std::to_string(x.count) +
                                         ".shared.b16 " + list("r", x.count) + ", [%s];\nret;"));
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
  Kernel kernel(with_tile(16,
                          ".reg .pred %far; setp.ge.u32 %far, %lane, 8; @%far mov.u32 %s, 0x7fffff01;\n"
                          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%s];\nret;"));
  kernel.run_clean();
  Kernel faulty(
      with_tile(16, "add.u32 %s, %s, 8;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%s];\nret;"));
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
      for (unsigned r = 0; r < count; ++r)
        code += "add.u32 %r" + std::to_string(r) + ", %lane, " + std::to_string(100000 * r) + ";\n";
      code += "stmatrix.sync.aligned.m8n8" + x + t + ".shared.b16 [%s], " + list("r", count) +
              ";\nbar.sync 0;\n" + "ldmatrix.sync.aligned.m8n8" + x + t + ".shared.b16 " + list("r", count) +
              ", [%s];\n";
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
  Kernel kernel(with_tile(16,
                          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%s];\n"
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
  Kernel kernel(
      with_tile(16,
                ".reg .pred %odd; and.b32 %u, %lane, 1; setp.ne.u32 %odd, %u, 0; @%odd bra $apart;\n"
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
  struct Case {
    const char* instruction;
    const char* message;
  };
  const Case cases[] = {
      {"mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, "
       "{%r0,%r1,%r2,%r3};",
       "the layouts must be .row and .col"},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1}, {%r4}, "
       "{%r0,%r1,%r2,%r3};",
       "there are no products of .f16 and .bf16 into .f32 in this shape"},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1}, {%r4,%r5}, "
       "{%r0,%r1,%r2,%r3};",
       "takes 4 registers where it has 2"},
      {"wmma.load.a.sync.aligned.row.m16n16k8.global.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%at];",
       "there is no such matrix of this shape and type"},
      {"wmma.load.a.sync.aligned.col.m8n8k32.global.s4 {%r0}, [%at];",
       "matrices of this type are .row as A and .col as B"},
  };
  for (const Case& x : cases) {
    Kernel kernel(std::string(".reg .b64 %at; .reg .b32 %r<8>;\n") + x.instruction + "\nret;");
    kernel.run();
    EXPECT_NE(kernel.error.find(x.message), std::string::npos) << x.instruction << '\n' << kernel.error;
  }
}

}  // namespace
}  // namespace fullwarp::exec::test
