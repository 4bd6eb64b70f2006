// ONNX: a Protocol Buffers message. The library with ONNX's schema would load the message whole, weights
// included; here the wire format's few rules are read directly and everything but nodes, attributes and sizes
// is passed over without reading it. Sizes of activations come from the graph's inputs and value_info, and
// are carried forward through the operations that convolutional networks are made of; a product whose sizes
// stay unknown is left out, and the report says how many. Schema:
// github.com/onnx/onnx/blob/main/onnx/onnx.proto.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "shapes/onnx_message.h"
#include "shapes/read.h"

namespace fullwarp::shapes {

namespace {

constexpr size_t kMaxNodes = 1'000'000;
constexpr size_t kMaxDimensions = 8;
constexpr size_t kMaxLinks = 64;  // inputs of a node that are kept
constexpr int64_t kUnknown = -1;

using Shape = std::vector<int64_t>;  // kUnknown where the graph does not say

struct Node {
  std::string type, name;
  std::vector<std::string> inputs;
  std::string output;
  std::map<std::string, Shape> lists;
  std::map<std::string, int64_t> numbers;
  std::string auto_pad;
};

class OnnxReader {
 public:
  OnnxReader(const ByteSource& source, const std::string& file, const RunOptions& run)
      : cursor_(source), file_(file), run_(run) {}

  Result<Model> read() && {
    OnnxMessage model(cursor_, cursor_.left());
    bool graph_seen = false;
    for (OnnxField f; model.next(f);) {
      if (f.number == 7 && f.wire == 2 && !graph_seen) {
        graph_seen = true;
        if (!graph(f.value)) return damaged();
      } else {
        model.skip(f);
      }
    }
    if (model.bad()) return damaged();
    if (!graph_seen) return Error{"no ONNX graph in the file", file_};
    if (!message_.empty()) return Error{message_, file_};
    for (const Node& node : nodes_) visit(node);
    return finish();
  }

 private:
  Error damaged() const {
    if (!message_.empty()) return Error{message_, file_};
    return Error{fmt::format("the file ends or is damaged near byte {}", cursor_.position()), file_, 0, 0,
                 "is the download complete?"};
  }

  std::string text(const OnnxField& f) { return cursor_.text(f.value, kMaxNameBytes); }

  // ---- messages of the schema

  bool graph(uint64_t length) {
    OnnxMessage graph(cursor_, length);
    for (OnnxField f; graph.next(f);) {
      bool good = true;
      if (f.wire == 2 && f.number == 1) {
        good = node(f.value);
      } else if (f.wire == 2 && f.number == 5) {
        std::string name;
        Shape shape;
        good = tensor(f.value, name, shape);
        weights_[name] = shape;
      } else if (f.wire == 2 && (f.number == 11 || f.number == 13)) {
        good = value_info(f.value, f.number == 11);
      } else {
        graph.skip(f);
      }
      if (!good) return false;
      if (weights_.size() > kMaxNodes || nodes_.size() > kMaxNodes || shapes_.size() > kMaxNodes) {
        message_ = "more than a million nodes";
        return false;
      }
    }
    return !graph.bad();
  }

  bool node(uint64_t length) {
    OnnxMessage message(cursor_, length);
    Node node;
    for (OnnxField f; message.next(f);) {
      if (f.wire == 2 && f.number == 1) {
        std::string input = text(f);
        if (node.inputs.size() < kMaxLinks) node.inputs.push_back(std::move(input));
      } else if (f.wire == 2 && f.number == 2 && node.output.empty()) {
        node.output = text(f);
      } else if (f.wire == 2 && f.number == 3) {
        node.name = text(f);
      } else if (f.wire == 2 && f.number == 4) {
        node.type = text(f);
      } else if (f.wire == 2 && f.number == 5) {
        if (!attribute(f.value, node)) return false;
      } else {
        message.skip(f);
      }
    }
    if (message.bad()) return false;
    nodes_.push_back(std::move(node));
    return true;
  }

  bool attribute(uint64_t length, Node& node) {
    OnnxMessage message(cursor_, length);
    std::string name;
    Shape list, tensor_shape;
    int64_t number = 0;
    std::string word;
    bool has_number = false, has_tensor = false;
    for (OnnxField f; message.next(f);) {
      if (f.wire == 2 && f.number == 1) {
        name = text(f);
      } else if (f.wire == 0 && f.number == 3) {
        number = static_cast<int64_t>(f.value);
        has_number = true;
      } else if (f.wire == 2 && f.number == 4 && f.value <= 64) {
        word = text(f);
      } else if (f.wire == 2 && f.number == 5) {
        std::string ignored;
        if (!tensor(f.value, ignored, tensor_shape)) return false;
        has_tensor = true;
      } else if (f.number == 8) {
        if (!onnx_numbers(cursor_, f, 2 * kMaxDimensions, list)) return false;
      } else {
        message.skip(f);
      }
    }
    if (message.bad()) return false;
    if (name.size() > 64 || node.lists.size() + node.numbers.size() > 64) return true;
    if (has_tensor && node.type == "Constant") weights_[node.output] = tensor_shape;
    if (has_tensor) node.lists["tensor"] = tensor_shape;
    if (!list.empty()) node.lists[name] = list;
    if (has_number) node.numbers[name] = number;
    if (name == "auto_pad") node.auto_pad = word;
    return true;
  }

