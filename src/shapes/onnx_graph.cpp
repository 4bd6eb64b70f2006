// ONNX: a Protocol Buffers message. The library with ONNX's schema would load the message whole, weights
// included; here the wire format's few rules are read directly and everything but nodes, attributes and sizes
// is passed over without reading it. Schema: github.com/onnx/onnx/blob/main/onnx/onnx.proto. Names are kept
// once and numbered, so that a graph costs memory in proportion to its own bytes.
#include "shapes/onnx_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "shapes/onnx_message.h"
#include "shapes/read.h"

namespace fullwarp::shapes {

namespace {

constexpr size_t kMaxNodes = 300'000;
constexpr size_t kMaxLinks = 4'000'000;         // inputs and outputs of all nodes
constexpr uint64_t kMaxNamesBytes = 256 << 20;  // of all names
constexpr size_t kMaxAttributes = 32;           // of a node
constexpr size_t kMaxWordBytes = 256;           // of an attribute
constexpr int kMaxDepth = 8;                    // of graphs in graphs
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// TensorProto.DataType
enum : int64_t { kFloat = 1, kInt32 = 6, kInt64 = 7, kBool = 9, kHalf = 10, kDouble = 11, kBrain = 16 };

struct TensorRecord {
  std::string name;
  OnnxShape shape;
  int64_t type = 0;
  std::string raw;               // little-endian elements, if they are few
  std::vector<int64_t> whole;    // int32_data, int64_data
  std::vector<double> fraction;  // float_data, double_data
};

class GraphReader {
 public:
  GraphReader(const ByteSource& source, const std::string& file) : cursor_(source), file_(file) {
    graph_.values.emplace_back();
    ids_.emplace("", kNoValue);
  }

  Result<OnnxGraph> read() && {
    OnnxMessage model(cursor_, cursor_.left());
    bool graph_seen = false;
    for (OnnxField f; model.next(f);) {
      if (f.number == 7 && f.wire == 2 && !graph_seen) {
        graph_seen = true;
        if (!graph(f.value)) return damaged();
      } else if (f.number == 25 && f.wire == 2) {
        if (!function(f.value)) return damaged();
      } else {
        model.skip(f);
      }
    }
    if (model.bad()) return damaged();
    if (!graph_seen) return Error{"no ONNX graph in the file", file_};
    return std::move(graph_);
  }

 private:
  Error damaged() const {
    if (!message_.empty()) return Error{message_, file_};
    return Error{fmt::format("the file ends or is damaged near byte {}", cursor_.position()), file_, 0, 0,
                 "is the download complete?"};
  }

  bool refuse(std::string message) {
    message_ = std::move(message);
    return false;
  }

  std::string text(const OnnxField& f) { return cursor_.text(f.value, kMaxNameBytes); }

  uint32_t id(const std::string& name) {
    const auto [found, added] = ids_.emplace(name, static_cast<uint32_t>(graph_.values.size()));
    if (added) {
      names_bytes_ += name.size();
      graph_.values.emplace_back().name = name;
    }
    return found->second;
  }

  bool graph(uint64_t length) {
    OnnxMessage graph(cursor_, length);
    for (OnnxField f; graph.next(f);) {
      bool good = true;
      if (f.wire == 2 && f.number == 1) {
        good = node(f.value);
      } else if (f.wire == 2 && f.number == 5) {
        good = initializer(f.value);
      } else if (f.wire == 2 && f.number == 15) {
        good = sparse_initializer(f.value);
      } else if (f.wire == 2 && (f.number == 11 || f.number == 12 || f.number == 13)) {
        good = value_info(f.value, f.number == 11);
      } else {
        graph.skip(f);
      }
      if (!good) return false;
      if (graph_.nodes.size() > kMaxNodes || graph_.values.size() > 2 * kMaxNodes || links_ > kMaxLinks)
        return refuse(fmt::format("more than {} nodes", kMaxNodes));
      if (names_bytes_ > kMaxNamesBytes) return refuse("the names in the graph are longer than 256 MB");
    }
    return !graph.bad();
  }

