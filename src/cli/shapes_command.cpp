// `fullwarp shapes`: model files in, advice out. Reading, judging and rendering are src/shapes/'s.
#include "cli/shapes_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/options.h"
#include "cli/write_file.h"
#include "gpu/gpu.h"
#include "report/report.h"
#include "shapes/read.h"
#include "shapes/render.h"

namespace fullwarp::cli {

namespace {

constexpr const char* kFooter = R"(Examples:
  fullwarp shapes config.json --batch 8 --sequence 1024
      every product of a Hugging Face model: what it takes, which numbers to pad, what that gains
  fullwarp shapes Llama-3-70B/ --tensor-parallel 8 --batch 32 --sequence 1 --cached 4096
      a folder with model.safetensors.index.json and config.json, one rank, one token behind 4096
  fullwarp shapes model.gguf --backward
      training: three products for each linear layer
  CUBLASLT_LOG_LEVEL=2 CUBLASLT_LOG_FILE=gemm.log python train.py; fullwarp shapes gemm.log
      the products that a program ran
  echo 8192,50257,768,bf16,NT > list.csv; fullwarp shapes list.csv --picture cliff.svg
      one product, and a picture of the cliff

Reads safetensors (with its shards by index), GGUF, ONNX, config.json, logs of cuBLAS and cuBLASLt, lists of products.
Times are interpolated between measurements on an H200; other Hopper GPUs are scaled from it; GPUs of other
architectures get estimated ranges.

Exit codes: 0 nothing at or above the --fail-on level, 1 findings, 2 some input could not be used.)";

constexpr int64_t kDefaultSequence = 1024;
constexpr int64_t kMostBatch = 1 << 20, kMostSequence = 1 << 22, kMostRanks = 1 << 16, kMostHeads = 1 << 16;
constexpr int64_t kMostCached = 1 << 24;

void add_count(CLI::App& app, const std::string& name, int64_t& value, int64_t most,
               const std::string& text) {
  app.add_option(name, value, text)->check(CLI::Range(int64_t{1}, most).description(""))->type_name("N");
}

void add_choice(CLI::App& app, const std::string& name, std::string& value, const std::string& text) {
  app.add_option(name, value, text)
      ->check(CLI::IsMember(choices(name)).description(""))
      ->type_name(fmt::format("{}", fmt::join(choices(name), "|")));
}

// "NAME=N", checked before.
std::map<std::string, int64_t> axes_of(const std::vector<std::string>& texts) {
  std::map<std::string, int64_t> axes;
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    axes[text.substr(0, equals)] = std::stoll(text.substr(equals + 1));
  }
  return axes;
}

std::string check_axis(const std::string& text) {
  const size_t equals = text.rfind('=');
  const bool named = equals != std::string::npos && equals > 0;
  const std::string number = named ? text.substr(equals + 1) : "";
  const bool good = !number.empty() && number.size() < 10 &&
                    number.find_first_not_of("0123456789") == std::string::npos && std::stoll(number) > 0;
  return good ? std::string() : fmt::format("--axis {}: NAME=N with a number from 1 is needed", text);
}

// What a cache means for the model.
void note_cache(const shapes::RunOptions& run, shapes::Model& model) {
  if (model.max_sequence > 0 && run.cached + run.sequence > model.max_sequence)
    model.notes.push_back(
        fmt::format("the model has positions for {} tokens, fewer than --cached {} and {} new",
                    model.max_sequence, run.cached, run.sequence));
  for (const shapes::Architecture& a : model.architectures) {
    using shapes::Kind;
    if (a.kind == Kind::speech || a.kind == Kind::encoder_decoder) {
      model.notes.emplace_back(
          "with --cached the encoder and the keys and values of cross attention are taken as computed before");
    } else if (!a.causal) {
      model.notes.emplace_back("encoders keep no keys: --cached changes nothing there");
    } else if (a.latent_attention) {
      model.notes.emplace_back("the cache is taken to hold whole keys and values, not the narrow vectors");
    }
  }
  if (!model.operations.empty() && !model.graph)
    model.notes.emplace_back("--cached changes nothing in operations with sizes of their own");
}

