// PTX text to the tree of module.h. A broken file gives one error with its place; an instruction or form that
// the table (instructions.def) does not have makes its function unusable, not the file: it is listed in
// Module::unsupported. Memory is bounded by the size of the text, whatever the text says.
//
//   Result<ptx::Module> module = ptx::parse_file("kernel.ptx");
//   if (!module) return module.error();
#pragma once

#include <string>

#include "base/result.h"
#include "ptx/module.h"

namespace fullwarp::ptx {

// `path` is for messages only. The module owns the text.
Result<Module> parse(std::string text, std::string path);
Result<Module> parse_file(const std::string& path);

}  // namespace fullwarp::ptx
