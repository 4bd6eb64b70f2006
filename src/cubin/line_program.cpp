// See line_program.h. The machine is that of the DWARF 4 standard, section 6.2, less what ptxas never writes.
#include "cubin/line_program.h"

#include <algorithm>

#include "cubin/bytes.h"

namespace fullwarp::cubin {
namespace {

struct Header {
  uint8_t minimum_step = 1, line_range = 1, opcode_base = 10;
  int8_t line_base = 0;
  std::vector<uint8_t> operands;  // of standard opcode i + 1
};

struct Machine {
  uint64_t address = 0;
  uint32_t file = 1, line = 1;
};

class Reader {
 public:
  Reader(std::string_view data, std::vector<Rela> relocations)
      : data_(data), relocations_(std::move(relocations)) {
    std::sort(relocations_.begin(), relocations_.end(),
              [](const Rela& a, const Rela& b) { return a.offset < b.offset; });
  }

  std::vector<LineSequence> run() {
    uint64_t at = 0;
    while (at < data_.size()) {
      Bytes in(data_, at);
      const uint32_t length = in.read<uint32_t>();
      if (in.failed() || length == 0 || length >= 0xfffffff0u || length > in.left()) break;
      unit(at + 4, length);
      at += 4 + uint64_t{length};
    }
    return std::move(sequences_);
  }

 private:
  void unit(uint64_t begin, uint64_t length) {
    const std::string_view bounded = data_.substr(0, begin + length);
    Bytes in(bounded, begin);
    const uint16_t version = in.read<uint16_t>();
    if (version < 2 || version > 4) return;
    const uint32_t header_length = in.read<uint32_t>();
    const uint64_t program = in.at() + header_length;
    Header header;
    header.minimum_step = in.read<uint8_t>();
    if (version >= 4) in.skip(1);  // operations per instruction: 1
    in.skip(1);                    // default is_stmt
    header.line_base = static_cast<int8_t>(in.read<uint8_t>());
    header.line_range = in.read<uint8_t>();
    header.opcode_base = in.read<uint8_t>();
    if (in.failed() || header.line_range == 0 || header.opcode_base == 0 || program > bounded.size()) return;
    for (unsigned i = 1; i < header.opcode_base; ++i) header.operands.push_back(in.read<uint8_t>());
    execute(header, Bytes(bounded, program));
  }

  void execute(const Header& header, Bytes in) {
    Machine state;
    LineSequence sequence;
    const auto emit = [&](bool end) {
      sequence.rows.push_back({state.address, state.line, state.file, end});
      if (!end) return;
      sequences_.push_back(std::move(sequence));
      sequence = {};
      state = {};
    };
    while (in.left() > 0) {
      const uint8_t opcode = in.read<uint8_t>();
      if (opcode >= header.opcode_base) {
        const unsigned step = opcode - header.opcode_base;
        state.address += uint64_t{step / header.line_range} * header.minimum_step;
        state.line += static_cast<uint32_t>(header.line_base + static_cast<int>(step % header.line_range));
        emit(false);
        continue;
      }
      switch (opcode) {
        case 0: {
          const uint64_t length = in.uleb128();
          const uint64_t end = in.at() + length;
          if (length == 0 || length > in.left()) return;
          const uint8_t extended = in.read<uint8_t>();
          if (extended == 1) {
            emit(true);
          } else if (extended == 2) {
            sequence.symbol = -1;
            const uint64_t place = in.at();
            state.address = length == 9 ? in.read<uint64_t>() : in.read<uint32_t>();
            const auto rela =
                std::lower_bound(relocations_.begin(), relocations_.end(), place,
                                 [](const Rela& r, uint64_t offset) { return r.offset < offset; });
            if (rela != relocations_.end() && rela->offset == place) {
              sequence.symbol = static_cast<int32_t>(rela->symbol & 0x7fffffff);
              state.address += static_cast<uint64_t>(rela->addend);
            }
          }
          if (in.at() < end) in.skip(end - in.at());  // also the extensions of NVIDIA's: inlined calls
          break;
        }
        case 1: emit(false); break;
        case 2: state.address += in.uleb128() * header.minimum_step; break;
        case 3: state.line += static_cast<uint32_t>(in.sleb128()); break;
        case 4: state.file = static_cast<uint32_t>(in.uleb128()); break;
        case 8:
          state.address += uint64_t{(255u - header.opcode_base) / header.line_range} * header.minimum_step;
          break;
        case 9: state.address += in.read<uint16_t>(); break;
        default:
          for (unsigned i = 0; i < header.operands[opcode - 1]; ++i) in.uleb128();
      }
      if (in.failed()) return;
    }
  }

  std::string_view data_;
  std::vector<Rela> relocations_;
  std::vector<LineSequence> sequences_;
};

}  // namespace

std::vector<LineSequence> parse_line_program(std::string_view data, std::vector<Rela> relocations) {
  return Reader(data, std::move(relocations)).run();
}

}  // namespace fullwarp::cubin