  bool tensor(uint64_t length, std::string& name, Shape& shape) {
    OnnxMessage message(cursor_, length);
    for (OnnxField f; message.next(f);) {
      if (f.number == 1 && (f.wire == 0 || f.wire == 2)) {
        if (!onnx_numbers(cursor_, f, 2 * kMaxDimensions, shape)) return false;
      } else if (f.wire == 2 && f.number == 8) {
        name = text(f);
      } else {
        message.skip(f);  // the data
      }
    }
    for (int64_t size : shape) {
      if (size >= 0 && size <= kMaxSize) continue;
      message_ = fmt::format("tensor `{}` has a size outside of 0 to {}", name.substr(0, 80), kMaxSize);
      return false;
    }
    return !message.bad();
  }

  // ValueInfoProto { name, TypeProto { tensor_type { shape { dim { dim_value | dim_param } } } } }
  bool value_info(uint64_t length, bool input) {
    OnnxMessage info(cursor_, length);
    std::string name;
    Shape shape;
    bool known = false;
    for (OnnxField f; info.next(f);) {
      if (f.wire == 2 && f.number == 1) {
        name = text(f);
      } else if (f.wire == 2 && f.number == 2) {
        known = type(f.value, shape);
        if (cursor_.failed()) return false;
      } else {
        info.skip(f);
      }
    }
    if (info.bad()) return false;
    if (input) data_.insert(name);
    if (known && shape.size() <= kMaxDimensions) shapes_[name] = shape;
    return true;
  }

  bool type(uint64_t length, Shape& shape) {
    bool known = false;
    OnnxMessage type(cursor_, length);
    for (OnnxField f; type.next(f);) {
      if (f.wire != 2 || f.number != 1) {
        type.skip(f);
        continue;
      }
      OnnxMessage tensor(cursor_, f.value);
      for (OnnxField g; tensor.next(g);) {
        if (g.wire != 2 || g.number != 2) {
          tensor.skip(g);
          continue;
        }
        known = true;
        OnnxMessage dims(cursor_, g.value);
        for (OnnxField d; dims.next(d);) {
          if (d.wire == 2 && d.number == 1) {
            const int64_t size = dimension(d.value, shape.size());
            if (shape.size() <= kMaxDimensions) shape.push_back(size);
          } else {
            dims.skip(d);
          }
        }
      }
    }
    return known && !type.bad();
  }

  // A size that is a word: the first is the batch, a later one of a sequence the sequence.
  int64_t dimension(uint64_t length, size_t place) {
    OnnxMessage dim(cursor_, length);
    int64_t size = kUnknown;
    for (OnnxField f; dim.next(f);) {
      if (f.wire == 0 && f.number == 1) {
        size = static_cast<int64_t>(f.value);
        if (size < 1 || size > kMaxSize) size = kUnknown;
      } else if (f.wire == 2 && f.number == 2) {
        const std::string word = text(f);
        if (word.find("batch") != std::string::npos || place == 0) {
          size = run_.batch;
        } else if (word.find("seq") != std::string::npos || word.find("len") != std::string::npos) {
          size = run_.sequence;
        }
      } else {
        dim.skip(f);
      }
    }
    if (size == kUnknown && place == 0) size = run_.batch;
    return size;
  }

  // ---- the graph

  const Shape* shape_of(const std::string& name) const {
    if (const auto weight = weights_.find(name); weight != weights_.end()) return &weight->second;
    const auto found = shapes_.find(name);
    return found == shapes_.end() ? nullptr : &found->second;
  }
  bool is_weight(const std::string& name) const { return weights_.contains(name); }

  void keep(const Node& node, Shape shape) {
    if (!shapes_.contains(node.output)) shapes_[node.output] = std::move(shape);
  }

  // Of all but the last `inner` dimensions; kUnknown if one is not known or the product is too large.
  static int64_t leading(const Shape& shape, size_t inner) {
    int64_t product = 1;
    for (size_t i = 0; i + inner < shape.size(); ++i) {
      if (shape[i] < 1 || product > kMaxSize / shape[i]) return kUnknown;
      product *= shape[i];
    }
    return product;
  }

