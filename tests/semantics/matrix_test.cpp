// Matrix fragments and products: every layout holds each element exactly once, the formulas of the PTX manual
// are met, and loading, multiplying and storing equals the plain product of the matrices.
#include "exec/semantics/matrix.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "values.h"

namespace fullwarp::exec::sem::test {
namespace {

struct Case {
  Shape shape;
  MatrixType a, b, c;
  bool wmma;
};

std::vector<Case> cases() {
  using enum MatrixType;
  std::vector<Case> all;
  for (MatrixType type : {f16, bf16, tf32, f64, s8, u8, s4, u4, b1, e4m3, e5m2})
    for (uint16_t m : {8, 16, 32})
      for (uint16_t n : {8, 16, 32})
        for (uint16_t k : {4, 8, 16, 32, 64, 128, 256}) {
          const Shape shape{m, n, k};
          const bool is_float = type == f16 || type == bf16 || type == tf32 || type == e4m3 || type == e5m2;
          const MatrixType c = type == f64 ? f64 : (is_float ? f32 : s32);
          for (bool wmma : {false, true}) {
            if (!(wmma ? wmma_has(shape, type) : mma_has(shape, type))) continue;
            all.push_back({shape, type, type, c, wmma});
            if (type == f16 || type == e4m3) all.push_back({shape, type, type, f16, wmma});
          }
        }
  all.push_back({{16, 8, 32}, u8, s8, s32, false});
  all.push_back({{16, 8, 64}, s4, u4, s32, false});
  return all;
}

Mma make(const Case& c) {
  return c.wmma ? make_wmma(c.shape, c.a, c.b, c.c, c.c) : make_mma(c.shape, c.a, c.b, c.c, c.c);
}

void expect_each_element_once(const Fragment& f) {
  std::map<std::pair<unsigned, unsigned>, unsigned> times;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned reg = 0; reg < f.distinct_registers(); ++reg)
      for (unsigned i = 0; i < f.elements_per_register(); ++i) {
        const Position p = f.position(lane, reg, i);
        ASSERT_LT(p.row, f.rows);
        ASSERT_LT(p.column, f.columns);
        ++times[{p.row, p.column}];
      }
  ASSERT_EQ(times.size(), size_t{f.rows} * f.columns);
  for (const auto& [place, count] : times) ASSERT_EQ(count, 1u);
  for (unsigned reg = f.distinct_registers(); reg < f.registers; ++reg)
    ASSERT_EQ(f.position(5, reg, 0), f.position(5, reg % f.distinct_registers(), 0));
}

TEST(Fragments, EveryElementExactlyOnce) {
  // Counted in the manual: mma 33 (f16 and e4m3 with both accumulators), wmma 20, and two of mixed signs.
  EXPECT_EQ(cases().size(), 55u);
  for (const Case& c : cases()) {
    const Mma op = make(c);
    for (const Operand* operand : {&op.a, &op.b, &op.c}) expect_each_element_once(operand->fragment);
  }
}

// ---- the manual's formulas, as it writes them (g: groupID, t: threadID_in_group) ----

using Formula = Position (*)(unsigned g, unsigned t, unsigned i);

void expect_formula(Role role, MatrixType type, Shape shape, unsigned registers, Formula formula) {
  const Fragment f = mma_fragment(role, type, shape);
  ASSERT_EQ(f.registers, registers);
  const unsigned packed = f.elements_per_register();
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < registers * packed; ++i)
      ASSERT_EQ(f.position(lane, i / packed, i % packed), formula(lane >> 2, lane % 4, i))
          << "k" << shape.k << " lane " << lane << " element " << i;
}

Position at(unsigned row, unsigned column) {
  return {static_cast<uint16_t>(row), static_cast<uint16_t>(column)};
}

