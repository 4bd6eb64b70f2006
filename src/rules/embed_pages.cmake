# cmake -DOUTPUT=pages.cpp -DFOLDER=docs/rules -P embed_pages.cmake
# Writes a C++ file with the text of every page in FOLDER, in order of name, for rules::explain().
file(GLOB pages ${FOLDER}/*.md)
list(SORT pages)
set(rows "")
foreach(page ${pages})
  get_filename_component(id ${page} NAME_WE)
  file(READ ${page} text)
  string(APPEND rows "    {\"${id}\", R\"PAGE(${text})PAGE\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made from docs/rules/ by src/rules/embed_pages.cmake.
#include \"rules/pages.h\"

namespace fullwarp::rules {

static constexpr Page kPages[] = {
${rows}};

std::span<const Page> pages() { return kPages; }

}  // namespace fullwarp::rules
")