// The sequence and type that a model runs with where the command line leaves them open; notes say what was
// chosen.
shapes::RunOptions run_for(const ShapesArguments& arguments, shapes::Model& model) {
  shapes::RunOptions run = {.batch = arguments.batch,
                            .sequence = arguments.sequence,
                            .cached = arguments.cached,
                            .tensor_parallel = arguments.tensor_parallel,
                            .backward = arguments.backward,
                            .last_logits = arguments.last_logits,
                            .heads = arguments.heads};
  if (run.sequence == 0) {
    run.sequence = model.max_sequence > 0 ? std::min(kDefaultSequence, model.max_sequence) : kDefaultSequence;
  } else if (run.cached == 0 && model.max_sequence > 0 && run.sequence > model.max_sequence) {
    model.notes.push_back(fmt::format("the model has positions for {} tokens, fewer than --sequence {}",
                                      model.max_sequence, run.sequence));
  }
  if (run.cached > 0) note_cache(run, model);
  if (run.tensor_parallel > 1 && !model.operations.empty()) {
    run.tensor_parallel = 1;
    model.notes.emplace_back(
        model.graph
            ? "--tensor-parallel does not split a graph: its products are taken whole; give the graph of one rank"
            : "--tensor-parallel changes nothing here: a log, table or list holds what one rank ran already");
  }
  if (!arguments.axes.empty() && !model.graph)
    model.notes.emplace_back("--axis sets axes of ONNX graphs: it changes nothing here");
  using shapes::Dtype;
  if (!arguments.dtype.empty()) {
    run.dtype = *shapes::dtype_named(arguments.dtype);
  } else if (model.dtype == Dtype::fp16) {
    run.dtype = Dtype::fp16;
  } else if (model.dtype == Dtype::fp32) {
    model.notes.emplace_back(
        "weights are fp32: products are taken in bf16, as under autocast; --dtype tf32 or fp32 for others");
  }
  return run;
}

int exit_code(const std::vector<shapes::Advice>& advices, bool errors, const std::string& fail_on) {
  if (errors) return kUnusable;
  if (fail_on == "never") return kSuccess;
  const diag::Level least = fail_on == "error"     ? diag::Level::error
                            : fail_on == "warning" ? diag::Level::warning
                                                   : diag::Level::note;
  for (const shapes::Advice& advice : advices)
    for (const diag::Finding& finding : advice.findings)
      if (finding.level >= least) return kFindings;
  return kSuccess;
}

// Everything that the files gave.
struct Outcome {
  std::vector<shapes::Advice> advices;
  std::vector<shapes::Curve> curves;
  std::vector<Error> errors;
};

Outcome judge(const ShapesArguments& arguments, const gpu::Gpu& gpu) {
  Outcome outcome;
  const bool curves = arguments.format == "html" || !arguments.picture.empty();
  for (const std::string& file : arguments.files) {
    const shapes::RunOptions open = {
        .batch = arguments.batch,
        .sequence = arguments.sequence == 0 ? kDefaultSequence : arguments.sequence,
        .cached = arguments.cached,
        .backward = arguments.backward,
        .dtype = arguments.dtype.empty() ? shapes::Dtype::bf16 : *shapes::dtype_named(arguments.dtype),
        .dtype_asked = !arguments.dtype.empty(),
        .heads = arguments.heads,
        .axes = axes_of(arguments.axes)};
    Result<shapes::Model> model = shapes::read_model(file, open);
    if (!model) {
      outcome.errors.push_back(model.error());
      continue;
    }
    const shapes::RunOptions run = run_for(arguments, *model);
    if (run.batch * (run.sequence + run.cached) > shapes::kMaxSize) {
      outcome.errors.push_back(
          {fmt::format("batch x (sequence + cached tokens) is more than {}", shapes::kMaxSize), file});
      continue;
    }
    outcome.advices.push_back(shapes::advise(*model, run, gpu));
    if (!curves) continue;
    Result<shapes::Curve> curve = shapes::curve_of(*model, outcome.advices.back(), gpu, arguments.number);
    if (curve) {
      outcome.curves.push_back(std::move(*curve));
    } else {
      if (!arguments.number.empty()) outcome.errors.push_back(curve.error());
      outcome.curves.emplace_back();
    }
  }
  return outcome;
}

std::string render(const Outcome& outcome, const ShapesArguments& arguments, bool colour) {
  if (arguments.format == "json") return shapes::render_json(outcome.advices, outcome.errors);
  if (arguments.format == "sarif") return shapes::render_sarif(outcome.advices, outcome.errors);
  if (arguments.format == "csv") return shapes::render_csv(outcome.advices);
  if (arguments.format == "html") return shapes::render_html(outcome.advices, outcome.curves, outcome.errors);
  std::string text;
  for (const shapes::Advice& advice : outcome.advices) {
    if (!text.empty()) text += "\n";
    text += shapes::render_text(advice, {.colour = colour, .rows = static_cast<size_t>(arguments.rows)});
  }
  return text;
}