TEST(Fragments, ManualFormulasM16n8k16F16) {
  const Shape s{16, 8, 16};
  expect_formula(Role::a, MatrixType::f16, s, 4, [](unsigned g, unsigned t, unsigned i) {
    return at((i < 2 || (4 <= i && i < 6)) ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0));
  });
  expect_formula(Role::b, MatrixType::bf16, s, 2, [](unsigned g, unsigned t, unsigned i) {
    return at(t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g);
  });
  const Formula accumulators = [](unsigned g, unsigned t, unsigned i) {
    return at(i < 2 ? g : g + 8, t * 2 + (i & 1));
  };
  expect_formula(Role::c, MatrixType::f32, s, 4, accumulators);
  expect_formula(Role::c, MatrixType::f16, s, 2, accumulators);
}

TEST(Fragments, ManualFormulasM16n8k8) {
  const Shape s{16, 8, 8};
  expect_formula(Role::a, MatrixType::f16, s, 2,
                 [](unsigned g, unsigned t, unsigned i) { return at(i < 2 ? g : g + 8, t * 2 + (i & 1)); });
  expect_formula(Role::b, MatrixType::f16, s, 1,
                 [](unsigned g, unsigned t, unsigned i) { return at(t * 2 + i, g); });
  expect_formula(Role::a, MatrixType::tf32, s, 4, [](unsigned g, unsigned t, unsigned i) {
    return at(i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4);
  });
  expect_formula(Role::b, MatrixType::tf32, s, 2,
                 [](unsigned g, unsigned t, unsigned i) { return at(i == 0 ? t : t + 4, g); });
}

TEST(Fragments, ManualFormulasF64) {
  expect_formula(Role::a, MatrixType::f64, {8, 8, 4}, 1,
                 [](unsigned g, unsigned t, unsigned) { return at(g, t); });
  expect_formula(Role::c, MatrixType::f64, {8, 8, 4}, 2,
                 [](unsigned g, unsigned t, unsigned i) { return at(g, t * 2 + i); });
  expect_formula(Role::a, MatrixType::f64, {16, 8, 4}, 2,
                 [](unsigned g, unsigned t, unsigned i) { return at(i ? g + 8 : g, t); });
  expect_formula(Role::a, MatrixType::f64, {16, 8, 16}, 8, [](unsigned g, unsigned t, unsigned i) {
    return i % 2 == 0 ? at(g, i * 2 + t) : at(g + 8, i * 2 - 2 + t);
  });
  expect_formula(Role::b, MatrixType::f64, {16, 8, 16}, 4,
                 [](unsigned g, unsigned t, unsigned i) { return at(t + i * 4, g); });
}

TEST(Fragments, ManualFormulasIntegers) {
  expect_formula(Role::a, MatrixType::s8, {8, 8, 16}, 1,
                 [](unsigned g, unsigned t, unsigned i) { return at(g, t * 4 + i); });
  expect_formula(Role::a, MatrixType::u8, {16, 8, 16}, 2,
                 [](unsigned g, unsigned t, unsigned i) { return at(i < 4 ? g : g + 8, t * 4 + (i & 3)); });
  expect_formula(Role::a, MatrixType::s8, {16, 8, 32}, 4, [](unsigned g, unsigned t, unsigned i) {
    return at(i < 4 || (8 <= i && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0));
  });
  expect_formula(Role::b, MatrixType::e4m3, {16, 8, 32}, 2, [](unsigned g, unsigned t, unsigned i) {
    return at(t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g);
  });
  expect_formula(Role::a, MatrixType::s4, {16, 8, 64}, 4, [](unsigned g, unsigned t, unsigned i) {
    return at(i < 8 || (16 <= i && i < 24) ? g : g + 8, t * 8 + (i & 7) + (i >= 16 ? 32 : 0));
  });
  expect_formula(Role::b, MatrixType::u4, {8, 8, 32}, 1,
                 [](unsigned g, unsigned t, unsigned i) { return at(t * 8 + i, g); });
  expect_formula(Role::a, MatrixType::b1, {16, 8, 256}, 4, [](unsigned g, unsigned t, unsigned i) {
    return at(i < 32 || (64 <= i && i < 96) ? g : g + 8, t * 32 + (i & 31) + (i >= 64 ? 128 : 0));
  });
  expect_formula(Role::b, MatrixType::b1, {16, 8, 128}, 1,
                 [](unsigned g, unsigned t, unsigned i) { return at(t * 32 + i, g); });
}

