// Prints docs/instructions.md: `ptx_table_docs > docs/instructions.md`.
#include <cstdio>

#include "ptx/table_page.h"

int main() {
  std::string page = fullwarp::ptx::instructions_page();
  return std::fwrite(page.data(), 1, page.size(), stdout) == page.size() ? 0 : 1;
}
