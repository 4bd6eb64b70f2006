// Staged products in host memory against three loops: every transposition, pitch, batch, piece size, with C
// and bias.
#include "execute.h"

#include <gtest/gtest.h>

#include <random>

#include "copy_order.h"
#include "fake_device.h"

namespace fullwarp::gemm {
namespace {

struct Caller {
  const Problem* problem;
  float alpha, beta;
  int calls = 0;
};

// The piece's product in plain loops; all its extents, padding included, as a library would run it.
int multiply(void* caller, const Piece& piece) {
  Caller& c = *static_cast<Caller*>(caller);
  ++c.calls;
  const Problem& p = *c.problem;
  for (int64_t q = 0; q < piece.batch; ++q) {
    const auto at = [q](const Piece::Part& part, int64_t row, int64_t column) {
      return reinterpret_cast<float*>(part.data) + q * part.stride + column * part.ld + row;
    };
    for (int64_t j = 0; j < piece.n; ++j) {
      for (int64_t i = 0; i < piece.m; ++i) {
        float sum = 0;
        for (int64_t l = 0; l < piece.k; ++l) {
          sum += *at(piece.a, p.transpose_a ? l : i, p.transpose_a ? i : l) *
                 *at(piece.b, p.transpose_b ? j : l, p.transpose_b ? l : j);
        }
        float value = c.alpha * sum;
        if (c.beta != 0) value += c.beta * *at(piece.c, i, j);
        if (piece.bias != 0) value += reinterpret_cast<const float*>(piece.bias)[i];
        *at(piece.d, i, j) = value;
      }
    }
  }
  return 0;
}

struct Case {
  bool ta, tb;
  int64_t m, n, k, slack, batch;
  float beta;
  bool bias, shared_a;
  size_t room;
};

void run(const Case& x) {
  SCOPED_TRACE(testing::Message() << x.ta << x.tb << ' ' << x.m << ' ' << x.n << ' ' << x.k << " slack "
                                  << x.slack << " batch " << x.batch << " beta " << x.beta << " room "
                                  << x.room);
  std::mt19937 random(7);
  // Small whole numbers: sums are exact in any order.
  const auto fill = [&random](std::vector<float>& v) {
    for (float& f : v) f = static_cast<float>(static_cast<int>(random() % 7) - 3);
  };
  Problem p;
  p.type = Type::kTf32;
  p.transpose_a = x.ta, p.transpose_b = x.tb;
  p.m = x.m, p.n = x.n, p.k = x.k, p.batch = x.batch;
  std::vector<float> storage[4];
  const auto matrix = [&](int which, int64_t rows, int64_t cols, bool shared) {
    Matrix m;
    m.rows = rows, m.cols = cols, m.ld = rows + x.slack, m.bytes = 4;
    m.stride = shared ? 0 : m.ld * cols + 3;
    storage[which].resize(static_cast<size_t>(m.ld * cols + 3) * static_cast<size_t>(x.batch) + 1);
    fill(storage[which]);
    m.data = reinterpret_cast<uintptr_t>(storage[which].data() + 1);
    return m;
  };
  p.a = x.ta ? matrix(0, x.k, x.m, x.shared_a) : matrix(0, x.m, x.k, x.shared_a);
  p.b = x.tb ? matrix(1, x.n, x.k, false) : matrix(1, x.k, x.n, false);
  p.d = matrix(2, x.m, x.n, false);
  p.c = p.d;
  p.reads_c = x.beta != 0;
  std::vector<float> bias(static_cast<size_t>(x.m));
  fill(bias);
  p.bias = x.bias ? reinterpret_cast<uintptr_t>(bias.data()) : 0;
  p.bias_bytes = 4;

  std::vector<float> want = storage[2];
  {
    const auto part = [](const Matrix& m) { return Piece::Part{m.data, m.ld, m.stride}; };
    Piece whole{part(p.a), part(p.b), part(p.d), part(p.d), p.bias, p.m, p.n, p.k, p.batch, 0, 0, false};
    whole.c = whole.d = {reinterpret_cast<uintptr_t>(want.data() + 1), p.d.ld, p.d.stride};
    Caller reference{&p, 2, x.beta};
    multiply(&reference, whole);
  }
  FakeDevice device;
  const Plan plan = make_plan(p, Costs{}, x.room, Mode::kStaged);
  ASSERT_EQ(plan.choice, Choice::kStaged);
  void* const workspace = device.allocate(plan.bytes);
  Caller caller{&p, 2, x.beta};
  ASSERT_EQ(execute(p, plan, reinterpret_cast<uintptr_t>(workspace), device, nullptr, multiply, &caller), 0);
  EXPECT_EQ(storage[2], want);  // the gaps between columns and products too
  if (x.room < (size_t{1} << 22)) {
    EXPECT_GT(caller.calls, 1);
  }
  device.release(workspace);
}

TEST(Execute, EveryTranspositionPitchAndBatch) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      for (const int64_t slack : {0, 1, 3}) {
        for (const int64_t batch : {1, 3}) {
          run({ta, tb, 17, 23, 9, slack, batch, 0, false, false, size_t{1} << 24});
          run({ta, tb, 16, 31, 13, slack, batch, 0.5f, true, batch > 1, size_t{1} << 24});
        }
      }
    }
  }
}

TEST(Execute, PiecesOfColumns) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      run({ta, tb, 21, 1301, 5, 0, 1, 0, true, false, 120 << 10});
      run({ta, tb, 21, 1303, 5, 1, 2, -1, false, false, 150 << 10});
    }
  }
}

