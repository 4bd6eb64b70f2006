// Runs launch statements on a real GPU: what `fullwarp check` executes, done by the hardware.
//
//   fullwarp_launcher [--outputs FILE] [--launches FILE] [--raw FOLDER] [--dry-run] LIST
//
// Each line of LIST names three files: the source with the launch comments, its PTX (for the kernels'
// parameters), and the image to load (that PTX, or a cubin made from it). Buffers and argument blocks are
// made by the checker's own code, so both sides start from the same bytes; the addresses in them, which name
// windows of the checker's synthetic memory, are then exchanged for the GPU's:
//
//     parameter block   [ window 17 | offset 8 ] [ 1024 ] ...      as the checker sees it
//                       [ 0x7f32c0200008       ] [ 1024 ] ...      as the GPU gets it
//
// Nothing is compared here. Every buffer is written out after the file's last launch: a line with its hash in
// the CSV, and with --raw its bytes. A CUDA error ends the program with exit code 3, because nothing can run
// in that process any more; what was done before is written. hw/measure.py drives this program.
#include <cuda.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "api/buffers.h"
#include "api/workspace.h"
#include "input/launch.h"
#include "input/resolve.h"
#include "ptx/parser.h"

namespace fullwarp::hw {
namespace {

// Accesses beyond a buffer's end (examples/mistakes) must not reach another buffer: the checker has them read
// 0 and write nowhere.
constexpr size_t kGuardBytes = 1 << 20;
constexpr size_t kStackBytes = 16 << 10;  // for examples/algorithms/quicksort.cu
constexpr unsigned kDynamicSharedWithoutOptIn = 48 << 10;

struct Job {
  std::string source, ptx, image;
};

struct Options {
  std::string list, outputs, launches, raw;
  bool dry_run = false;
};

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{"cannot read the file", path};
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

Status check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return Ok{};
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  return Error{std::string(what) + ": " + (name != nullptr ? name : "unknown error") + " (" +
               std::to_string(static_cast<int>(result)) + ")"};
}

// A text for a CSV field.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// The buffers of one file on the GPU, by their index in the checker's device memory.
class GpuBuffers {
 public:
  explicit GpuBuffers(api::Workspace& workspace) : workspace_(workspace) {}

  // Brings buffers that were made since the last call onto the GPU.
  Status upload_new(CUmodule module) {
    const exec::DeviceMemory& memory = workspace_.memory();
    for (size_t i = addresses_.size(); i < memory.size(); ++i) {
      addresses_.push_back(0);
      const exec::Buffer& buffer = memory.buffer(i);
      if (buffer.variable >= 0) {
        size_t bytes = 0;
        const Status found =
            check(cuModuleGetGlobal(&addresses_[i], &bytes, module, buffer.name.c_str()), "symbol");
        if (!found) addresses_[i] = 0;  // the compiler may remove a variable, or keep it local
        continue;
      }
      CUdeviceptr start = 0;
      const size_t bytes = buffer.bytes + 2 * kGuardBytes;
      if (Status made = check(cuMemAlloc(&start, bytes), "cuMemAlloc"); !made) return made;
      if (Status cleared = check(cuMemsetD8(start, 0, bytes), "cuMemsetD8"); !cleared) return cleared;
      addresses_[i] = start + kGuardBytes;
      if (Status copied = upload(i); !copied) return copied;
    }
    return Ok{};
  }

  Status upload(size_t index) {
    const exec::Buffer& buffer = workspace_.memory().buffer(index);
    if (buffer.bytes == 0) return Ok{};
    std::vector<std::byte> bytes(buffer.data.get(), buffer.data.get() + buffer.bytes);
    const api::TypedBuffer typed = workspace_.typed(index);
    if (typed.type == input::ElementType::u64 && is_pointer_table(bytes)) relocate(bytes);
    return check(cuMemcpyHtoD(addresses_[index], bytes.data(), bytes.size()), "cuMemcpyHtoD");
  }

  // Exchanges every aligned 8-byte word that is an address of the checker's.
  void relocate(std::span<std::byte> bytes) const {
    for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, &bytes[at], 8);
      const int64_t index = index_of(word);
      if (index < 0) continue;
      // Pointers a little below a buffer's start have the window before; none of the gallery has one.
      word = addresses_[static_cast<size_t>(index)] + exec::offset_of(word);
      std::memcpy(&bytes[at], &word, 8);
    }
  }

  Result<std::vector<std::byte>> download(size_t index) const {
    std::vector<std::byte> bytes(workspace_.memory().buffer(index).bytes);
    if (bytes.empty() || addresses_[index] == 0) return bytes;
    if (Status copied = check(cuMemcpyDtoH(bytes.data(), addresses_[index], bytes.size()), "cuMemcpyDtoH");
        !copied)
      return copied.error();
    return bytes;
  }

  bool on_gpu(size_t index) const { return addresses_[index] != 0; }

  void release() {
    for (size_t i = 0; i < addresses_.size(); ++i) {
      if (addresses_[i] != 0 && workspace_.memory().buffer(i).variable < 0)
        cuMemFree(addresses_[i] - kGuardBytes);
    }
    addresses_.clear();
  }

 private:
  int64_t index_of(uint64_t address) const {
    const uint64_t window = exec::window_of(address);
    const bool known =
        window >= exec::kFirstBufferWindow && window - exec::kFirstBufferWindow < addresses_.size();
    return known ? static_cast<int64_t>(window - exec::kFirstBufferWindow) : -1;
  }
  bool is_pointer_table(std::span<const std::byte> bytes) const {
    bool any = false;
    for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, &bytes[at], 8);
      if (word != 0 && index_of(word) < 0) return false;
      any = any || word != 0;
    }
    return any;
  }

  api::Workspace& workspace_;
  std::vector<CUdeviceptr> addresses_;
};