  bool node(uint64_t length) {
    OnnxMessage message(cursor_, length);
    OnnxNode node;
    for (OnnxField f; message.next(f);) {
      if (f.wire == 2 && (f.number == 1 || f.number == 2)) {
        if (++links_ > kMaxLinks) return refuse("the graph's nodes have more than 4 million inputs");
        (f.number == 1 ? node.inputs : node.outputs).push_back(id(text(f)));
      } else if (f.wire == 2 && f.number == 3) {
        node.name = text(f);
      } else if (f.wire == 2 && f.number == 4) {
        node.type = text(f);
      } else if (f.wire == 2 && f.number == 5) {
        if (!attribute(f.value, node)) return false;
      } else if (f.wire == 2 && f.number == 7) {
        node.domain = text(f);
      } else {
        message.skip(f);
      }
    }
    if (message.bad()) return false;
    names_bytes_ += node.name.size() + node.type.size() + node.domain.size();
    graph_.nodes.push_back(std::move(node));
    for (uint32_t output : graph_.nodes.back().outputs)
      graph_.values[output].producer = static_cast<uint32_t>(graph_.nodes.size());
    return true;
  }

  bool attribute(uint64_t length, OnnxNode& node) {
    OnnxMessage message(cursor_, length);
    OnnxAttribute attribute;
    std::vector<int64_t> whole;
    for (OnnxField f; message.next(f);) {
      if (f.wire == 2 && f.number == 1) {
        attribute.name = text(f);
      } else if (f.wire == 5 && f.number == 2) {
        attribute.numbers.push_back(single());
      } else if (f.wire == 0 && f.number == 3) {
        attribute.numbers.push_back(static_cast<double>(static_cast<int64_t>(f.value)));
      } else if (f.wire == 2 && f.number == 4 && f.value <= kMaxWordBytes) {
        attribute.word = text(f);
      } else if (f.wire == 2 && f.number == 5) {
        TensorRecord record;
        if (!tensor(f.value, record)) return false;
        attribute.tensor = true;
        attribute.real = is_real(record.type);
        attribute.numbers = elements(record);
        attribute.shape = std::move(record.shape);
      } else if (f.wire == 2 && (f.number == 6 || f.number == 11)) {
        if (!body(f.value, node.body_products, 0)) return false;
      } else if (f.number == 7 && (f.wire == 2 || f.wire == 5)) {
        if (!singles(f, attribute.numbers)) return false;
      } else if (f.number == 8) {
        if (!onnx_numbers(cursor_, f, kMaxOnnxElements + 1, whole)) return false;
      } else {
        message.skip(f);
      }
      if (attribute.numbers.size() > 2 * kMaxOnnxElements) attribute.numbers.resize(2 * kMaxOnnxElements);
    }
    if (message.bad()) return false;
    for (int64_t number : whole) attribute.numbers.push_back(static_cast<double>(number));
    // A list that is not kept in full must not pass for a shorter one.
    if (attribute.numbers.size() > kMaxOnnxElements) attribute.numbers.assign(1, kNaN);
    if (attribute.name.size() <= 64 && node.attributes.size() < kMaxAttributes)
      node.attributes.push_back(std::move(attribute));
    return true;
  }

