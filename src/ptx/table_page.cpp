#include "ptx/table_page.h"

#include "ptx/forms.h"

namespace fullwarp::ptx {
namespace {

// In a Markdown table a bar ends the cell.
std::string cell(std::string_view text) {
  std::string result = "`";
  for (char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return text.empty() ? "" : result + "`";
}

std::string version(unsigned times_ten) {
  return std::to_string(times_ten / 10) + "." + std::to_string(times_ten % 10);
}

constexpr std::string_view kHead = R"(# Instructions

Every form of every PTX instruction that the parser takes. Made by `ptx_table_docs` from
`src/ptx/instructions.def`; do not edit. An instruction in another form is reported with its line, and the kernels
that do not use it still run. Whether the engine executes a form is the decoder's affair, and it says so too.

In a pattern `a|b` is one of them and `?` makes a component optional; as ptxas does, the parser takes modifiers in
any order. Operands: `r` register, `v` register or vector, `a` any value, `b` value or vector, `p` predicate or
constant, `m` address, `l` label, `t` branch targets, `f` function or register, `s` list, `o` prototype;
`|` may carry a second register, `?` may be left out. Capitals name a set:

)";

struct Set {
  std::string_view name, text;
};

constexpr Set kSets[] = {
#define FULLWARP_PTX_SET(name, text) {#name, text},
#include "ptx/instructions.def"
};

}  // namespace

std::string instructions_page() {
  std::string page(kHead);
  page += "| set | components |\n|---|---|\n";
  for (const Set& set : kSets) page += "| `" + std::string(set.name) + "` | " + cell(set.text) + " |\n";
  page +=
      "\n| instruction | pattern | operands | memory | unit | PTX | sm |\n|---|---|---|---|---|---|---|\n";
  for (const Form& form : forms()) {
    page += "| `" + std::string(to_string(form.op)) + "` | " + cell(form.pattern) + " | " +
            cell(form.operands) + " | ";
    if (form.memory != MemoryKind::none) page += to_string(form.memory);
    page += " | " + std::string(to_string(form.cost)) + " | " + version(form.min_ptx) + " | " +
            std::to_string(form.min_sm) + " |\n";
  }
  return page;
}

}  // namespace fullwarp::ptx
