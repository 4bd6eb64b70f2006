// docs/instructions.md, made from the table. ptx_table_docs prints it; a test holds the committed page to it.
#pragma once

#include <string>

namespace fullwarp::ptx {

std::string instructions_page();

}  // namespace fullwarp::ptx
