// A list of products: `M,N,K,dtype[,lda,ldb,ldc][,trans]`, one a line, `#` begins a comment; or, as the GEMM
// library's preload writes it, a table whose first line names the columns, in any order:
//   M,N,K,dtype,lda,ldb,ldc,trans,calls,...
// Known columns are M, N, K, dtype, lda, ldb, ldc, trans, batch, calls, name, a_bytes, b_bytes, c_bytes (what
// divides the operand's address: a power of two), order; others are passed over. Sizes are those of a
// row-major product; trans is NN, NT, TN or TT as in operation.h. A table whose order is `column`, or which
// has the preload's columns `choice` and `aligned_us`, holds sizes as cuBLAS has them, column-major.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "shapes/product_counter.h"

namespace fullwarp::shapes {

namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\"");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\"") - begin + 1);
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (size_t start = 0; fields.size() < 64;) {
    const size_t comma = line.find(',', start);
    fields.push_back(trimmed(line.substr(start, comma - start)));
    if (comma == std::string_view::npos) break;
    start = comma + 1;
  }
  return fields;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return result;
}

class ListReader {
 public:
  ListReader(const ByteSource& source, const std::string& file) : lines_(source), file_(file) {}

  Result<Model> read() && {
    std::string line;
    while (lines_.next(line)) {
      const std::string_view text = trimmed(std::string_view(line).substr(0, line.find('#')));
      if (text.empty()) continue;
      const std::vector<std::string_view> fields = fields_of(text);
      if (!started_ && header(fields)) continue;
      started_ = true;
      if (Status status = product(fields); !status) return status.error();
    }
    if (counter_.empty())
      return Error{"no product in the list", file_, 0, 0, "write lines such as 8192,50257,768,bf16"};
    Model model;
    model.file = file_;
    const double calls = counter_.calls();
    model.operations = std::move(counter_).take();
    model.title = fmt::format("list: {:.0f} products of {} sizes", calls, model.operations.size());
    return model;
  }

 private:
  Error error(const std::string& message,
              const std::string& hint = "a line is M,N,K,dtype[,lda,ldb,ldc][,trans]") const {
    return Error{message, file_, lines_.number(), 0, hint};
  }

  bool header(const std::vector<std::string_view>& fields) {
    if (started_ ||
        std::none_of(fields.begin(), fields.end(), [](std::string_view f) { return lower(f) == "m"; }))
      return false;
    started_ = true;
    for (size_t i = 0; i < fields.size(); ++i) columns_.emplace(lower(fields[i]), i);
    return true;
  }