// The picture of the first file that has one.
Status draw(const Outcome& outcome, const std::string& path) {
  for (size_t i = 0; i < outcome.curves.size(); ++i)
    if (!outcome.curves[i].points.empty() && outcome.advices[i].total.us > 0)
      return write_file(path, shapes::render_svg(outcome.curves[i], outcome.advices[i]));
  return Error{"nothing to draw: no size that could be changed, or no times for this GPU", path};
}

}  // namespace

void define_shapes(CLI::App& app, ShapesArguments& a) {
  CLI::App& shapes =
      *app.add_subcommand("shapes", "Say which sizes of a model are slow, at what cost, and what to pad");
  shapes
      .add_option("FILE", a.files,
                  "Models, logs of cuBLAS, lists of products; a folder stands for the model in it")
      ->required()
      ->type_name("");
  add_count(shapes, "--batch", a.batch, kMostBatch, "Sequences in a batch; default: 8");
  add_count(shapes, "--sequence", a.sequence, kMostSequence,
            "Tokens of a sequence; default: 1024, or the model's most");
  add_count(shapes, "--cached", a.cached, kMostCached,
            "Tokens of each sequence in the KV cache: attention sees them and the new ones; default: none");
  add_count(shapes, "--tensor-parallel", a.tensor_parallel, kMostRanks,
            "Ranks that share every layer; default: 1");
  shapes.add_flag("--backward", a.backward, "Also the products of the backward pass")->excludes("--cached");
  shapes.add_flag("--last-logits", a.last_logits, "The output head on the last token of each sequence only");
  add_count(shapes, "--heads", a.heads, kMostHeads,
            "Attention heads, where a file has weights but no config.json beside it");
  shapes
      .add_option("--axis", a.axes,
                  "Size of a dynamic axis of an ONNX graph: height=224, or input:2=224 for an input's third")
      ->type_name("NAME=N")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->check(CLI::Validator(check_axis, ""));
  add_choice(shapes, "--dtype", a.dtype, "Type of the products; default: the file's, bf16 where it is fp32");
  shapes.add_option("--gpu", a.gpu, "The GPU to run on; `fullwarp gpus` lists them")
      ->type_name("NAME")
      ->capture_default_str();
  add_choice(shapes, "--format", a.format, "Form of the report");
  shapes.add_option("--output", a.output, "Write the report to a file")->type_name("FILE");
  shapes.add_option("--picture", a.picture, "Draw time against a number to a file (SVG)")->type_name("FILE");
  shapes
      .add_option("--number", a.number,
                  "The number to draw: vocab_size, 50257; default: that which gains most")
      ->type_name("NAME");
  add_count(shapes, "--rows", a.rows, 1'000'000, "Lines of the table of operations; default: 30");
  add_choice(shapes, "--fail-on", a.fail_on, "Level from which findings make the exit code 1");
  add_choice(shapes, "--color", a.colour,
             "Colours in text; auto: where the terminal has them and NO_COLOR is not set");
  shapes.footer(kFooter);
}

int run_shapes(const ShapesArguments& arguments, const Streams& streams) {
  const Result<const gpu::Gpu*> gpu = gpu::gpu_named(arguments.gpu);
  if (!gpu) {
    streams.err << gpu.error().to_string() << "\n";
    return kUnusable;
  }
  Outcome outcome = judge(arguments, **gpu);
  if (!arguments.picture.empty() && !outcome.advices.empty())
    if (const Status drawn = draw(outcome, arguments.picture); !drawn)
      outcome.errors.push_back(drawn.error());
  for (const Error& error : outcome.errors) streams.err << error.to_string() << "\n";
  const bool colour = arguments.colour == "always" ||
                      (arguments.colour == "auto" && streams.out_colour && arguments.output.empty());
  const std::string text = render(outcome, arguments, colour);
  if (arguments.output.empty()) {
    streams.out << text << std::flush;
  } else if (const Status written = write_file(arguments.output, text); !written) {
    streams.err << written.error().to_string() << "\n";
    return kUnusable;
  }
  return exit_code(outcome.advices, !outcome.errors.empty(), arguments.fail_on);
}

}  // namespace fullwarp::cli
