// Runs small PTX kernels on the engine. Two levels:
//
//   Kernel     a whole kernel: buffers by name become `.param .u64` parameters in the order they are made.
//   apply()    one instruction (or a few) over a table of operands, a thread for each row: registers %a,
//              %b, %c hold the operands, %d the result; %p, %q (predicates), %r, %s (b32), %rd, %sd (b64),
//              %h, %g (b16), %f, %e (f32) and %fd (f64) are free.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "exec/exec.h"
#include "ptx/parser.h"

namespace fullwarp::exec::test {

inline constexpr const char* kScratchRegisters =
    ".reg .pred %p, %q; .reg .b32 %r, %s; .reg .b64 %rd, %sd; .reg .b16 %h, %g; .reg .f32 %f, %e; .reg .f64 "
    "%fd;\n";

class Kernel {
 public:
  // What stands between the braces of the kernel; `before` holds what stands before it in the file.
  explicit Kernel(std::string body, std::string before = "")
      : body_(std::move(body)), before_(std::move(before)) {}

  // A parameter that points to a buffer of these values; [name] in the text.
  template <class T>
  Kernel& buffer(const std::string& name, const std::vector<T>& values) {
    buffers_.push_back({name, std::vector<std::byte>(values.size() * sizeof(T))});
    if (!values.empty()) std::memcpy(buffers_.back().bytes.data(), values.data(), values.size() * sizeof(T));
    return *this;
  }
  Kernel& grid(Dim3 grid) {
    grid_ = grid;
    return *this;
  }
  Kernel& block(Dim3 block) {
    block_ = block;
    return *this;
  }
  Kernel& dynamic_shared(uint64_t bytes) {
    dynamic_shared_ = bytes;
    return *this;
  }

