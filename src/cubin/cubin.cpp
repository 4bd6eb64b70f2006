// See cubin.h. Kernel K stands in section .text.K; its resources in .nv.info (attributes by symbol),
// .nv.info.K and .nv.shared.K. In `.nv.info*` an attribute is a byte of format, a byte of name, two bytes of
// value or, for format 4, of the size of what follows.
#include "cubin/cubin.h"

#include <algorithm>
#include <unordered_map>

#include "cubin/bytes.h"
#include "cubin/elf.h"
#include "cubin/line_program.h"

namespace fullwarp::cubin {
namespace {

constexpr uint8_t kSized = 4;
constexpr uint8_t kFrameSize = 0x11, kParameterBytes = 0x19, kRegisterCount = 0x2f;
constexpr uint64_t kInstructionBytes = 16, kReservedSharedBytes = 1024;
constexpr uint64_t kFlagExecutable = 4;

constexpr std::string_view kText = ".text.", kShared = ".nv.shared.", kInfo = ".nv.info";

struct Attribute {
  uint8_t format = 0, name = 0;
  uint16_t value = 0;
  std::string_view data;
};

std::vector<Attribute> attributes(std::string_view data) {
  std::vector<Attribute> out;
  Bytes in(data);
  while (in.left() >= 4) {
    Attribute a;
    a.format = in.read<uint8_t>();
    a.name = in.read<uint8_t>();
    a.value = in.read<uint16_t>();
    if (a.format == kSized) {
      a.data = data.substr(in.at(), a.value);
      in.skip(a.value);
    }
    if (in.failed()) break;
    out.push_back(a);
  }
  return out;
}

using KernelIndex = std::unordered_map<std::string_view, Kernel*>;

void read_resources(const Elf& elf, const KernelIndex& kernels) {
  const auto kernel_named = [&](std::string_view name) {
    const auto found = kernels.find(name);
    return found == kernels.end() ? nullptr : found->second;
  };
  if (const Section* info = elf.find(kInfo))
    for (const Attribute& a : attributes(info->data)) {
      if (a.data.size() < 8) continue;
      Bytes in(a.data);
      const uint32_t symbol = in.read<uint32_t>(), value = in.read<uint32_t>();
      if (symbol >= elf.symbols.size()) continue;
      Kernel* kernel = kernel_named(elf.symbols[symbol].name);
      if (!kernel) continue;
      if (a.name == kRegisterCount) kernel->registers = value;
      if (a.name == kFrameSize) kernel->local_bytes = value;
    }
  // Since 9.0 the driver's kilobyte is part of the section.
  const uint64_t reserved = elf.find(".nv.shared.reserved.0") ? kReservedSharedBytes : 0;
  for (const Section& section : elf.sections) {
    if (section.name.starts_with(kShared))
      if (Kernel* kernel = kernel_named(section.name.substr(kShared.size())))
        kernel->shared_bytes = section.size > reserved ? section.size - reserved : 0;
    if (!section.name.starts_with(kInfo) || section.name.size() <= kInfo.size() + 1) continue;
    Kernel* kernel = kernel_named(section.name.substr(kInfo.size() + 1));
    if (!kernel || kernel->entry) continue;
    for (const Attribute& a : attributes(section.data)) {
      if (a.name != kParameterBytes) continue;
      kernel->entry = true;  // functions have no parameter bank
      kernel->parameter_bytes = a.value;
    }
  }
}

std::vector<MachineInstruction> read_code(std::string_view code, uint32_t sm) {
  std::vector<MachineInstruction> out;
  out.reserve(code.size() / kInstructionBytes);
  for (uint64_t at = 0; at + kInstructionBytes <= code.size(); at += kInstructionBytes) {
    Bytes in(code, at);
    const uint64_t low = in.read<uint64_t>(), high = in.read<uint64_t>();
    out.push_back({static_cast<uint32_t>(at), 0, decode_sass(low, high, sm)});
  }
  return out;
}

// A row holds for the addresses up to the next row. `work` bounds what overlapping rows may cost.
void apply_lines(const LineSequence& sequence, uint64_t base, Kernel& kernel, uint64_t& work) {
  for (size_t i = 0; i + 1 < sequence.rows.size(); ++i) {
    const LineRow& row = sequence.rows[i];
    const uint64_t begin = row.address - base, end = sequence.rows[i + 1].address - base;
    if (row.end || end < begin) continue;
    for (uint64_t at = (begin + kInstructionBytes - 1) / kInstructionBytes;
         at < kernel.code.size() && at * kInstructionBytes < end && work > 0; ++at, --work)
      kernel.code[at].ptx_line = row.line;
  }
  kernel.has_lines |= !sequence.rows.empty();
}

// NUL bytes stand for the ends of lines.
std::string ptx_text(std::string_view data) {
  std::string text(data);
  std::replace(text.begin(), text.end(), '\0', '\n');
  return text;
}

}  // namespace

const Kernel* Cubin::find(std::string_view name) const {
  for (const Kernel& kernel : kernels)
    if (kernel.name == name) return &kernel;
  return nullptr;
}

bool looks_like_cubin(std::string_view bytes) {
  if (!looks_like_elf(bytes) || bytes.size() < 20) return false;
  Bytes in(bytes, 18);
  return in.read<uint16_t>() == kMachineCuda;
}

Result<Cubin> parse_cubin(std::string_view bytes, const std::string& file) {
  Result<Elf> parsed = parse_elf(bytes, file);
  if (!parsed) return parsed.error();
  const Elf& elf = *parsed;
  if (elf.machine != kMachineCuda)
    return Error{.message = "an ELF file, but not one for an NVIDIA GPU", .file = file};

  Cubin cubin;
  // The SM moved by a byte with ABI version 8 (CUDA 13).
  cubin.sm = elf.abi_version >= 8 ? elf.flags >> 8 & 0xffff : elf.flags & 0xff;
  if (cubin.sm > 0 && cubin.sm < 70)
    return Error{.message = "a cubin for sm_" + std::to_string(cubin.sm) + ", older than sm_70",
                 .file = file,
                 .hint = "compile for sm_70 or later"};
  // Sections of an honest file do not overlap; the sums bound what others can make us copy.
  std::vector<size_t> kernel_of_section(elf.sections.size(), SIZE_MAX);
  uint64_t copied = 0;
  for (size_t i = 0; i < elf.sections.size(); ++i) {
    const Section& section = elf.sections[i];
    if (!(section.flags & kFlagExecutable) || !section.name.starts_with(kText)) continue;
    copied += section.data.size() + section.name.size();
    if (copied > bytes.size()) return Error{.message = "the sections of the cubin overlap", .file = file};
    kernel_of_section[i] = cubin.kernels.size();
    Kernel& kernel = cubin.kernels.emplace_back();
    kernel.name = section.name.substr(kText.size());
    kernel.code = read_code(section.data, cubin.sm);
  }
  KernelIndex index;
  for (Kernel& kernel : cubin.kernels) index.emplace(kernel.name, &kernel);
  read_resources(elf, index);
  uint64_t work = bytes.size();
  if (const Section* lines = elf.find(".nv_debug_line_sass"))
    for (const LineSequence& sequence :
         parse_line_program(lines->data, elf.relocations_of(".nv_debug_line_sass"))) {
      if (sequence.symbol < 0 || static_cast<size_t>(sequence.symbol) >= elf.symbols.size()) continue;
      const Symbol& symbol = elf.symbols[sequence.symbol];
      if (symbol.section >= kernel_of_section.size()) continue;
      const size_t kernel = kernel_of_section[symbol.section];
      if (kernel != SIZE_MAX) apply_lines(sequence, 0 - symbol.value, cubin.kernels[kernel], work);
    }
  if (const Section* text = elf.find(".nv_debug_ptx_txt")) cubin.ptx = ptx_text(text->data);
  return cubin;
}

}  // namespace fullwarp::cubin