TEST(Execute, PiecesOfProducts) {
  run({false, false, 33, 35, 37, 0, 9, 0, false, false, 64 << 10});
  run({false, false, 33, 35, 37, 0, 9, 1, true, true, 64 << 10});
}

TEST(Execute, PointerArrays) {
  constexpr int64_t kSize = 7, kBatch = 3;
  std::vector<float> a(kSize * kSize * kBatch), b(a.size()), d(a.size(), 0), want(a.size(), 0);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 5), b[i] = static_cast<float>(i % 3);
  std::vector<float*> pa, pb, pd;
  for (int64_t q = kBatch - 1; q >= 0; --q) {  // in another order than in memory
    pa.push_back(&a[static_cast<size_t>(q * kSize * kSize)]);
    pb.push_back(&b[static_cast<size_t>(q * kSize * kSize)]);
    pd.push_back(&d[static_cast<size_t>(q * kSize * kSize)]);
  }
  for (int64_t q = 0; q < kBatch; ++q) {
    for (int64_t i = 0; i < kSize; ++i) {
      for (int64_t j = 0; j < kSize; ++j) {
        for (int64_t l = 0; l < kSize; ++l) {
          const auto at = [q](int64_t r, int64_t c) {
            return static_cast<size_t>((q * kSize + c) * kSize + r);
          };
          want[at(i, j)] += a[at(i, l)] * b[at(l, j)];
        }
      }
    }
  }
  Problem p;
  p.type = Type::kTf32;
  p.m = p.n = p.k = kSize;
  p.batch = kBatch;
  const auto matrix = [](std::vector<float*>& pointers) {
    Matrix x;
    x.data = reinterpret_cast<uintptr_t>(pointers.data());
    x.rows = x.cols = x.ld = kSize;
    x.bytes = 4;
    x.by_pointers = true;
    return x;
  };
  p.a = matrix(pa), p.b = matrix(pb), p.d = p.c = matrix(pd);
  FakeDevice device;
  const Plan plan = make_plan(p, Costs{}, size_t{1} << 20, Mode::kStaged);
  ASSERT_EQ(plan.choice, Choice::kStaged);
  void* const workspace = device.allocate(plan.bytes);
  Caller caller{&p, 1, 0};
  ASSERT_EQ(execute(p, plan, reinterpret_cast<uintptr_t>(workspace), device, nullptr, multiply, &caller), 0);
  EXPECT_EQ(d, want);
  device.release(workspace);
}

TEST(Execute, FusedGetsCuBlassColumnsAsRows) {
  Problem p;
  p.type = Type::kBf16;
  p.transpose_a = true;
  p.m = 101, p.n = 64, p.k = 33;
  p.scalars_known = true;
  p.alpha = 3;
  p.a = {0x10000, 33, 101, 33, 0, 2, false};
  p.b = {0x20000, 33, 64, 40, 0, 2, false};
  p.d = p.c = {0x30000, 101, 64, 101, 0, 2, false};
  FakeDevice device;
  device.fuses = true;
  Plan plan = make_plan(p, Costs{}, size_t{1} << 20, Mode::kFused, true);
  ASSERT_EQ(plan.choice, Choice::kFused);
  plan.a.used = false;  // its addresses are not memory of this test
  ASSERT_EQ(execute(p, plan, 0x100000, device, nullptr, multiply, nullptr), 0);
  ASSERT_EQ(device.fused_jobs.size(), 1u);
  const FusedJob& job = device.fused_jobs[0];
  EXPECT_EQ(job.m, 64);
  EXPECT_EQ(job.n, 101);
  EXPECT_EQ(job.k, 33);
  EXPECT_EQ(job.x.data, 0x20000u);
  EXPECT_TRUE(job.x.along_k);
  EXPECT_EQ(job.y.data, 0x10000u);
  EXPECT_TRUE(job.y.along_k);
  EXPECT_EQ(job.ldd, 101);
  EXPECT_EQ(job.alpha, 3);
  EXPECT_EQ(job.x.copy_from, 0u);
}

TEST(Execute, AProductThatCopiesItsOperandsIsOneLaunch) {
  Problem p;
  p.type = Type::kF16;
  p.m = 400, p.n = 300, p.k = 333;
  p.scalars_known = true;
  p.a = {0x10000, 400, 333, 401, 0, 2, false};  // m along the columns
  p.b = {0x20000, 333, 300, 333, 0, 2, false};
  p.d = p.c = {0x30000, 400, 300, 400, 0, 2, false};
  FakeDevice device;  // a copy would read these addresses
  device.fuses = true;
  const Plan plan = make_plan(p, Costs{}, size_t{1} << 24, Mode::kAhead, true);
  ASSERT_TRUE(plan.copy_ahead);
  ASSERT_EQ(execute(p, plan, 0x1000000, device, nullptr, multiply, nullptr), 0);
  ASSERT_EQ(device.fused_jobs.size(), 1u);
  const FusedJob& job = device.fused_jobs[0];
  EXPECT_EQ(job.x.copy_from, 0x20000u);
  EXPECT_EQ(job.x.copy_ld, 333);
  EXPECT_EQ(job.x.data, 0x1000000u + plan.b.offset);
  EXPECT_EQ(job.x.ld, 384);
  EXPECT_EQ(job.y.copy_from, 0x10000u);
  EXPECT_EQ(job.y.copy_ld, 401);
  EXPECT_EQ(job.y.ld, 448);
  EXPECT_EQ(job.counters, 0x1000000u - kCounterBytes);
  EXPECT_LE(plan.bytes, size_t{1} << 24);
}

}  // namespace
}  // namespace fullwarp::gemm