  double single() {
    const auto bits = cursor_.little_endian<uint32_t>();
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  // A repeated float, packed or one at a time; only as many as attributes keep.
  bool singles(const OnnxField& f, std::vector<double>& numbers) {
    if (f.value % 4 != 0) return false;
    for (uint64_t i = 0; i < f.value && !cursor_.failed(); i += 4) {
      const double value = single();
      if (numbers.size() <= kMaxOnnxElements) numbers.push_back(value);
    }
    return !cursor_.failed();
  }

  // Counts the products of a graph within a node, whose sizes no one knows before it runs.
  bool body(uint64_t length, uint32_t& products, int depth) {
    OnnxMessage graph(cursor_, length);
    for (OnnxField f; graph.next(f);) {
      if (f.wire != 2 || f.number != 1 || depth == kMaxDepth) {
        graph.skip(f);
      } else if (!count_products(f.value, products, depth)) {
        return false;
      }
    }
    return !graph.bad();
  }

  // Of one node and the graphs within it.
  bool count_products(uint64_t length, uint32_t& products, int depth) {
    OnnxMessage node(cursor_, length);
    for (OnnxField f; node.next(f);) {
      if (f.wire == 2 && f.number == 4 && f.value <= 64) {
        products += is_onnx_product(text(f)) ? 1 : 0;
      } else if (f.wire == 2 && f.number == 5) {
        OnnxMessage attribute(cursor_, f.value);
        for (OnnxField g; attribute.next(g);) {
          if (g.wire == 2 && (g.number == 6 || g.number == 11)) {
            if (!body(g.value, products, depth + 1)) return false;
          } else {
            attribute.skip(g);
          }
        }
        if (attribute.bad()) return false;
      } else {
        node.skip(f);
      }
    }
    return !node.bad();
  }

  // FunctionProto { name, node }: an operation that the model defines by others.
  bool function(uint64_t length) {
    OnnxMessage message(cursor_, length);
    std::string name;
    uint32_t products = 0;
    for (OnnxField f; message.next(f);) {
      if (f.wire == 2 && f.number == 1) {
        name = text(f);
      } else if (f.wire == 2 && f.number == 7) {
        if (!count_products(f.value, products, 0)) return false;
      } else {
        message.skip(f);
      }
    }
    if (message.bad()) return false;
    names_bytes_ += name.size();
    if (graph_.functions.size() >= kMaxNodes || names_bytes_ > kMaxNamesBytes)
      return refuse("the model has too many functions");
    graph_.functions[name] = products;
    return true;
  }

  // ---- tensors

  static bool is_real(int64_t type) {
    return type == kFloat || type == kHalf || type == kDouble || type == kBrain || (type >= 17 && type <= 20);
  }

  bool initializer(uint64_t length) {
    TensorRecord record;
    if (!tensor(length, record)) return false;
    if (record.name.empty()) return true;
    OnnxValue& value = graph_.values[id(record.name)];
    value.weight = true;
    value.real = is_real(record.type);
    double elements_count = 1;
    for (int64_t size : record.shape) elements_count *= static_cast<double>(size);
    if (record.type == kHalf) graph_.half_elements += elements_count;
    if (record.type == kBrain) graph_.brain_elements += elements_count;
    if (record.type == kFloat) graph_.single_elements += elements_count;
    value.ranked = record.shape.size() <= kMaxOnnxRank;
    value.numbers = value.ranked ? elements(record) : std::vector<double>();
    value.numbered = !value.numbers.empty();
    if (value.ranked) value.shape = std::move(record.shape);
    return true;
  }

  // SparseTensorProto { values, indices, dims }
  bool sparse_initializer(uint64_t length) {
    OnnxMessage message(cursor_, length);
    TensorRecord values;
    OnnxShape shape;
    for (OnnxField f; message.next(f);) {
      if (f.wire == 2 && f.number == 1) {
        if (!tensor(f.value, values)) return false;
      } else if (f.number == 3) {
        if (!onnx_numbers(cursor_, f, kMaxOnnxRank + 1, shape)) return false;
      } else {
        message.skip(f);
      }
    }
    if (message.bad()) return false;
    if (!sizes_allowed(values.name, shape)) return false;
    if (values.name.empty()) return true;
    OnnxValue& value = graph_.values[id(values.name)];
    value.weight = true;
    value.numbered = false;
    value.real = is_real(values.type);
    value.ranked = shape.size() <= kMaxOnnxRank;
    if (value.ranked) value.shape = std::move(shape);
    return true;
  }

  bool sizes_allowed(const std::string& name, const OnnxShape& shape) {
    for (int64_t size : shape) {
      if (size >= 0 && size <= kMaxSize) continue;
      return refuse(fmt::format("tensor `{}` has a size outside of 0 to {}", name.substr(0, 80), kMaxSize));
    }
    return true;
  }

  bool tensor(uint64_t length, TensorRecord& record) {
    OnnxMessage message(cursor_, length);
    for (OnnxField f; message.next(f);) {
      if (f.number == 1 && (f.wire == 0 || f.wire == 2)) {
        if (!onnx_numbers(cursor_, f, kMaxOnnxRank + 1, record.shape)) return false;
      } else if (f.wire == 0 && f.number == 2) {
        record.type = static_cast<int64_t>(f.value);
      } else if (f.number == 4 && (f.wire == 2 || f.wire == 5) && f.value <= 4 * kMaxOnnxElements) {
        if (!singles(f, record.fraction)) return false;
      } else if ((f.number == 5 || f.number == 7) && (f.wire == 0 || f.value <= 10 * kMaxOnnxElements)) {
        if (!onnx_numbers(cursor_, f, kMaxOnnxElements + 1, record.whole)) return false;
      } else if (f.wire == 2 && f.number == 8) {
        record.name = text(f);
      } else if (f.wire == 2 && f.number == 9 && f.value <= 8 * kMaxOnnxElements) {
        record.raw = text(f);
      } else {
        message.skip(f);  // the data
      }
    }
    return !message.bad() && sizes_allowed(record.name, record.shape);
  }

  template <class T>
  static double element(const std::string& raw, size_t index) {
    T value = {};
    std::memcpy(&value, raw.data() + index * sizeof(T), sizeof(T));  // hosts and ONNX are little-endian
    return static_cast<double>(value);
  }

  // Of a small tensor; none if there are many, or of a type that sizes are not written in.
  static std::vector<double> elements(const TensorRecord& record) {
    int64_t count = 1;
    for (int64_t size : record.shape) {
      count = size == 0 ? 0 : count > static_cast<int64_t>(kMaxOnnxElements) ? count : count * size;
    }
    if (count < 1 || count > static_cast<int64_t>(kMaxOnnxElements)) return {};
    const auto many = static_cast<size_t>(count);
    if (record.whole.size() == many) return {record.whole.begin(), record.whole.end()};
    if (record.fraction.size() == many) return record.fraction;
    using Reader = double (*)(const std::string&, size_t);
    struct Type {
      int64_t type;
      size_t bytes;
      Reader read;
    };
    static const std::array<Type, 5> kTypes = {{{kFloat, 4, element<float>},
                                                {kInt32, 4, element<int32_t>},
                                                {kInt64, 8, element<int64_t>},
                                                {kBool, 1, element<uint8_t>},
                                                {kDouble, 8, element<double>}}};
    std::vector<double> numbers;
    for (const Type& type : kTypes)
      if (type.type == record.type && record.raw.size() == many * type.bytes)
        for (size_t i = 0; i < many; ++i) numbers.push_back(type.read(record.raw, i));
    return numbers;
  }

  // ---- declared sizes

  // ValueInfoProto { name, TypeProto { tensor_type { elem_type, shape { dim { dim_value | dim_param } } } } }
  bool value_info(uint64_t length, bool input) {
    OnnxMessage info(cursor_, length);
    std::string name;
    std::vector<OnnxAxis> axes;
    bool known = false;
    int64_t element_type = 0;
    for (OnnxField f; info.next(f);) {
      if (f.wire == 2 && f.number == 1) {
        name = text(f);
      } else if (f.wire == 2 && f.number == 2) {
        known = type(f.value, axes, element_type);
        if (cursor_.failed()) return false;
      } else {
        info.skip(f);
      }
    }
    if (info.bad()) return false;
    const uint32_t which = id(name);
    OnnxValue& value = graph_.values[which];
    if (input && !value.input && which != kNoValue) {
      value.input = true;
      graph_.inputs.push_back(which);
    }
    value.real = value.real || is_real(element_type);
    if (!known || axes.size() > kMaxOnnxRank || value.weight || which == kNoValue) return true;
    for (const OnnxAxis& axis : axes) names_bytes_ += axis.word.size() + sizeof(OnnxAxis);
    value.ranked = true;
    value.axes = std::move(axes);
    return true;
  }

  bool type(uint64_t length, std::vector<OnnxAxis>& axes, int64_t& element_type) {
    bool known = false;
    OnnxMessage type(cursor_, length);
    for (OnnxField f; type.next(f);) {
      if (f.wire != 2 || f.number != 1) {
        type.skip(f);
        continue;
      }
      OnnxMessage tensor(cursor_, f.value);
      for (OnnxField g; tensor.next(g);) {
        if (g.wire == 0 && g.number == 1) element_type = static_cast<int64_t>(g.value);
        if (g.wire != 2 || g.number != 2) {
          tensor.skip(g);
          continue;
        }
        known = true;
        OnnxMessage dims(cursor_, g.value);
        for (OnnxField d; dims.next(d);) {
          if (d.wire == 2 && d.number == 1) {
            OnnxAxis axis = dimension(d.value);
            if (axes.size() <= kMaxOnnxRank) axes.push_back(std::move(axis));
          } else {
            dims.skip(d);
          }
        }
      }
    }
    return known && !type.bad();
  }

  OnnxAxis dimension(uint64_t length) {
    OnnxMessage dim(cursor_, length);
    OnnxAxis axis;
    for (OnnxField f; dim.next(f);) {
      if (f.wire == 0 && f.number == 1) {
        axis.size = static_cast<int64_t>(f.value);
        if (axis.size < 1 || axis.size > kMaxSize) axis.size = kUnknownSize;
      } else if (f.wire == 2 && f.number == 2 && f.value <= kMaxWordBytes) {
        axis.word = text(f);
      } else {
        dim.skip(f);
      }
    }
    return axis;
  }

  Cursor cursor_;
  const std::string& file_;
  OnnxGraph graph_;
  std::unordered_map<std::string, uint32_t> ids_;
  uint64_t names_bytes_ = 0;
  size_t links_ = 0;
  std::string message_;
};

}  // namespace

Result<OnnxGraph> read_onnx_graph(const ByteSource& source, const std::string& file) {
  return GraphReader(source, file).read();
}

}  // namespace fullwarp::shapes
