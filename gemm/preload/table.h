// The table of shapes that a program met: FULLWARP_GEMM_TABLE=FILE writes it at exit, as CSV.
//
//   M,N,K,batch,dtype,trans,lda,ldb,ldc,calls,time_us,choice,plain_us,aligned_us,pad
//
// Sizes and pitches are cuBLAS's (column-major). time_us is the mean measured GPU time of the calls that
// could be timed (empty if none: under capture, or not finished by the end). plain_us and aligned_us are the
// cost model's predictions for cuBLAS as called and for the size in `pad`, which says what to pad.
#ifndef FULLWARP_GEMM_PRELOAD_TABLE_H_
#define FULLWARP_GEMM_PRELOAD_TABLE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "../src/device.h"
#include "../src/plan.h"

namespace fullwarp::gemm {

class ShapeTable {
 public:
  explicit ShapeTable(const char* file) : file_(file == nullptr ? "" : file) {}
  bool wanted() const { return !file_.empty(); }

  // Around a call. begin() gives a number for end(); 0: not timed.
  uint64_t begin(Device& device, Stream stream);
  void end(Device& device, Stream stream, uint64_t timing, const Problem& problem, const Plan& plan,
           bool staged);

  void write();

 private:
  using Key = std::array<int64_t, 11>;
  struct Row {
    int64_t calls = 0;
    int64_t timed = 0;
    double microseconds = 0;
    double plain_us = 0, aligned_us = 0;
  };
  struct Pending {
    uint64_t timing;
    Key key;
  };
  void collect(Device& device);

  std::string file_;
  std::mutex mutex_;
  std::map<Key, Row> rows_;
  std::deque<Pending> pending_;
};

}  // namespace fullwarp::gemm
#endif  // FULLWARP_GEMM_PRELOAD_TABLE_H_