  // Runs it; what went wrong before execution is in `error`.
  profile::KernelProfile run(const Options& options = {}) {
    std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n" + before_ + "\n.visible .entry k(";
    for (size_t i = 0; i < buffers_.size(); ++i)
      text += (i ? ", .param .u64 " : ".param .u64 ") + buffers_[i].name;
    text += ")\n{\n" + body_ + "\n}\n";
    error.clear();
    Result<ptx::Module> parsed = ptx::parse(text, "test.ptx");
    if (!parsed) {
      error = parsed.error().to_string();
      return {};
    }
    module_ = std::make_unique<ptx::Module>(std::move(*parsed));
    for (const ptx::Unsupported& u : module_->unsupported) {
      error = u.message;
      return {};
    }
    memory_ = DeviceMemory();
    const Status loaded = memory_.load_module(*module_);
    if (!loaded.ok()) {
      error = loaded.error().to_string();
      return {};
    }
    Launch& launch = launch_;
    launch = Launch{};
    launch.function = module_->find_function("k");
    launch.grid = grid_;
    launch.block = block_;
    launch.dynamic_shared_bytes = dynamic_shared_;
    launch.parameters.resize(8 * buffers_.size());
    for (size_t i = 0; i < buffers_.size(); ++i) {
      Result<uint64_t> address = memory_.allocate(buffers_[i].name, buffers_[i].bytes.size());
      if (!address) {
        error = address.error().to_string();
        return {};
      }
      std::memcpy(launch.parameters.data() + 8 * i, &*address, 8);
      Buffer& at = memory_.buffer(memory_.size() - 1);
      if (!buffers_[i].bytes.empty())
        std::memcpy(at.data.get(), buffers_[i].bytes.data(), buffers_[i].bytes.size());
    }
    return run_again(options);
  }

  // After run(): once more, on what it has left in the buffers.
  profile::KernelProfile run_again(const Options& options = {}) {
    Result<profile::KernelProfile> profile = fullwarp::exec::run(*module_, memory_, launch_, options);
    if (!profile) {
      error = profile.error().to_string();
      return {};
    }
    return std::move(*profile);
  }

  // Runs it and expects neither an error nor a fault.
  profile::KernelProfile run_clean(const Options& options = {}) {
    profile::KernelProfile profile = run(options);
    EXPECT_EQ(error, "");
    for (const profile::Fault& f : profile.faults)
      ADD_FAILURE() << "fault " << static_cast<int>(f.kind) << " at instruction " << f.instruction.index
                    << ": " << f.object << ' ' << f.detail;
    return profile;
  }

  template <class T>
  std::vector<T> values(const std::string& name) const {
    const int64_t index = memory_.find(name);
    if (index < 0) return {};
    const Buffer& buffer = memory_.buffer(static_cast<size_t>(index));
    std::vector<T> result(buffer.bytes / sizeof(T));
    if (!result.empty()) std::memcpy(result.data(), buffer.data.get(), result.size() * sizeof(T));
    return result;
  }

  std::string error;

 private:
  struct Named {
    std::string name;
    std::vector<std::byte> bytes;
  };
  std::string body_, before_;
  std::vector<Named> buffers_;
  Dim3 grid_{1, 1, 1}, block_{32, 1, 1};
  uint64_t dynamic_shared_ = 0;
  std::unique_ptr<ptx::Module> module_;
  DeviceMemory memory_;
  Launch launch_;
};

struct Nothing {};  // no such operand

namespace detail {

inline std::string bits_type(size_t bytes) { return ".b" + std::to_string(8 * bytes); }

template <class T>
void operand(std::string& declare, std::string& load, const char* name, const char* buffer) {
  if constexpr (!std::is_same_v<T, Nothing>) {
    const std::string type = bits_type(sizeof(T));
    declare += ".reg " + bits_type(std::max<size_t>(sizeof(T), 2)) + " %" + name + ";\n";
    load += "ld.param.u64 %at, [" + std::string(buffer) + "];\nmad.lo.u64 %at, %i, " +
            std::to_string(sizeof(T)) + ", %at;\nld.global" + type + " %" + name + ", [%at];\n";
  }
}

}  // namespace detail

// Every row of the operands through `code`; registers have the operands' widths, 8-bit ones 16 bits.
template <class D, class A, class B = Nothing, class C = Nothing>
std::vector<D> apply(const std::string& code, const std::vector<A>& a, const std::vector<B>& b = {},
                     const std::vector<C>& c = {}) {
  std::string declare =
      std::string(".reg .b64 %at, %i; .reg .b32 %t, %n, %m; .reg .pred %in;\n") + kScratchRegisters;
  std::string load =
      "mov.u32 %t, %tid.x; mov.u32 %n, %ctaid.x; mov.u32 %m, %ntid.x;\nmad.lo.u32 %t, %n, %m, %t;\n"
      "cvt.u64.u32 %i, %t;\nsetp.ge.u32 %in, %t, " +
      std::to_string(a.size()) + ";\n@%in bra $done;\n";
  detail::operand<A>(declare, load, "a", "buffer_a");
  detail::operand<B>(declare, load, "b", "buffer_b");
  detail::operand<C>(declare, load, "c", "buffer_c");
  declare += ".reg " + detail::bits_type(std::max<size_t>(sizeof(D), 2)) + " %d;\n";
  const std::string store = "ld.param.u64 %at, [buffer_d];\nmad.lo.u64 %at, %i, " +
                            std::to_string(sizeof(D)) + ", %at;\nst.global" + detail::bits_type(sizeof(D)) +
                            " [%at], %d;\n";
  Kernel kernel(declare + load + code + "\n" + store + "$done:\nret;");
  kernel.buffer("buffer_d", std::vector<D>(a.size())).buffer("buffer_a", a);
  if constexpr (!std::is_same_v<B, Nothing>) kernel.buffer("buffer_b", b);
  if constexpr (!std::is_same_v<C, Nothing>) kernel.buffer("buffer_c", c);
  kernel.grid({static_cast<uint32_t>((a.size() + 63) / 64), 1, 1}).block({64, 1, 1});
  SCOPED_TRACE(code);
  kernel.run_clean();
  return kernel.values<D>("buffer_d");
}

}  // namespace fullwarp::exec::test