class FileRun {
 public:
  FileRun(const Job& job, const Options& options, std::FILE* outputs, std::FILE* launches, unsigned& sequence)
      : job_(job),
        options_(options),
        outputs_(outputs),
        launches_(launches),
        sequence_(sequence),
        gpu_(workspace_) {}

  Status run() {
    Result<std::string> source = read_file(job_.source);
    if (!source) return source.error();
    Result<input::Script> script = input::launches_in_source(*source, job_.source);
    if (!script) return script.error();
    input::assign_default_seeds(&*script);
    Result<ptx::Module> module = ptx::parse_file(job_.ptx);
    if (!module) return module.error();
    module_ = &*module;
    kernels_ = input::kernels_of(*module, *source);
    if (Status loaded = workspace_.load(*module); !loaded) return loaded;
    if (!options_.dry_run) {
      const Result<std::string> image = read_file(job_.image);
      if (!image) return image.error();
      if (Status loaded = check(cuModuleLoadData(&cu_module_, image->c_str()), "cuModuleLoadData"); !loaded)
        return loaded;
    }
    base_dir_ = std::filesystem::path(job_.source).parent_path().string();
    for (const input::Statement& statement : *script) {
      Status done =
          std::visit([&](const auto& value) { return run_value(value, statement); }, statement.value);
      if (done) continue;
      Error error = done.error();
      if (error.file.empty()) error.file = statement.file, error.line = statement.line;
      return error;
    }
    Status written = write_outputs();
    if (!options_.dry_run) {
      gpu_.release();
      cuModuleUnload(cu_module_);
    }
    return written;
  }

 private:
  Status run_value(const input::DefineBuffer& define, const input::Statement&) {
    return workspace_.define(define.name, define.spec, base_dir_);
  }

  Status run_value(const input::SetSymbol& symbol, const input::Statement&) {
    if (Status set = workspace_.set_symbol(symbol, base_dir_); !set || options_.dry_run) return set;
    if (Status uploaded = gpu_.upload_new(cu_module_); !uploaded) return uploaded;
    const int64_t index = workspace_.memory().find_variable(input::find_symbol(*module_, symbol.symbol));
    return gpu_.upload(static_cast<size_t>(index));
  }

  Status run_value(const input::KernelLaunch& launch, const input::Statement& statement) {
    const Result<size_t> found = input::find_kernel(kernels_, launch.kernel);
    if (!found) return found.error();
    const ptx::Function& kernel = module_->functions[static_cast<size_t>(kernels_[*found].function)];
    Result<std::vector<std::byte>> block =
        input::pack_arguments(kernels_[*found], launch, workspace_.argument_memory(base_dir_));
    if (!block) return block.error();
    if (options_.dry_run) return log_launch(launch, statement, kernels_[*found].name, "not run");
    if (Status uploaded = gpu_.upload_new(cu_module_); !uploaded) return uploaded;
    gpu_.relocate(*block);
    Status launched = start(launch, std::string(kernel.name), *block);
    Status logged =
        log_launch(launch, statement, kernels_[*found].name, launched ? "" : launched.error().message);
    return launched ? logged : launched;
  }

  Status run_value(const input::Expect&, const input::Statement&) { return Ok{}; }
  Status run_value(const input::Save&, const input::Statement&) { return Ok{}; }
  Status run_value(const input::Print&, const input::Statement&) { return Ok{}; }

