// Runs the toolkit's ptxas where there is one, and compares what machine_accesses says with the machine code.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cubin/cubin.h"
#include "model/machine_accesses.h"
#include "ptx/module.h"

namespace fullwarp::model {

inline std::optional<std::string> find_ptxas() {
  std::vector<std::string> folders = {"/usr/local/cuda/bin"};
  std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');) folders.push_back(folder);
  for (const std::string& folder : folders)
    if (access((folder + "/ptxas").c_str(), X_OK) == 0) return folder + "/ptxas";
  return std::nullopt;
}

inline Result<cubin::Cubin> assemble(const std::string& ptx, unsigned sm) {
  std::string folder = (std::filesystem::temp_directory_path() / "fullwarp-ptxas-XXXXXX").string();
  if (!mkdtemp(folder.data())) return Error{"cannot make a temporary folder"};
  std::ofstream(folder + "/in.ptx") << ptx;
  const std::string command = *find_ptxas() + " -arch=sm_" + std::to_string(sm) + " --generate-line-info " +
                              folder + "/in.ptx -o " + folder + "/out.cubin 2>" + folder + "/messages";
  const int status = std::system(command.c_str());
  std::ifstream file(folder + (status ? "/messages" : "/out.cubin"), std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  std::filesystem::remove_all(folder);
  if (status) return Error{bytes.str()};
  return cubin::parse_cubin(bytes.str(), "out.cubin");
}

struct Difference {
  uint32_t line = 0;
  std::string text;
};

// Lines on which the operations of the machine code are not those of `accesses`, or a multiple (ptxas unrolls
// loops). Operations that ptxas lists under the line of another member of their window are looked for there.
inline std::vector<Difference> compare(const ptx::Module& module, int32_t function,
                                       const cubin::Kernel& kernel,
                                       const cubin::Kernel* machine_code = nullptr) {
  const ptx::Function& f = module.functions[static_cast<size_t>(function)];
  const std::vector<MachineAccess> accesses = machine_accesses(module, function, machine_code);
  std::map<uint32_t, std::map<uint32_t, uint32_t>> ours, theirs;  // line -> width -> operations
  for (const cubin::MachineInstruction& i : kernel.code)
    if (i.op.kind != cubin::MachineKind::other) ++theirs[i.ptx_line][i.op.width_bytes];
  for (size_t n = 0; n < accesses.size(); ++n) {
    const MachineAccess& a = accesses[n];
    if (a.width_bytes == 0 && !a.removed) continue;
    auto& line = ours[f.instructions[n].line];
    if (a.counts()) line[a.width_bytes] += a.split_offset_bytes == MachineAccess::kNoSplit ? 1 : 2;
  }
  std::vector<Difference> out;
  for (auto& [line, widths] : ours) {
    bool same = widths.size() == theirs[line].size();
    for (const auto& [width, count] : widths)
      same &= theirs[line].contains(width) && theirs[line][width] % count == 0;
    if (same) continue;
    const auto before = ours.find(line) == ours.begin() ? ours.end() : std::prev(ours.find(line));
    const bool listed_before = theirs[line].empty() && widths.size() == 1 && before != ours.end() &&
                               theirs[before->first][widths.begin()->first] >= 2;
    if (listed_before) continue;
    Difference d{line, "rules say"};
    for (const auto& [width, count] : widths)
      d.text += " " + std::to_string(count) + "x" + std::to_string(8 * width);
    d.text += ", the machine code has";
    for (const auto& [width, count] : theirs[line])
      d.text += " " + std::to_string(count) + "x" + std::to_string(8 * width);
    out.push_back(std::move(d));
  }
  return out;
}

}  // namespace fullwarp::model