TEST(Fragments, WmmaRegisterCountsOfTheManual) {
  const auto counts = [](Shape shape, MatrixType type, MatrixType c) {
    const Mma op = make_wmma(shape, type, type, c, c);
    return std::array<int, 3>{op.a.fragment.registers, op.b.fragment.registers, op.c.fragment.registers};
  };
  using A = std::array<int, 3>;
  using enum MatrixType;
  for (Shape s : {Shape{16, 16, 16}, Shape{8, 32, 16}, Shape{32, 8, 16}}) {
    EXPECT_EQ(counts(s, f16, f32), (A{8, 8, 8}));
    EXPECT_EQ(counts(s, f16, f16), (A{8, 8, 4}));
  }
  EXPECT_EQ(counts({16, 16, 16}, bf16, f32), (A{4, 4, 8}));
  EXPECT_EQ(counts({8, 32, 16}, bf16, f32), (A{2, 8, 8}));
  EXPECT_EQ(counts({32, 8, 16}, bf16, f32), (A{8, 2, 8}));
  EXPECT_EQ(counts({16, 16, 8}, tf32, f32), (A{4, 4, 8}));
  EXPECT_EQ(counts({16, 16, 16}, s8, s32), (A{2, 2, 8}));
  EXPECT_EQ(counts({8, 32, 16}, u8, s32), (A{1, 4, 8}));
  EXPECT_EQ(counts({32, 8, 16}, u8, s32), (A{4, 1, 8}));
  EXPECT_EQ(counts({8, 8, 32}, s4, s32), (A{1, 1, 2}));
  EXPECT_EQ(counts({8, 8, 128}, b1, s32), (A{1, 1, 2}));
}

// ---- products: small integers, so that every type computes exactly ----

int small_value(MatrixType type, uint64_t random) {
  switch (type) {
    case MatrixType::b1: return static_cast<int>(random % 2);
    case MatrixType::u4: return static_cast<int>(random % 16);
    case MatrixType::s4: return static_cast<int>(random % 16) - 8;
    case MatrixType::u8: return static_cast<int>(random % 256);
    case MatrixType::s8: return static_cast<int>(random % 256) - 128;
    default: return static_cast<int>(random % 9) - 4;
  }
}

uint64_t encode(MatrixType type, int value) {
  switch (type) {
    case MatrixType::f16: return f16_from_f32(static_cast<float>(value));
    case MatrixType::bf16: return bf16_from_f32(static_cast<float>(value));
    case MatrixType::tf32:
    case MatrixType::f32: return bits(static_cast<float>(value));
    case MatrixType::f64: return bits(static_cast<double>(value));
    case MatrixType::e4m3: return fp8_from_f32<E4m3Format>(static_cast<float>(value));
    case MatrixType::e5m2: return fp8_from_f32<E5m2Format>(static_cast<float>(value));
    default:
      return static_cast<uint64_t>(value) &
             (element_bits(type) == 32 ? 0xffffffffu : (1u << element_bits(type)) - 1);
  }
}

// The registers of a warp.
template <class Row>
struct Registers {
  std::vector<std::array<Row, 32>> rows;
  std::vector<Row*> pointers;
  explicit Registers(unsigned count) : rows(count) {
    for (auto& row : rows) pointers.push_back(row.data());
  }
  Row* const* mutable_rows() { return pointers.data(); }
  const Row* const* get() const { return pointers.data(); }
};

