// ONNX: a Protocol Buffers message. The library with ONNX's schema would load the message whole, weights
// included; here the wire format's few rules are read directly and everything but nodes, attributes and sizes
// is passed over without reading it. Schema: github.com/onnx/onnx/blob/main/onnx/onnx.proto. Names are kept
// once and numbered, so that a graph costs memory in proportion to its own bytes.
#include "shapes/onnx_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <unordered_map>

#include "shapes/onnx_message.h"
#include "shapes/onnx_tensor.h"
#include "shapes/read.h"

namespace fullwarp::shapes {

namespace {

constexpr size_t kMaxLinks = 4'000'000;         // inputs and outputs of all nodes
constexpr uint64_t kMaxNamesBytes = 256 << 20;  // of all names
constexpr size_t kMaxAttributes = 32;           // of a node
constexpr size_t kMaxWordBytes = 256;           // of an attribute
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Names = std::unordered_map<std::string, uint32_t>;

class GraphReader {
 public:
  GraphReader(const ByteSource& source, const std::string& file) : cursor_(source), file_(file) {}

  Result<OnnxGraph> read() && {
    OnnxMessage model(cursor_, cursor_.left());
    bool graph_seen = false;
    for (OnnxField f; model.next(f);) {
      if (f.number == 7 && f.wire == 2 && !graph_seen) {
        graph_seen = true;
        enter(graph_.values);
        if (!graph(f.value, nullptr)) return damaged();
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

  // Values and names from here on are those of a graph or function of its own.
  void enter(std::vector<OnnxValue>& values) {
    values_ = &values;
    values.emplace_back();
    names_.assign(1, Names{{"", kNoValue}});
  }

  uint32_t declare(Names& names, const std::string& name) {
    const auto [found, added] = names.emplace(name, static_cast<uint32_t>(values_->size()));
    if (added) {
      names_bytes_ += name.size();
      ++values_read_;
      values_->emplace_back().name = name;
    }
    return found->second;
  }

  // The innermost graph that declares the name has it; a name that none declares is the outermost one's.
  uint32_t id(const std::string& name) {
    if (name.empty()) return kNoValue;
    for (size_t i = names_.size(); i-- > 1;)
      if (const auto found = names_[i].find(name); found != names_[i].end()) return found->second;
    return declare(names_[0], name);
  }

  bool within_limits() {
    if (nodes_read_ > kMaxOnnxNodes || values_read_ > 2 * kMaxOnnxNodes || links_ > kMaxLinks)
      return refuse(fmt::format("more than {} nodes", kMaxOnnxNodes));
    if (names_bytes_ > kMaxNamesBytes) return refuse("the names in the graph are longer than 256 MB");
    return true;
  }

  // The graph of the model, or one within a node.
  bool graph(uint64_t length, OnnxBody* body) {
    OnnxMessage graph(cursor_, length);
    for (OnnxField f; graph.next(f);) {
      bool good = true;
      if (f.wire == 2 && f.number == 1) {
        good = node(f.value, body == nullptr ? graph_.nodes : body->nodes);
      } else if (f.wire == 2 && f.number == 5) {
        good = initializer(f.value);
      } else if (f.wire == 2 && f.number == 15) {
        good = sparse_initializer(f.value);
      } else if (f.wire == 2 && (f.number == 11 || f.number == 12 || f.number == 13)) {
        uint32_t which = kNoValue;
        good = value_info(f.value, f.number == 11 && body == nullptr, which);
        if (body != nullptr && f.number == 11) body->inputs.push_back(which);
        if (body != nullptr && f.number == 12) body->outputs.push_back(which);
      } else {
        graph.skip(f);
      }
      if (!good || !within_limits()) return false;
    }
    return !graph.bad();
  }

  // A graph within a node. What it declares is looked for first, since its nodes may stand before its
  // tensors, and a name in it may be one of a graph around it.
  bool body(uint64_t length, OnnxNode& node) {
    OnnxBody& body = node.bodies.emplace_back();
    if (names_.size() > static_cast<size_t>(kMaxOnnxDepth)) {
      body.too_deep = true;
      cursor_.skip(length);
      return !cursor_.failed();
    }
    const uint64_t begin = cursor_.position();
    body.first = static_cast<uint32_t>(values_->size());
    Names own;
    if (!declarations(length, own)) return false;
    cursor_.rewind(begin);
    names_.push_back(std::move(own));
    const bool good = graph(length, &body);
    names_.pop_back();
    body.last = static_cast<uint32_t>(values_->size());
    return good;
  }

  bool declarations(uint64_t length, Names& own) {
    OnnxMessage graph(cursor_, length);
    for (OnnxField f; graph.next(f);) {
      // NodeProto.output, TensorProto.name, ValueInfoProto.name, and of a sparse tensor its values' name.
      const uint32_t name = f.wire != 2 ? 0 : f.number == 1 ? 2 : f.number == 5 ? 8 : f.number == 11 ? 1 : 0;
      if (name != 0) {
        if (!names_in(f.value, name, own)) return false;
      } else if (f.wire == 2 && f.number == 15) {
        OnnxMessage sparse(cursor_, f.value);
        for (OnnxField g; sparse.next(g);) {
          if (g.wire != 2 || g.number != 1) {
            sparse.skip(g);
          } else if (!names_in(g.value, 8, own)) {
            return false;
          }
        }
        if (sparse.bad()) return false;
      } else {
        graph.skip(f);
      }
      if (!within_limits()) return false;
    }
    return !graph.bad();
  }

  bool names_in(uint64_t length, uint32_t field, Names& own) {
    OnnxMessage message(cursor_, length);
    for (OnnxField f; message.next(f);) {
      if (f.wire != 2 || f.number != field) {
        message.skip(f);
        continue;
      }
      const std::string name = text(f);
      if (!name.empty()) declare(own, name);
    }
    return !message.bad();
  }

  bool node(uint64_t length, std::vector<OnnxNode>& nodes) {
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
    ++nodes_read_;
    nodes.push_back(std::move(node));
    return true;
  }

  bool attribute(uint64_t length, OnnxNode& node) {
    OnnxMessage message(cursor_, length);
    OnnxAttribute attribute;
    const size_t bodies = node.bodies.size();
    std::vector<int64_t> whole;
    for (OnnxField f; message.next(f);) {
      if (f.wire == 2 && f.number == 1) {
        attribute.name = text(f);
      } else if (f.wire == 5 && f.number == 2) {
        attribute.numbers.push_back(onnx_single(cursor_));
      } else if (f.wire == 0 && f.number == 3) {
        attribute.numbers.push_back(static_cast<double>(static_cast<int64_t>(f.value)));
      } else if (f.wire == 2 && f.number == 4 && f.value <= kMaxWordBytes) {
        attribute.word = text(f);
      } else if (f.wire == 2 && f.number == 5) {
        OnnxTensor record;
        if (!tensor(f.value, record)) return false;
        attribute.tensor = true;
        attribute.real = onnx_is_real(record.type);
        attribute.numbers = onnx_elements(record);
        attribute.shape = std::move(record.shape);
      } else if (f.wire == 2 && (f.number == 6 || f.number == 11)) {
        if (!body(f.value, node)) return false;
      } else if (f.number == 7 && (f.wire == 2 || f.wire == 5)) {
        if (!onnx_singles(cursor_, f, attribute.numbers)) return false;
      } else if (f.number == 8) {
        if (!onnx_numbers(cursor_, f, kMaxOnnxElements + 1, whole)) return false;
      } else if (f.wire == 2 && f.number == 21 && f.value <= kMaxWordBytes) {
        attribute.reference = text(f);
      } else {
        message.skip(f);
      }
      if (attribute.numbers.size() > 2 * kMaxOnnxElements) attribute.numbers.resize(2 * kMaxOnnxElements);
    }
    if (message.bad()) return false;
    for (size_t i = bodies; i < node.bodies.size(); ++i) node.bodies[i].name = attribute.name;
    for (int64_t number : whole) attribute.numbers.push_back(static_cast<double>(number));
    // A list that is not kept in full must not pass for a shorter one.
    if (attribute.numbers.size() > kMaxOnnxElements) attribute.numbers.assign(1, kNaN);
    if (attribute.name.size() <= 64 && node.attributes.size() < kMaxAttributes)
      node.attributes.push_back(std::move(attribute));
    return true;
  }

  // FunctionProto { name, input, output, node, domain, attribute_proto }: an operation that the model defines
  // by others. Nothing around it is seen in it.
  bool function(uint64_t length) {
    OnnxMessage message(cursor_, length);
    OnnxFunction function;
    std::string name, domain;
    enter(function.values);
    for (OnnxField f; message.next(f);) {
      bool good = true;
      if (f.wire == 2 && f.number == 1) {
        name = text(f);
      } else if (f.wire == 2 && (f.number == 4 || f.number == 5)) {
        ++links_;
        (f.number == 4 ? function.inputs : function.outputs).push_back(id(text(f)));
      } else if (f.wire == 2 && f.number == 7) {
        good = node(f.value, function.nodes);
      } else if (f.wire == 2 && f.number == 10) {
        domain = text(f);
      } else if (f.wire == 2 && f.number == 11) {
        OnnxNode holder;
        good = attribute(f.value, holder);
        std::move(holder.attributes.begin(), holder.attributes.end(), std::back_inserter(function.defaults));
      } else {
        message.skip(f);
      }
      if (!good || !within_limits()) return false;
    }
    if (message.bad()) return false;
    names_bytes_ += name.size() + domain.size();
    if (graph_.functions.size() >= kMaxOnnxNodes || names_bytes_ > kMaxNamesBytes ||
        function.defaults.size() > kMaxAttributes)
      return refuse("the model has too many functions");
    graph_.functions.emplace(onnx_function_key(domain, name), std::move(function));
    return true;
  }

  // ---- tensors

  bool initializer(uint64_t length) {
    OnnxTensor record;
    if (!tensor(length, record)) return false;
    if (record.name.empty()) return true;
    OnnxValue& value = (*values_)[id(record.name)];
    value.weight = true;
    value.real = onnx_is_real(record.type);
    double elements_count = 1;
    for (int64_t size : record.shape) elements_count *= static_cast<double>(size);
    if (record.type == kOnnxHalf) graph_.half_elements += elements_count;
    if (record.type == kOnnxBrain) graph_.brain_elements += elements_count;
    if (record.type == kOnnxFloat) graph_.single_elements += elements_count;
    value.ranked = record.shape.size() <= kMaxOnnxRank;
    value.numbers = value.ranked ? onnx_elements(record) : std::vector<double>();
    value.numbered = !value.numbers.empty();
    if (value.ranked) value.shape = std::move(record.shape);
    return true;
  }

  // SparseTensorProto { values, indices, dims }
  bool sparse_initializer(uint64_t length) {
    OnnxMessage message(cursor_, length);
    OnnxTensor values;
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
    OnnxValue& value = (*values_)[id(values.name)];
    value.weight = true;
    value.numbered = false;
    value.real = onnx_is_real(values.type);
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

  bool tensor(uint64_t length, OnnxTensor& record) {
    return read_onnx_tensor(cursor_, length, record) && sizes_allowed(record.name, record.shape);
  }

  // ---- declared sizes

  // ValueInfoProto { name, TypeProto { tensor_type { elem_type, shape { dim { dim_value | dim_param } } } } }
  bool value_info(uint64_t length, bool input, uint32_t& which) {
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
    which = id(name);
    OnnxValue& value = (*values_)[which];
    if (input && !value.input && which != kNoValue) {
      value.input = true;
      graph_.inputs.push_back(which);
    }
    value.real = value.real || onnx_is_real(element_type);
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
  std::vector<OnnxValue>* values_ = nullptr;  // of the graph or function that is read
  std::vector<Names> names_;                  // of that graph, and of the graphs within it that are open
  uint64_t names_bytes_ = 0;
  size_t links_ = 0, nodes_read_ = 0, values_read_ = 0;
  std::string message_;
};

}  // namespace

std::string onnx_function_key(const std::string& domain, const std::string& name) {
  return (domain == "ai.onnx" ? "" : domain) + ":" + name;
}

Result<OnnxGraph> read_onnx_graph(const ByteSource& source, const std::string& file) {
  return GraphReader(source, file).read();
}

}  // namespace fullwarp::shapes