  void add(const Node& node, std::variant<Gemm, Conv, Attention, Gather> work, double weights) {
    if (operations_.size() == kMaxProducts) return;
    Operation operation = {node.type + (node.name.empty() ? "" : " " + node.name),
                           Step::forward,
                           1,
                           work,
                           weights,
                           {},
                           data_.contains(node.inputs[0])};
    if (operation.name.size() > 120) operation.name.resize(120);
    operations_.push_back(std::move(operation));
  }

  void visit(const Node& node) {
    if (node.inputs.empty()) return;
    const Shape* first = shape_of(node.inputs[0]);
    const Shape* second = node.inputs.size() > 1 ? shape_of(node.inputs[1]) : nullptr;
    if (node.type == "Conv") {
      conv(node, first, second);
    } else if (node.type == "Gemm") {
      gemm(node, first, second);
    } else if (node.type == "MatMul") {
      matmul(node, first, second);
    } else if (node.type == "MaxPool" || node.type == "AveragePool") {
      if (first != nullptr && first->size() == 4 && node.lists.contains("kernel_shape")) {
        const Shape& kernel = node.lists.at("kernel_shape");
        if (kernel.size() >= 2)
          keep(node, {(*first)[0], (*first)[1], pixels(node, (*first)[2], kernel[0], 0, 2),
                      pixels(node, (*first)[3], kernel[1], 1, 2)});
      }
    } else if (node.type == "GlobalAveragePool") {
      if (first != nullptr && first->size() == 4) keep(node, {(*first)[0], (*first)[1], 1, 1});
    } else if (node.type == "Flatten") {
      if (first != nullptr && first->size() > 1) {
        Shape turned(first->begin() + 1, first->end());
        keep(node, {(*first)[0], leading(turned, 0)});
      }
    } else if (node.type == "Concat" || node.type == "Gather" || node.type == "Reshape" ||
               node.type == "Transpose") {
      // Their results are taken from value_info only.
    } else {
      // Element by element: the larger shape of the first two inputs.
      const Shape* shape = first != nullptr && !is_weight(node.inputs[0]) ? first : second;
      if (shape != nullptr) keep(node, *shape);
    }
  }

  static int64_t attribute_or(const Node& node, const std::string& name, size_t index, int64_t otherwise) {
    const auto found = node.lists.find(name);
    if (found == node.lists.end() || index >= found->second.size()) return otherwise;
    return found->second[index];
  }

  static int64_t pixels(const Node& node, int64_t size, int64_t kernel, size_t axis, size_t axes) {
    const int64_t stride = attribute_or(node, "strides", axis, 1),
                  dilation = attribute_or(node, "dilations", axis, 1);
    const int64_t before = attribute_or(node, "pads", axis, 0),
                  after = attribute_or(node, "pads", axis + axes, 0);
    constexpr int64_t kLargest = 1 << 20;
    for (int64_t value : {size, kernel, stride, dilation})
      if (value < 1 || value > kMaxSize) return kUnknown;
    if (before < 0 || after < 0 || before > kLargest || after > kLargest || kernel > kLargest ||
        dilation > kLargest)
      return kUnknown;
    if (node.auto_pad.starts_with("SAME")) return (size + stride - 1) / stride;
    const int64_t reach = size + before + after - dilation * (kernel - 1) - 1;
    return reach < 0 ? kUnknown : reach / stride + 1;
  }

  void conv(const Node& node, const Shape* input, const Shape* weight) {
    if (weight == nullptr || (weight->size() != 4 && weight->size() != 3)) {
      ++unknown_;
      return;
    }
    const bool flat = weight->size() == 3;
    Conv c = {.dtype = run_.dtype,
              .channels_last = false,
              .out = (*weight)[0],
              .kernel_h = (*weight)[2],
              .kernel_w = flat ? 1 : (*weight)[3]};
    const auto group = node.numbers.find("group");
    c.groups = group == node.numbers.end() ? 1 : group->second;
    if (c.out < 1 || (*weight)[1] < 1 || c.kernel_h < 1 || c.kernel_w < 1 || c.groups < 1 ||
        c.groups > kMaxSize / (*weight)[1] || input == nullptr || input->size() != weight->size()) {
      ++unknown_;
      return;
    }
    c.in = (*weight)[1] * c.groups;
    c.batch = (*input)[0];
    c.height = (*input)[2];
    c.width = flat ? 1 : (*input)[3];
    c.stride_h = attribute_or(node, "strides", 0, 1);
    c.stride_w = flat ? 1 : attribute_or(node, "strides", 1, 1);
    c.out_height = pixels(node, c.height, c.kernel_h, 0, flat ? 1 : 2);
    c.out_width = flat ? 1 : pixels(node, c.width, c.kernel_w, 1, 2);
    for (int64_t size : {c.batch, c.height, c.width, c.out_height, c.out_width})
      if (size < 1 || size > kMaxSize) {
        ++unknown_;
        return;
      }
    keep(node, flat ? Shape{c.batch, c.out, c.out_height} : Shape{c.batch, c.out, c.out_height, c.out_width});
    add(node, c,
        static_cast<double>(c.out) * static_cast<double>((*weight)[1]) * static_cast<double>(c.kernel_h) *
            static_cast<double>(c.kernel_w));
  }

