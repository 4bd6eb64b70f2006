// ONNX: the graph (onnx_graph.h), the sizes that follow from its inputs (onnx_infer.h), and one operation for
// all that are equal. What could not be told is in the notes, by name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "shapes/onnx_infer.h"
#include "shapes/read.h"

namespace fullwarp::shapes {

namespace {

size_t hash_of(const Operation& operation) {
  const auto mix = [](std::initializer_list<int64_t> sizes) {
    size_t hash = sizes.size();
    for (int64_t size : sizes) hash = hash * 1'000'003 + std::hash<int64_t>()(size);
    return hash;
  };
  if (const Gemm* g = std::get_if<Gemm>(&operation.work)) return mix({g->m, g->n, g->k, g->batch});
  if (const Conv* c = std::get_if<Conv>(&operation.work))
    return mix({c->in, c->out, c->height, c->width, c->kernel_h, c->batch});
  if (const Attention* a = std::get_if<Attention>(&operation.work))
    return mix({a->batch, a->heads, a->queries, a->keys, a->head_size});
  const Gather& gather = std::get<Gather>(operation.work);
  return mix({gather.rows, gather.width});
}

bool equal(const Operation& a, const Operation& b, bool backward) {
  return a.work == b.work && a.note == b.note && (a.weight_elements > 0) == (b.weight_elements > 0) &&
         a.weight_elements == b.weight_elements && (!backward || a.from_data == b.from_data);
}

}  // namespace

Result<Model> read_onnx(const ByteSource& source, const std::string& file, const RunOptions& asked) {
  Result<OnnxGraph> graph = read_onnx_graph(source, file);
  if (!graph) return graph.error();
  Model model;
  model.file = file;
  model.graph = true;
  RunOptions run = asked;
  const double half = graph->half_elements, brain = graph->brain_elements, single = graph->single_elements;
  if (half + brain + single > 0) {
    model.dtype = half >= brain && half >= single ? Dtype::fp16 : brain >= single ? Dtype::bf16 : Dtype::fp32;
    if (!run.dtype_asked && model.dtype != Dtype::fp32) run.dtype = *model.dtype;
  }
  const size_t nodes = graph->nodes.size();
  OnnxOperations found = infer_onnx(std::move(*graph), run);

  model.open_axes = found.open;
  double products = 0;
  std::unordered_multimap<size_t, size_t> known;
  for (Operation& operation : found.operations) {
    products += operation.count;
    const auto [first, last] = known.equal_range(hash_of(operation));
    const auto same = std::find_if(first, last, [&](const auto& entry) {
      return equal(model.operations[entry.second], operation, run.backward);
    });
    if (same != last) {
      model.operations[same->second].count += operation.count;
    } else {
      known.emplace(hash_of(operation), model.operations.size());
      model.operations.push_back(std::move(operation));
    }
  }
  std::vector<std::string> left_out;
  for (const auto& [reason, names] : found.left_out)
    left_out.push_back(
        fmt::format("{} products are left out, because {}: {}", names.all, reason, names.text()));
  if (found.other_left_out.all > 0)
    left_out.push_back(fmt::format("{} products are left out for other reasons: {}", found.other_left_out.all,
                                   found.other_left_out.text()));
  if (model.operations.empty())
    return Error{"the graph has no product or convolution of known size", file, 0, 0,
                 fmt::format("{}", fmt::join(left_out, "\n        "))};
  model.title = fmt::format("ONNX graph: {} nodes, {} products, convolutions and look-ups of {} sizes", nodes,
                            products, model.operations.size());
  model.notes = std::move(found.notes);
  std::move(left_out.begin(), left_out.end(), std::back_inserter(model.notes));
  if (found.unknown.all > 0)
    model.notes.push_back(fmt::format(
        "{} nodes are of operations that are not known here; if they multiply, it is not counted: {}",
        found.unknown.all, found.unknown.text()));
  if (found.branches.all > 0)
    model.notes.push_back(
        fmt::format("{} products are of the branch that costs more, where data decides which one runs: {}",
                    found.branches.all, found.branches.text()));
  if (found.once.all > 0)
    model.notes.push_back(fmt::format(
        "{} products are counted once, in loops whose number of iterations the graph does not tell: {}",
        found.once.all, found.once.text()));
  if (found.assumed.all > 0)
    model.notes.push_back(
        fmt::format("{} products have rows that the graph does not tell, batch x sequence are taken: {}",
                    found.assumed.all, found.assumed.text()));
  return model;
}

}  // namespace fullwarp::shapes