  Status start(const input::KernelLaunch& launch, const std::string& name, std::vector<std::byte>& block) {
    CUfunction function = nullptr;
    if (Status got = check(cuModuleGetFunction(&function, cu_module_, name.c_str()), "cuModuleGetFunction");
        !got)
      return got;
    const auto dynamic = static_cast<unsigned>(launch.dynamic_shared_bytes);
    if (dynamic > kDynamicSharedWithoutOptIn) {
      Status set = check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                            static_cast<int>(dynamic)),
                         "cuFuncSetAttribute");
      if (!set) return set;
    }
    size_t bytes = block.size();
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, block.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    Status launched =
        check(cuLaunchKernel(function, launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x,
                             launch.block.y, launch.block.z, dynamic, nullptr, nullptr, extra),
              "cuLaunchKernel");
    if (!launched) return launched;
    return check(cuCtxSynchronize(), "kernel");
  }

  Status log_launch(const input::KernelLaunch& launch, const input::Statement& statement,
                    const std::string& kernel, const std::string& error) {
    const Dim3 g = launch.grid, b = launch.block;
    std::fprintf(launches_, "%u,%s,%u,%s,%ux%ux%u,%ux%ux%u,%" PRIu64 ",%s\n", sequence_++,
                 job_.source.c_str(), statement.line, quoted(kernel).c_str(), g.x, g.y, g.z, b.x, b.y, b.z,
                 launch.dynamic_shared_bytes, quoted(error).c_str());
    std::fflush(launches_);
    return Ok{};
  }

  Status write_outputs() {
    for (size_t i = 0; i < workspace_.memory().size(); ++i) {
      const api::TypedBuffer typed = workspace_.typed(i);
      std::vector<std::byte> bytes(workspace_.bytes(typed).begin(), workspace_.bytes(typed).end());
      if (!options_.dry_run) {
        if (!gpu_.on_gpu(i)) continue;
        Result<std::vector<std::byte>> read = gpu_.download(i);
        if (!read) return read.error();
        bytes = std::move(*read);
      }
      std::fprintf(outputs_, "%s,%s,%s,%" PRIu64 ",%016" PRIx64 "\n", job_.source.c_str(),
                   quoted(typed.name).c_str(), std::string(input::to_string(typed.type)).c_str(), typed.count,
                   api::fnv1a64(bytes));
      if (options_.raw.empty()) continue;
      std::string name = job_.source + "." + typed.name + ".raw";
      for (char& c : name) c = c == '/' || c == ' ' ? '+' : c;
      std::ofstream(std::filesystem::path(options_.raw) / name, std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    std::fflush(outputs_);
    return Ok{};
  }

  const Job& job_;
  const Options& options_;
  std::FILE* outputs_;
  std::FILE* launches_;
  unsigned& sequence_;
  api::Workspace workspace_;
  GpuBuffers gpu_;
  const ptx::Module* module_ = nullptr;
  std::vector<input::KernelInfo> kernels_;
  CUmodule cu_module_ = nullptr;
  std::string base_dir_;
};

Status start_gpu() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  if (Status done = check(cuInit(0), "cuInit"); !done) return done;
  if (Status done = check(cuDeviceGet(&device, 0), "cuDeviceGet"); !done) return done;
  if (Status done = check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain"); !done)
    return done;
  if (Status done = check(cuCtxSetCurrent(context), "cuCtxSetCurrent"); !done) return done;
  return check(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, kStackBytes), "cuCtxSetLimit");
}

Result<std::vector<Job>> read_list(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return text.error();
  std::vector<Job> jobs;
  std::istringstream lines(*text);
  Job job;
  while (lines >> job.source >> job.ptx >> job.image) jobs.push_back(job);
  return jobs;
}

std::FILE* open_csv(const std::string& path, const char* header) {
  std::FILE* file = path.empty() ? stdout : std::fopen(path.c_str(), "w");
  if (file != nullptr) std::fprintf(file, "%s\n", header);
  return file;
}

int run(const Options& options) {
  const Result<std::vector<Job>> jobs = read_list(options.list);
  if (!jobs) {
    std::fprintf(stderr, "%s\n", jobs.error().to_string().c_str());
    return 2;
  }
  std::FILE* outputs = open_csv(options.outputs, "file,buffer,type,count,fnv1a64");
  std::FILE* launches =
      open_csv(options.launches, "sequence,file,line,kernel,grid,block,dynamic_shared_bytes,error");
  if (outputs == nullptr || launches == nullptr) {
    std::fprintf(stderr, "error: cannot write the CSV files\n");
    return 2;
  }
  if (!options.dry_run) {
    if (const Status started = start_gpu(); !started) {
      std::fprintf(stderr, "%s\n", started.error().to_string().c_str());
      return 3;
    }
  }
  int code = 0;
  unsigned sequence = 0;
  for (const Job& job : *jobs) {
    const Status done = FileRun(job, options, outputs, launches, sequence).run();
    if (done) continue;
    std::fprintf(stderr, "%s\n", done.error().to_string().c_str());
    code = 2;
    if (!options.dry_run && cuCtxSynchronize() != CUDA_SUCCESS) return 3;  // the context is lost
  }
  return code;
}

}  // namespace
}  // namespace fullwarp::hw

int main(int argc, char** argv) {
  fullwarp::hw::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool more = i + 1 < argc;
    if (argument == "--outputs" && more) {
      options.outputs = argv[++i];
    } else if (argument == "--launches" && more) {
      options.launches = argv[++i];
    } else if (argument == "--raw" && more) {
      options.raw = argv[++i];
    } else if (argument == "--dry-run") {
      options.dry_run = true;
    } else if (options.list.empty() && argument.substr(0, 2) != "--") {
      options.list = argument;
    } else {
      std::fprintf(stderr, "error: unknown argument '%s'\n", argv[i]);
      return 2;
    }
  }
  if (options.list.empty()) {
    std::fprintf(
        stderr,
        "usage: fullwarp_launcher [--outputs FILE] [--launches FILE] [--raw FOLDER] [--dry-run] LIST\n");
    return 2;
  }
  return fullwarp::hw::run(options);
}
