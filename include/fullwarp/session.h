// Load a program, give it buffers, launch its kernels, read counters, findings and results:
//
//   fullwarp::Result<fullwarp::Program> program = fullwarp::Program::load("copy.ptx");
//   fullwarp::Session session(*program);
//   session.define<float>("in", values);
//   fullwarp::Result<fullwarp::report::KernelReport> kernel =
//       session.launch("copy<<<4, 256>>>(in, f32[1024], 1024)");
//
// No function here throws or prints; errors are values with file, line and cause. A Session is for one thread
// at a time; the kernels themselves run on all cores. Sessions may share a Program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "fullwarp/check.h"
#include "report/report.h"

namespace fullwarp {

struct LoadOptions {
  std::string gpu = "h200";  // what a .cu file is compiled for
  std::string compiler;      // empty: nvcc where there is one, else the newest clang
  std::vector<std::string> compiler_flags;
  std::vector<std::string>
      instantiations;  // "scan<float, 128>": kernels the file itself does not instantiate
  // Where there is a ptxas, a .cu file's accesses, registers and spills are those of its machine code. True:
  // a .ptx file's too. Cost: ptxas's time (20 to 90 ms for a file of the gallery), once; cached.
  bool assemble_ptx = false;
};

class Program {
 public:
  // A .cu file (cost: the compiler's time, once; compiled PTX is cached) or a .ptx file.
  static Result<Program> load(const std::string& path, const LoadOptions& options = {});
  static Result<Program> from_ptx(std::string text, const std::string& name = "program.ptx");

  std::vector<std::string> kernels() const;  // as launches name them: "scan<float, 128>"

 private:
  friend class Session;
  struct Impl;
  explicit Program(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

namespace detail {
// The name of an element type in launch statements; empty for a type that is none.
template <class T>
constexpr std::string_view element_type_name() {
  if constexpr (std::is_same_v<T, float>) return "f32";
  if constexpr (std::is_same_v<T, double>) return "f64";
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    constexpr std::string_view kSigned[] = {"i8", "i16", "", "i32", "", "", "", "i64"};
    constexpr std::string_view kUnsigned[] = {"u8", "u16", "", "u32", "", "", "", "u64"};
    return (std::is_signed_v<T> ? kSigned : kUnsigned)[sizeof(T) - 1];
  }
  return {};
}
}  // namespace detail

class Session {
 public:
  // `options`: gpu, blocks, threads, step_limit, race_check, rules and settings are used.
  explicit Session(const Program& program, const CheckOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Makes a buffer of values.size() elements, or overwrites the one of that name, type and size.
  template <class T>
  Status define(const std::string& name, std::span<const std::type_identity_t<T>> values) {
    static_assert(!detail::element_type_name<T>().empty(), "not an element type of launch statements");
    return define_bytes(name, detail::element_type_name<T>(), std::as_bytes(values));
  }

  // The values of a buffer, as they stand now.
  template <class T>
  Result<std::vector<T>> read(const std::string& name) const {
    static_assert(!detail::element_type_name<T>().empty(), "not an element type of launch statements");
    const Result<std::span<const std::byte>> bytes = read_bytes(name, detail::element_type_name<T>());
    if (!bytes) return bytes.error();
    std::vector<T> values(bytes->size() / sizeof(T));
    for (size_t i = 0; i < bytes->size(); ++i) std::as_writable_bytes(std::span(values))[i] = (*bytes)[i];
    return values;
  }

  // One launch statement. An Error: it could not run. What is wrong inside the kernel is a finding.
  Result<report::KernelReport> launch(std::string_view statement);

  // Any statements (buffers, launches, expect, save, print). Errors stand in the report.
  report::Report run(std::string_view statements);

 private:
  Status define_bytes(const std::string& name, std::string_view type, std::span<const std::byte> bytes);
  Result<std::span<const std::byte>> read_bytes(const std::string& name, std::string_view type) const;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fullwarp