template <class Row>
Registers<Row> load(const Fragment& f, const std::vector<int>& matrix) {
  Registers<Row> registers(f.registers);
  for (unsigned reg = 0; reg < f.registers; ++reg)
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < f.elements_per_register(); ++i) {
        const Position p = f.position(lane, reg, i);
        const auto element = static_cast<Row>(encode(f.type, matrix[element_offset(p, true, f.columns)]));
        registers.rows[reg][lane] |= static_cast<Row>(element << (i * element_bits(f.type)));
      }
  return registers;
}

template <class Row>
void check_product(const Case& c, BitOp bit_op, Random& random) {
  Mma op = make(c);
  op.bit_op = bit_op;
  const Shape s = c.shape;
  std::vector<int> a(s.m * s.k), b(s.k * s.n), addend(s.m * s.n), wanted(s.m * s.n);
  for (int& x : a) x = small_value(c.a, random.next());
  for (int& x : b) x = small_value(c.b, random.next());
  for (int& x : addend) x = static_cast<int>(random.next() % 17) - 8;
  for (unsigned m = 0; m < s.m; ++m)
    for (unsigned n = 0; n < s.n; ++n) {
      int sum = addend[m * s.n + n];
      for (unsigned k = 0; k < s.k; ++k) {
        const int x = a[m * s.k + k], y = b[k * s.n + n];
        sum += c.a != MatrixType::b1 ? x * y : (bit_op == BitOp::xor_ ? x != y : x && y);
      }
      wanted[m * s.n + n] = sum;
    }
  const Registers<Row> ra = load<Row>(op.a.fragment, a), rb = load<Row>(op.b.fragment, b);
  Registers<Row> rc = load<Row>(op.c.fragment, addend);
  if constexpr (sizeof(Row) == 8)
    mma_f64(op, ra.get(), rb.get(), rc.get(), rc.mutable_rows());
  else
    mma(op, ra.get(), rb.get(), rc.get(), rc.mutable_rows());
  ASSERT_EQ(rc.rows, load<Row>(op.d.fragment, wanted).rows)
      << "m" << s.m << "n" << s.n << "k" << s.k << " type " << static_cast<int>(c.a) << " wmma " << c.wmma;
}

TEST(Mma, EqualsThePlainProduct) {
  Random random(19);
  for (const Case& c : cases()) {
    if (c.a == MatrixType::f64)
      check_product<uint64_t>(c, BitOp::xor_, random);
    else
      check_product<uint32_t>(c, BitOp::xor_, random);
    if (c.a == MatrixType::b1) check_product<uint32_t>(c, BitOp::and_, random);
  }
}

TEST(Mma, IntegerOverflowWrapsOrClamps) {
  for (bool satfinite : {false, true}) {
    Mma op = make_mma({16, 8, 32}, MatrixType::u8, MatrixType::s8, MatrixType::s32, MatrixType::s32);
    op.satfinite = satfinite;
    Registers<uint32_t> a(4), b(2), c(4);
    for (auto& row : a.rows) row.fill(0xffffffffu);  // 255
    for (auto& row : b.rows) row.fill(0x7f7f7f7fu);  // 127
    for (auto& row : c.rows) row.fill(0x7fffff00u);
    mma(op, a.get(), b.get(), c.get(), c.mutable_rows());
    EXPECT_EQ(c.rows[3][31], satfinite ? 0x7fffffffu : 0x7fffff00u + 32 * 255 * 127);
  }
}

TEST(Mma, F64RoundsEachStepInItsMode) {
  // 1 + 2^-60 four times: to nearest 1, upward one unit a step.
  Registers<uint64_t> a(1), b(1), c(2);
  a.rows[0].fill(bits(0x1p-30));
  b.rows[0].fill(bits(0x1p-30));
  for (auto [rounding, wanted] : {std::pair{Rounding::rn, 1.0}, std::pair{Rounding::rp, 1.0 + 4 * 0x1p-52}}) {
    for (auto& row : c.rows) row.fill(bits(1.0));
    Mma op = make_mma({8, 8, 4}, MatrixType::f64, MatrixType::f64, MatrixType::f64, MatrixType::f64);
    op.rounding = rounding;
    mma_f64(op, a.get(), b.get(), c.get(), c.mutable_rows());
    EXPECT_EQ(as_f64(c.rows[1][17]), wanted);
  }
}

