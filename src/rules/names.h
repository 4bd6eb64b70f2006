// Names of files and functions as findings show them.
//
// What belongs to a toolkit or a compiler, and not to the author of a kernel. An instruction of an inlined
// toolkit function (`grid.sync()`, `__half2float`, `barrier.arrive_and_wait()`) stands on a line of a header
// that its reader can neither change nor suppress; a finding then belongs on the line that called it.
#pragma once

#include <string>
#include <string_view>

namespace fullwarp::rules {

// By its path alone, since a PTX file may come from another machine: CUDA's, CCCL's, clang's and fullwarp's
// own headers, and what lies under the system's include folders.
bool is_toolkit_file(std::string_view path);

// The last part of a name: "tile" for _ZZ9transposePKfPfiE4tile; the name itself where it is not mangled.
std::string source_name(std::string_view mangled);

// A function as a reader writes it: "cuda::barrier::arrive_and_wait" for its mangled name, without return
// type, template arguments, parameters and inline namespaces (`__4`, `__v1`). The name itself where it is not
// mangled.
std::string function_name(std::string_view mangled);

}  // namespace fullwarp::rules
