// See elf.h. Layouts: System V ABI, chapters 4 and 5.
#include "cubin/elf.h"

#include "cubin/bytes.h"

namespace fullwarp::cubin {
namespace {

constexpr uint32_t kSymtab = 2, kRela = 4, kNobits = 8, kRel = 9;
constexpr uint64_t kHeaderBytes = 64, kSectionBytes = 64, kSymbolBytes = 24, kRelaBytes = 24, kRelBytes = 16;

std::string_view slice(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size()) return {};
  return bytes.substr(offset, size);
}

std::string_view name_at(std::string_view table, uint64_t offset) {
  if (offset >= table.size()) return {};
  table.remove_prefix(offset);
  return table.substr(0, table.find('\0'));
}

std::vector<Symbol> read_symbols(const Section& table, std::string_view names) {
  std::vector<Symbol> symbols;
  symbols.reserve(table.data.size() / kSymbolBytes);
  for (uint64_t at = 0; at + kSymbolBytes <= table.data.size(); at += kSymbolBytes) {
    Bytes in(table.data, at);
    Symbol symbol;
    symbol.name = name_at(names, in.read<uint32_t>());
    symbol.type = in.read<uint8_t>() & 15;
    in.skip(1);
    symbol.section = in.read<uint16_t>();
    symbol.value = in.read<uint64_t>();
    symbol.size = in.read<uint64_t>();
    symbols.push_back(symbol);
  }
  return symbols;
}

}  // namespace

const Section* Elf::find(std::string_view name) const {
  for (const Section& section : sections)
    if (section.name == name) return &section;
  return nullptr;
}

std::vector<Rela> Elf::relocations_of(std::string_view section_name) const {
  std::vector<Rela> out;
  for (const Section& section : sections) {
    if (section.type != kRela && section.type != kRel) continue;
    const std::string_view prefix = section.type == kRela ? ".rela" : ".rel";
    if (!section.name.starts_with(prefix) || section.name.substr(prefix.size()) != section_name) continue;
    const uint64_t entry_bytes = section.type == kRela ? kRelaBytes : kRelBytes;
    for (uint64_t at = 0; at + entry_bytes <= section.data.size(); at += entry_bytes) {
      Bytes in(section.data, at);
      Rela rela;
      rela.offset = in.read<uint64_t>();
      rela.type = in.read<uint32_t>();
      rela.symbol = in.read<uint32_t>();
      if (section.type == kRela) rela.addend = in.read<int64_t>();  // else it stands in the relocated place
      out.push_back(rela);
    }
    break;
  }
  return out;
}

bool looks_like_elf(std::string_view bytes) {
  return bytes.starts_with(
      "\x7f"
      "ELF");
}

Result<Elf> parse_elf(std::string_view bytes, const std::string& file) {
  if (!looks_like_elf(bytes) || bytes.size() < kHeaderBytes)
    return Error{.message = "not an ELF file", .file = file};
  if (bytes[4] != 2 || bytes[5] != 1)
    return Error{.message = "not a 64-bit little-endian ELF file", .file = file};
  Elf elf;
  elf.abi_version = static_cast<uint8_t>(bytes[8]);
  Bytes in(bytes, 18);
  elf.machine = in.read<uint16_t>();
  in = Bytes(bytes, 40);
  const uint64_t section_offset = in.read<uint64_t>();
  elf.flags = in.read<uint32_t>();
  in.skip(6);
  const uint16_t entry_bytes = in.read<uint16_t>();
  const uint16_t count = in.read<uint16_t>();
  const uint16_t names_index = in.read<uint16_t>();
  if (count > 0 && entry_bytes < kSectionBytes)
    return Error{.message = "the ELF section table has entries that are too short", .file = file};
  if (section_offset > bytes.size() ||
      (bytes.size() - section_offset) / (entry_bytes ? entry_bytes : 1) < count)
    return Error{.message = "the ELF section table lies beyond the end of the file", .file = file};

  std::vector<uint32_t> names(count);
  for (uint32_t i = 0; i < count; ++i) {
    Bytes header(bytes, section_offset + uint64_t{i} * entry_bytes);
    Section section;
    names[i] = header.read<uint32_t>();
    section.type = header.read<uint32_t>();
    section.flags = header.read<uint64_t>();
    header.skip(8);
    const uint64_t offset = header.read<uint64_t>();
    section.size = header.read<uint64_t>();
    section.link = header.read<uint32_t>();
    section.info = header.read<uint32_t>();
    header.skip(8);
    section.entry_size = header.read<uint64_t>();
    if (section.type != kNobits) section.data = slice(bytes, offset, section.size);
    elf.sections.push_back(section);
  }
  if (names_index < count)
    for (uint32_t i = 0; i < count; ++i)
      elf.sections[i].name = name_at(elf.sections[names_index].data, names[i]);
  for (const Section& section : elf.sections) {
    if (section.type != kSymtab || section.link >= count) continue;
    elf.symbols = read_symbols(section, elf.sections[section.link].data);
    break;
  }
  return elf;
}

}  // namespace fullwarp::cubin
