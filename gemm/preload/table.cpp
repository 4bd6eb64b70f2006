// Counting, timing and writing shapes; see table.h.
#include "table.h"

#include <cstdio>

namespace fullwarp::gemm {
namespace {

constexpr size_t kMaxPending = 1024;  // pairs of events; more calls than that in flight go untimed

}  // namespace

uint64_t ShapeTable::begin(Device& device, Stream stream) {
  if (device.capture_id(stream) != 0) return 0;
  const std::lock_guard<std::mutex> lock(mutex_);
  collect(device);
  return pending_.size() < kMaxPending ? device.start_timing(stream) : 0;
}

void ShapeTable::end(Device& device, Stream stream, uint64_t timing, const Problem& p, const Plan& plan,
                     bool staged) {
  if (timing != 0) device.stop_timing(timing, stream);
  const Key key{p.m,
                p.n,
                p.k,
                p.batch,
                static_cast<int64_t>(p.type),
                p.transpose_a * 2 + p.transpose_b,
                p.a.ld,
                p.b.ld,
                p.d.ld,
                static_cast<int64_t>(staged ? plan.choice : Choice::kPlain),
                plan.plain_us > plan.aligned_us * 1.05};
  const std::lock_guard<std::mutex> lock(mutex_);
  Row& row = rows_[key];
  ++row.calls;
  row.plain_us = plan.plain_us;
  row.aligned_us = plan.aligned_us;
  if (timing != 0) pending_.push_back({timing, key});
}

void ShapeTable::collect(Device& device) {
  while (!pending_.empty()) {
    double microseconds = 0;
    if (!device.read_timing(pending_.front().timing, microseconds)) return;
    Row& row = rows_[pending_.front().key];
    if (microseconds >= 0) {
      ++row.timed;
      row.microseconds += microseconds;
    }
    pending_.pop_front();
  }
}

void ShapeTable::write() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::FILE* const file = file_ == "1" ? stderr : std::fopen(file_.c_str(), "w");
  if (file == nullptr) return;
  std::fprintf(file, "M,N,K,batch,dtype,trans,lda,ldb,ldc,calls,time_us,choice,plain_us,aligned_us,pad\n");
  for (const auto& [key, row] : rows_) {
    const auto type = static_cast<Type>(key[4]);
    const int64_t unit = kAlignmentBytes / element_bytes(type);
    const auto up = [unit](int64_t value) { return (value + unit - 1) / unit * unit; };
    char pad[128] = "";
    if (key[10] != 0) {
      std::snprintf(pad, sizeof(pad), "%lldx%lldx%lld", static_cast<long long>(up(key[0])),
                    static_cast<long long>(up(key[1])), static_cast<long long>(up(key[2])));
    }
    char time[32] = "";
    if (row.timed > 0) {
      std::snprintf(time, sizeof(time), "%.2f", row.microseconds / static_cast<double>(row.timed));
    }
    std::fprintf(file, "%lld,%lld,%lld,%lld,%s,%c%c,%lld,%lld,%lld,%lld,%s,%s,%.1f,%.1f,%s\n",
                 static_cast<long long>(key[0]), static_cast<long long>(key[1]),
                 static_cast<long long>(key[2]), static_cast<long long>(key[3]), name(type),
                 key[5] & 2 ? 'T' : 'N', key[5] & 1 ? 'T' : 'N', static_cast<long long>(key[6]),
                 static_cast<long long>(key[7]), static_cast<long long>(key[8]),
                 static_cast<long long>(row.calls), time, name(static_cast<Choice>(key[9])), row.plain_us,
                 row.aligned_us, pad);
  }
  if (file != stderr) std::fclose(file);
}

}  // namespace fullwarp::gemm