TEST(Mma, FloatSumsAreRoundedOnceAndNanIsCanonical) {
  const Mma op = make_mma({16, 8, 8}, MatrixType::f16, MatrixType::f16, MatrixType::f32, MatrixType::f32);
  Registers<uint32_t> a(2), b(1), c(4);
  for (auto& row : a.rows) row.fill(0x3c003c00u);  // 1
  b.rows[0].fill(0x04000400u);                     // 2^-14: eight times 2^-11
  for (auto& row : c.rows) row.fill(bits(0x1p14f));
  mma(op, a.get(), b.get(), c.get(), c.mutable_rows());
  EXPECT_EQ(as_f32(c.rows[0][0]), 0x1p14f) << "2^14 + 2^-11: a quarter of a unit";
  for (auto& row : a.rows) row.fill(0x7c007c00u);  // infinity
  b.rows[0].fill(0);
  mma(op, a.get(), b.get(), c.get(), c.mutable_rows());
  EXPECT_EQ(c.rows[2][9], kNanF32);
}

TEST(Mma, Tf32IgnoresTheLowThirteenBits) {
  const Mma op = make_mma({16, 8, 4}, MatrixType::tf32, MatrixType::tf32, MatrixType::f32, MatrixType::f32);
  Registers<uint32_t> a(2), b(1), c(4);
  for (auto& row : a.rows) row.fill(bits(1.0f) | 0x1fff);
  b.rows[0].fill(bits(2.0f));
  mma(op, a.get(), b.get(), c.get(), c.mutable_rows());
  EXPECT_EQ(as_f32(c.rows[0][0]), 8.0f);
}

// ---- m8n8k4 of f16 ----

void check_volta(const VoltaMma& op) {
  // Element i of a lane, by the manual's formulas.
  Random random(20);
  int a[4][8][4], b[4][4][8], c[4][8][8];
  Registers<uint32_t> ra(2), rb(2), rc(op.c_f32 ? 8 : 4), rd(op.d_f32 ? 8 : 4);
  for (auto& p : a)
    for (auto& r : p)
      for (int& x : r) x = static_cast<int>(random.next() % 9) - 4;
  for (auto& p : b)
    for (auto& r : p)
      for (int& x : r) x = static_cast<int>(random.next() % 9) - 4;
  for (auto& p : c)
    for (auto& r : p)
      for (int& x : r) x = static_cast<int>(random.next() % 9) - 4;
  const auto put_half = [](Registers<uint32_t>& r, unsigned lane, unsigned i, int value) {
    r.rows[i / 2][lane] |= static_cast<uint32_t>(encode(MatrixType::f16, value)) << (16 * (i % 2));
  };
  const auto c_row = [](unsigned lane, unsigned i, bool f32) {
    return (f32 ? (lane & 1) + (i & 2) : lane % 4) + (lane < 16 ? 0 : 4);
  };
  const auto c_column = [](unsigned lane, unsigned i, bool f32) {
    return f32 ? (i & 4) + (lane & 2) + (i & 1) : i;
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned p = lane / 4 % 4, high = lane < 16 ? 0 : 4;
    for (unsigned i = 0; i < 4; ++i) {
      put_half(ra, lane, i, op.a_row ? a[p][lane % 4 + high][i] : a[p][i + high][lane % 4]);
      put_half(rb, lane, i, op.b_row ? b[p][lane % 4][i + high] : b[p][i][lane % 4 + high]);
    }
    for (unsigned i = 0; i < 8; ++i) {
      const int value = c[p][c_row(lane, i, op.c_f32)][c_column(lane, i, op.c_f32)];
      if (op.c_f32)
        rc.rows[i][lane] = bits(static_cast<float>(value));
      else
        put_half(rc, lane, i, value);
    }
  }
  mma_m8n8k4_f16(op, ra.get(), rb.get(), rc.get(), rd.mutable_rows());
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned p = lane / 4 % 4, row = c_row(lane, i, op.d_f32), column = c_column(lane, i, op.d_f32);
      int sum = c[p][row][column];
      for (unsigned k = 0; k < 4; ++k) sum += a[p][row][k] * b[p][k][column];
      const uint32_t got = op.d_f32 ? rd.rows[i][lane] : rd.rows[i / 2][lane] >> (16 * (i % 2)) & 0xffff;
      ASSERT_EQ(got, encode(op.d_f32 ? MatrixType::f32 : MatrixType::f16, sum)) << lane << " " << i;
    }
}