  void gemm(const Node& node, const Shape* a, const Shape* b) {
    if (a == nullptr || b == nullptr || a->size() != 2 || b->size() != 2) {
      ++unknown_;
      return;
    }
    const auto flag = [&](const char* name) {
      const auto found = node.numbers.find(name);
      return found != node.numbers.end() && found->second != 0;
    };
    const bool ta = flag("transA"), tb = flag("transB");
    const Layout layout = ta ? (tb ? Layout::tt : Layout::tn) : (tb ? Layout::nt : Layout::nn);
    product(node, layout, 1, (*a)[ta ? 1 : 0], (*b)[tb ? 0 : 1], (*b)[tb ? 1 : 0], is_weight(node.inputs[1]));
    keep(node, {(*a)[ta ? 1 : 0], (*b)[tb ? 0 : 1]});
  }

  void matmul(const Node& node, const Shape* a, const Shape* b) {
    if (b == nullptr || b->size() < 2 || (a != nullptr && a->size() < 2)) {
      ++unknown_;
      return;
    }
    const int64_t k = (*b)[b->size() - 2], n = b->back();
    const bool weight = is_weight(node.inputs[1]);
    if (weight && b->size() == 2) {
      // Rows: what the graph says, else every token.
      int64_t rows = a != nullptr ? leading(*a, 1) : kUnknown;
      if (rows == kUnknown) {
        rows = run_.batch * run_.sequence;
        assumed_tokens_ = true;
      }
      product(node, Layout::nn, 1, rows, n, k, true);
      if (a != nullptr) {
        Shape result = *a;
        result.back() = n;
        keep(node, result);
      }
      return;
    }
    if (a == nullptr) {
      ++unknown_;
      return;
    }
    product(node, Layout::nn, leading(*a, 2), (*a)[a->size() - 2], n, k, false);
    Shape result = *a;
    result.back() = n;
    keep(node, result);
  }

  void product(const Node& node, Layout layout, int64_t batch, int64_t m, int64_t n, int64_t k, bool weight) {
    for (int64_t size : {batch, m, n, k})
      if (size < 1 || size > kMaxSize) {
        ++unknown_;
        return;
      }
    Gemm gemm = dense_gemm(run_.dtype, layout, m, n, k);
    gemm.batch = batch;
    add(node, gemm, weight ? static_cast<double>(n) * static_cast<double>(k) : 0);
  }

  // Equal operations are one with a count.
  Result<Model> finish() {
    Model model;
    model.file = file_;
    model.graph = true;
    for (Operation& operation : operations_) {
      const auto same =
          std::find_if(model.operations.begin(), model.operations.end(), [&](const Operation& known) {
            return known.work == operation.work && (!run_.backward || known.from_data == operation.from_data);
          });
      if (same != model.operations.end() && model.operations.size() < 2000) {
        same->count += 1;
      } else {
        model.operations.push_back(std::move(operation));
      }
    }
    model.title = fmt::format("ONNX graph: {} nodes, {} products and convolutions of {} sizes", nodes_.size(),
                              operations_.size(), model.operations.size());
    if (model.operations.empty())
      return Error{"the graph has no product or convolution of known size", file_, 0, 0,
                   "run ONNX's shape inference on it (onnx.shape_inference.infer_shapes) and try again"};
    if (unknown_ > 0)
      model.notes.push_back(
          fmt::format("{} products are left out, because the graph does not give their sizes: run "
                      "onnx.shape_inference.infer_shapes on it",
                      unknown_));
    if (assumed_tokens_)
      model.notes.push_back(
          "where the graph does not give the rows of a product, batch x sequence are taken");
    return model;
  }

  Cursor cursor_;
  const std::string& file_;
  const RunOptions& run_;
  std::vector<Node> nodes_;
  std::map<std::string, Shape> weights_, shapes_;
  std::set<std::string> data_;  // the graph's inputs
  std::vector<Operation> operations_;
  size_t unknown_ = 0;
  bool assumed_tokens_ = false;
  std::string message_;
};

}  // namespace

Result<Model> read_onnx(const ByteSource& source, const std::string& file, const RunOptions& run) {
  return OnnxReader(source, file, run).read();
}

}  // namespace fullwarp::shapes