  Result<int64_t> size(std::string_view text, const char* what) const {
    int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size() || value < 1 || value > kMaxSize)
      return error(fmt::format("`{}` is no {} from 1 to {}", text.substr(0, 40), what, kMaxSize));
    return value;
  }

  static Result<Layout> layout_of(std::string_view text) {
    const std::string word = lower(text);
    for (Layout layout : {Layout::nn, Layout::nt, Layout::tn, Layout::tt})
      if (word == lower(to_string(layout))) return layout;
    return Error{"`" + std::string(text.substr(0, 40)) + "` is no transposition"};
  }

  // The text of a column: by its name, or by its place in a list without a header.
  std::string_view field(const std::vector<std::string_view>& fields, const char* name) const {
    const auto found = columns_.find(name);
    return found == columns_.end() || found->second >= fields.size() ? std::string_view()
                                                                     : fields[found->second];
  }

  Status product(std::vector<std::string_view> fields) {
    if (columns_.empty()) {
      // M,N,K,dtype, then three pitches or none, then the letters or nothing.
      static const std::map<size_t, std::vector<const char*>> kForms = {
          {4, {"m", "n", "k", "dtype"}},
          {5, {"m", "n", "k", "dtype", "trans"}},
          {7, {"m", "n", "k", "dtype", "lda", "ldb", "ldc"}},
          {8, {"m", "n", "k", "dtype", "lda", "ldb", "ldc", "trans"}}};
      while (fields.size() > 4 && fields.back().empty()) fields.pop_back();
      const auto form = kForms.find(fields.size());
      if (form == kForms.end()) return error(fmt::format("a line of {} fields", fields.size()));
      columns_.clear();
      for (size_t i = 0; i < form->second.size(); ++i) columns_[form->second[i]] = i;
      Status status = product_by_columns(fields);
      columns_.clear();
      return status;
    }
    return product_by_columns(fields);
  }

  Status product_by_columns(const std::vector<std::string_view>& fields) {
    int64_t sizes[3] = {};
    static constexpr const char* kSizes[] = {"m", "n", "k"};
    for (size_t i = 0; i < 3; ++i) {
      const Result<int64_t> value = size(field(fields, kSizes[i]), "size");
      if (!value) return value.error();
      sizes[i] = *value;
    }
    const Result<Dtype> type = dtype_named(field(fields, "dtype"));
    if (!type) return error(type.error().message, type.error().hint);
    Layout layout = Layout::nn;
    if (const std::string_view text = field(fields, "trans"); !text.empty()) {
      const Result<Layout> named = layout_of(text);
      if (!named)
        return error(named.error().message, "NN, NT, TN or TT: the first letter for A, the second for B");
      layout = *named;
    }
    const bool column_major = lower(field(fields, "order")) == "column" ||
                              (columns_.contains("choice") && columns_.contains("aligned_us"));
    Gemm gemm = dense_gemm(*type, layout, sizes[0], sizes[1], sizes[2]);
    if (column_major) gemm = as_column_major(gemm);
    if (Status status = pitches(fields, gemm); !status) return status;
    if (column_major) gemm = as_row_major(gemm);
    int64_t calls = 1;
    for (auto [name, value] : {std::pair<const char*, int64_t*>{"batch", &gemm.batch}, {"calls", &calls}}) {
      if (field(fields, name).empty()) continue;
      const Result<int64_t> number = size(field(fields, name), "count");
      if (!number) return number.error();
      *value = *number;
    }
    std::string name(field(fields, "name").substr(0, 120));
    if (!counter_.add(gemm, static_cast<double>(calls),
                      name.empty() ? fmt::format("line {}", lines_.number()) : name))
      return error(fmt::format("more than {} different products", kMaxProducts));
    return Ok{};
  }

  // A column-major operand is its row-major transpose: reading its sizes as those of a row-major product, the
  // letters and extents of A and B change places. `pitches` then checks lda against the rows that cuBLAS's A
  // has.
  static Gemm as_column_major(const Gemm& g) {
    const bool ta = g.layout == Layout::tn || g.layout == Layout::tt,
               tb = g.layout == Layout::nt || g.layout == Layout::tt;
    Gemm dense = g;
    dense.lda = ta ? g.k : g.m;
    dense.ldb = tb ? g.n : g.k;
    dense.ldc = g.m;
    return dense;
  }
  static Gemm as_row_major(const Gemm& g) {
    const bool ta = g.layout == Layout::tn || g.layout == Layout::tt,
               tb = g.layout == Layout::nt || g.layout == Layout::tt;
    Gemm turned = from_column_major(g.dtype, ta, tb, g.m, g.n, g.k, g.lda, g.ldb, g.ldc);
    turned.base_bytes = {g.base_bytes[1], g.base_bytes[0], g.base_bytes[2]};
    turned.batch = g.batch;
    return turned;
  }

  Status pitches(const std::vector<std::string_view>& fields, Gemm& gemm) {
    const std::array<int64_t, 3> extents = {gemm.lda, gemm.ldb, gemm.ldc};
    static constexpr const char* kPitches[] = {"lda", "ldb", "ldc"};
    static constexpr const char* kBases[] = {"a_bytes", "b_bytes", "c_bytes"};
    int64_t* const pitch[] = {&gemm.lda, &gemm.ldb, &gemm.ldc};
    for (size_t i = 0; i < 3; ++i) {
      if (const std::string_view text = field(fields, kPitches[i]); !text.empty()) {
        const Result<int64_t> value = size(text, "pitch");
        if (!value) return value.error();
        if (*value < extents[i])
          return error(fmt::format("{} = {} is smaller than the {} elements of a row", kPitches[i], *value,
                                   extents[i]),
                       "a pitch counts elements from one row of the stored operand to the next");
        *pitch[i] = *value;
      }
      if (const std::string_view text = field(fields, kBases[i]); !text.empty()) {
        const Result<int64_t> value = size(text, "number of bytes");
        if (!value) return value.error();
        gemm.base_bytes[i] = address_alignment(static_cast<uint64_t>(*value));
      }
    }
    return Ok{};
  }

  Lines lines_;
  const std::string& file_;
  std::map<std::string, size_t> columns_;
  ProductCounter counter_;
  bool started_ = false;
};

}  // namespace

Result<Model> read_list(const ByteSource& source, const std::string& file) {
  if (source.size() > kMaxLogBytes)
    return Error{fmt::format("a list of {} bytes is not read", source.size()), file};
  return ListReader(source, file).read();
}

}  // namespace fullwarp::shapes