TEST(Mma, M8n8k4F16IsFourProducts) {
  for (bool a_row : {false, true})
    for (bool b_row : {false, true}) {
      check_volta({a_row, b_row, true, true});
      check_volta({a_row, b_row, false, true});
      check_volta({a_row, b_row, false, false});
    }
}

// ---- ldmatrix, stmatrix, movmatrix ----

Matrix8x8 numbered() {
  Matrix8x8 matrix;
  for (unsigned r = 0; r < 8; ++r)
    for (unsigned c = 0; c < 8; ++c) matrix[r][c] = static_cast<uint16_t>(r * 16 + c);
  return matrix;
}

TEST(LdMatrix, LanesHoldTwoNeighboursOfARowOrColumn) {
  uint32_t lanes[32];
  ldmatrix(numbered(), false, lanes);
  EXPECT_EQ(lanes[0], 0x00010000u);
  EXPECT_EQ(lanes[6], 0x00150014u);  // row 1, columns 4 and 5
  EXPECT_EQ(lanes[31], 0x00770076u);
  ldmatrix(numbered(), true, lanes);
  EXPECT_EQ(lanes[0], 0x00100000u);  // rows 0 and 1 of column 0
  EXPECT_EQ(lanes[6], 0x00510041u);  // rows 4 and 5 of column 1
  EXPECT_EQ(address_lane(3, 2), 26u);
}

TEST(LdMatrix, IsTheFragmentOfMma) {
  uint32_t lanes[32];
  ldmatrix(numbered(), false, lanes);
  const Fragment a = mma_fragment(Role::a, MatrixType::f16, {16, 8, 8});
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 2; ++i) {
      const Position p = a.position(lane, 0, i);
      EXPECT_EQ(lanes[lane] >> (16 * i) & 0xffff, numbered()[p.row][p.column]);
    }
  ldmatrix(numbered(), true, lanes);  // a row-major K x N tile
  const Fragment b = mma_fragment(Role::b, MatrixType::f16, {16, 8, 8});
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 2; ++i) {
      const Position p = b.position(lane, 0, i);
      EXPECT_EQ(lanes[lane] >> (16 * i) & 0xffff, numbered()[p.row][p.column]);
    }
}

TEST(StMatrix, UndoesLdMatrix) {
  for (bool transposed : {false, true}) {
    uint32_t lanes[32];
    ldmatrix(numbered(), transposed, lanes);
    Matrix8x8 back{};
    stmatrix(lanes, transposed, back);
    EXPECT_EQ(back, numbered());
  }
}

TEST(MovMatrix, TransposesInPlace) {
  uint32_t lanes[32], transposed[32];
  ldmatrix(numbered(), false, lanes);
  ldmatrix(numbered(), true, transposed);
  movmatrix(lanes, lanes);
  for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(lanes[lane], transposed[lane]);
}

}  // namespace
}  // namespace fullwarp::exec::sem::test
