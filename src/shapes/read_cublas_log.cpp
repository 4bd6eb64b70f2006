// What cuBLAS and cuBLASLt write about their calls.
//
// CUBLASLT_LOG_LEVEL=2 and above gives one line a call:
//   [...][cublasLt][pid][Trace][cublasLtMatmul] A=0X7F.. Adesc=[type=R_16BF rows=768 cols=2304 ld=768]
//     B=... Bdesc=[...] ... Ddesc=[...] computeDesc=[computeType=COMPUTE_32F scaleType=R_32F transa=OP_T]
//     algo=[...] ...
// (cublasLtTSTMatmul and the like are the same from inside the library.) CUBLAS_LOGINFO_DBG=1 gives a block a
// call:
//   I! cuBLAS (v13.4) function cublasStatus_t cublasGemmEx(...) called:
//   i!  transa: type=cublasOperation_t; val=CUBLAS_OP_T(1)
//   i!  m: type=int; val=2304
//   i!Process=14055; ...; MathMode=CUBLAS_TF32_TENSOR_OP_MATH
// Both are column-major; sizes are turned to row-major ones. With both logs in one file the cublasLt lines
// count, since cuBLAS calls cublasLt for the same product.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "shapes/product_counter.h"

namespace fullwarp::shapes {

namespace {

// The text behind `key` up to the next blank, comma or bracket.
std::string_view word_after(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const size_t begin = at + key.size();
  return text.substr(begin, text.find_first_of(" ,;])(", begin) - begin);
}

int64_t number_of(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && value >= 1 && value <= kMaxSize ? value : 0;
}

uint32_t alignment_of_address(std::string_view text) {  // "0X7F00.."; nullptr and nonsense count as aligned
  while (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  uint64_t address = 0;
  std::from_chars(text.data(), text.data() + text.size(), address, 16);
  return address_alignment(address);
}

struct Matrix {
  std::string_view type;
  int64_t rows = 0, columns = 0, pitch = 0, batch = 1;
};

Matrix matrix_of(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view inside = line.substr(at + key.size(), line.find(']', at) - at - key.size() + 1);
  Matrix m = {word_after(inside, "type="), number_of(word_after(inside, "rows=")),
              number_of(word_after(inside, "cols=")), number_of(word_after(inside, "ld="))};
  if (m.pitch == 0) m.pitch = m.rows;
  m.batch = std::max<int64_t>(1, number_of(word_after(inside, "batchCount=")));
  return m;
}

bool is_true(std::string_view text) { return text.starts_with("OP_T") || text.starts_with("OP_C"); }

class LogReader {
 public:
  LogReader(const ByteSource& source, const std::string& file) : lines_(source), file_(file) {}

  Result<Model> read() && {
    for (std::string line; lines_.next(line);) {
      bool room = true;
      if (line.find("cublasLt") != std::string::npos && line.find("Adesc=[") != std::string::npos) {
        room = lt_line(line);
      } else if (line.find("[Trace][cublasLtMatmul]") != std::string::npos) {
        ++unread_;  // cut, or wrapped by whoever copied it
      } else if (line.starts_with("I!")) {
        room = finish_call();
        start_call(line);
      } else if (line.starts_with("i!")) {
        argument(line);
      }
      if (!room)
        return Error{fmt::format("more than {} different products", kMaxProducts), file_, lines_.number()};
    }
    if (!finish_call())
      return Error{fmt::format("more than {} different products", kMaxProducts), file_, lines_.number()};
    Model model;
    model.file = file_;
    ProductCounter& counter = lt_.empty() ? cublas_ : lt_;
    if (counter.empty())
      return Error{
          "no matrix product in this log", file_, 0, 0,
          "set CUBLASLT_LOG_LEVEL=2 (cublasLt) or CUBLAS_LOGINFO_DBG=1 and CUBLAS_LOGDEST_DBG=FILE (cuBLAS)"};
    const double calls = counter.calls();
    model.operations = std::move(counter).take();
    model.title = fmt::format("{} log: {:.0f} products of {} sizes", lt_used() ? "cublasLt" : "cuBLAS", calls,
                              model.operations.size());
    if (unread_ > 0)
      model.notes.push_back(
          fmt::format("{} calls of other types{} or without sizes are left out", unread_,
                      others_.empty() ? "" : fmt::format(" ({})", fmt::join(others_, ", "))));
    return model;
  }

 private:
  bool lt_used() const { return lt_.calls() > 0; }

  static Result<Dtype> type_of(std::string_view type, std::string_view compute) {
    Result<Dtype> named = dtype_named(type);
    if (named && *named == Dtype::fp32 && compute.find("TF32") != std::string_view::npos) return Dtype::tf32;
    return named;
  }

  bool lt_line(std::string_view line) {
    if (line.find("Matmul]") == std::string_view::npos || line.find("Heuristic") != std::string_view::npos)
      return true;
    const Matrix a = matrix_of(line, "Adesc=["), b = matrix_of(line, "Bdesc=["),
                 d = matrix_of(line, "Ddesc=[");
    const bool ta = is_true(word_after(line, "transa=")) || is_true(word_after(line, "transA="));
    const Result<Dtype> type = type_of(a.type, word_after(line, "computeType="));
    if (!type) return left_out(a.type);
    if (a.rows == 0 || a.columns == 0 || d.rows == 0 || d.columns == 0) return left_out({});
    const bool tb = is_true(word_after(line, "transb=")) || is_true(word_after(line, "transB="));
    Gemm gemm = from_column_major(*type, ta, tb, d.rows, d.columns, ta ? a.rows : a.columns, a.pitch, b.pitch,
                                  d.pitch);
    gemm.base_bytes = {alignment_of_address(word_after(line, " B=")),
                       alignment_of_address(word_after(line, " A=")),
                       alignment_of_address(word_after(line, " D="))};
    gemm.batch = d.batch;
    return lt_.add(gemm, 1, "cublasLtMatmul");
  }

  bool left_out(std::string_view type) {
    ++unread_;
    if (!type.empty() && others_.size() < 5) others_.emplace(type.substr(0, 40));
    return true;
  }

  void start_call(std::string_view line) {
    const size_t at = line.find("function cublasStatus_t ");
    if (at == std::string_view::npos) return;
    const std::string_view rest = line.substr(at + std::string_view("function cublasStatus_t ").size());
    call_ = rest.substr(0, std::min<size_t>(rest.find('('), 60));
  }

  void argument(std::string_view line) {
    if (call_.empty() || arguments_.size() > 40) return;
    if (line.find("MathMode=CUBLAS_TF32") != std::string_view::npos) arguments_.emplace("mathMode", "TF32");
    line.remove_prefix(2);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const size_t colon = line.find(':'), value = line.find("val=");
    if (colon == std::string_view::npos || value == std::string_view::npos || colon > 20) return;
    arguments_.emplace(std::string(line.substr(0, colon)), std::string(line.substr(value + 4, 80)));
  }

  std::string_view at(const char* name) const {
    const auto found = arguments_.find(name);
    return found == arguments_.end() ? std::string_view() : std::string_view(found->second);
  }

  uint32_t base_of(const char* name) const {
    const std::string_view text = at(name);
    const size_t hex = text.find("0x0x");
    return hex == std::string_view::npos ? kVectorBytes
                                         : alignment_of_address(text.substr(hex, text.find(')') - hex));
  }

  // A block ends where the next begins. False if there is no room for one more product.
  bool finish_call() {
    const std::string call = std::exchange(call_, {});
    const std::map<std::string, std::string> arguments = std::exchange(arguments_, {});
    if (call.find("emm") == std::string::npos) return true;
    arguments_ = arguments;
    const bool added = add_call(call);
    arguments_.clear();
    return added;
  }

  bool add_call(const std::string& call) {
    const std::string_view compute = at("mathMode").empty() ? at("computeType") : at("mathMode");
    Result<Dtype> type = Error{};
    std::string_view named = call;
    if (call.find("Sgemm") != std::string::npos) {
      type = type_of("R_32F", compute);
    } else if (call.find("Hgemm") != std::string::npos) {
      type = Dtype::fp16;
    } else {
      named = at("Atype").empty() ? at("AType") : at("Atype");
      named = named.substr(0, named.find('('));
      if (named.empty()) named = call;  // cublasDgemm: the name has the type
      type = type_of(named, compute);
    }
    const int64_t m = number_of(at("m")), n = number_of(at("n")), k = number_of(at("k"));
    const int64_t lda = number_of(at("lda")), ldb = number_of(at("ldb")), ldc = number_of(at("ldc"));
    if (!type) return left_out(named);
    if (m == 0 || n == 0 || k == 0 || lda == 0 || ldb == 0 || ldc == 0) return left_out({});
    const auto transposed = [&](const char* name) { return at(name).find("OP_N") == std::string_view::npos; };
    Gemm gemm = from_column_major(*type, transposed("transa"), transposed("transb"), m, n, k, lda, ldb, ldc);
    gemm.base_bytes = {base_of("B"), base_of("A"), base_of("C")};
    gemm.batch = std::max<int64_t>(1, number_of(at("batchCount")));
    return cublas_.add(gemm, 1, call);
  }

  Lines lines_;
  const std::string& file_;
  ProductCounter lt_, cublas_;
  std::string call_;
  std::map<std::string, std::string> arguments_;
  size_t unread_ = 0;
  std::set<std::string> others_;  // types, or calls, that are not judged
};

}  // namespace

Result<Model> read_cublas_log(const ByteSource& source, const std::string& file) {
  if (source.size() > kMaxLogBytes)
    return Error{fmt::format("a log of {} bytes is not read", source.size()), file, 0, 0,
                 "cut it to a part of the run"};
  return LogReader(source, file).read();
}

}  // namespace fullwarp::shapes
