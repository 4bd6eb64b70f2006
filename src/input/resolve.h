// Launch statements against the kernels of a module: which one is meant, what its parameters are called, and
// the bytes that a launch's arguments become.
//
//   std::vector<KernelInfo> kernels = kernels_of(module, source_text);
//   Result<size_t> index = find_kernel(kernels, launch.kernel);
//   Result<std::vector<std::byte>> bytes = pack_arguments(kernels[*index], launch, memory);
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "input/cpp_names.h"
#include "input/launch.h"
#include "ptx/module.h"

namespace fullwarp::input {

// PTX from Triton, Numba and other languages gives its parameters no C++ types, and a pointer there is a .u64
// like a length: what the kernel does with the value tells them apart.
enum class Use : uint8_t { unknown, none, number, address };

struct ParameterInfo {
  std::string type;  // C++ ("float const*"); empty where neither mangled name nor source says it
  std::string name;  // from the source; may be empty
  ptx::Type ptx_type = ptx::Type::none;
  bool is_struct = false;                     // an array of bytes in PTX
  Use use = Use::unknown;                     // what the kernel does with 64 bits whose type nothing says
  uint32_t offset = 0, bytes = 0, align = 1;  // in the parameter block
};

struct KernelInfo {
  int32_t function = -1;  // index in Module::functions
  std::string mangled;
  std::string name;       // demangled, without parameters: "ns::scan<float, 128>"
  std::string signature;  // "ns::scan<float, 128>(const float* in, float* out, int n)"
  FunctionName parts;
  std::vector<ParameterInfo> parameters;
  uint32_t parameter_bytes = 0;
  Dim3 block{256, 1, 1};        // to start from: `.reqntid` where the kernel asks for one
  bool dynamic_shared = false;  // names an `extern __shared__` array
};

// Every kernel of the module. `source`: its text, if it came from a source, for the parameters' names.
std::vector<KernelInfo> kernels_of(const ptx::Module& module, std::string_view source = {});

// The kernel that a launch names: in full, or by the part that no other kernel shares (namespaces, of
// template arguments too, and template arguments at the end may be left out; `k(int*)` chooses an overload).
// The error lists what there is.
Result<size_t> find_kernel(const std::vector<KernelInfo>& kernels, std::string_view written);

// A launch statement to start from; it parses, and gives every parameter a value of its type.
std::string example_launch(const KernelInfo& kernel);

// The same as statements to edit, a line each: the values under the parameters' names, then the launch. Just
// the launch where the names are not known or cannot be used.
std::vector<std::string> example_statements(const KernelInfo& kernel);

// For a kernel that no statement launches: its signature and an example. `others`: how many more
// instantiations of the same template there are.
Error not_launched(const KernelInfo& kernel, const std::string& file, size_t others = 0);

// For a file with no kernel at all: what it may be, with the templates that nothing instantiates.
Error no_kernels(const std::string& file, std::string_view source);

// The module-scope .global or .const variable of that name, or -1.
int32_t find_symbol(const ptx::Module& module, std::string_view written);

// Device memory as packing needs it. `label` is what to call a buffer that stands in place: the parameter's
// name, or "argument 2".
struct BufferAddress {
  uint64_t address = 0;  // of element 0
  ElementType type = ElementType::f32;
};
struct ArgumentMemory {
  std::function<Result<BufferAddress>(const BufferArgument&, const std::string& label)> buffer;
  std::function<Result<uint64_t>(std::span<const uint64_t> addresses, const std::string& label)>
      pointer_array;
};

// The kernel's parameter block. Errors name the parameter and carry the argument's column.
Result<std::vector<std::byte>> pack_arguments(const KernelInfo& kernel, const KernelLaunch& launch,
                                              const ArgumentMemory& memory);

}  // namespace fullwarp::input
