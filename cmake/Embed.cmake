# Text files that become part of the program, so that it needs none beside it: pages of rules, measured tables.
#
# fullwarp_embed(OUTPUT NAMESPACE FUNCTION HEADER FILES) makes OUTPUT, a C++ file that defines what HEADER declares:
# std::string_view fullwarp::NAMESPACE::FUNCTION(std::string_view name), the text of the file of that name (without
# its folder and extension) or nothing. FILES is a pattern as file(GLOB) has it.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB paths ${FILES})
  list(SORT paths)
  set(text "// Made from ${FILES} by cmake/Embed.cmake.\n#include \"${HEADER}\"\n\n")
  string(APPEND text "namespace fullwarp::${NAMESPACE} {\n\nstd::string_view ${FUNCTION}(std::string_view name) {\n")
  foreach(path ${paths})
    get_filename_component(name ${path} NAME_WE)
    file(READ ${path} content)
    string(APPEND text "  if (name == \"${name}\") return R\"TEXT(${content})TEXT\";\n")
  endforeach()
  string(APPEND text "  return {};\n}\n\n}  // namespace fullwarp::${NAMESPACE}\n")
  file(WRITE ${OUTPUT} "${text}")
else()
  set(FULLWARP_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
  function(fullwarp_embed output namespace function header files)
    file(GLOB paths CONFIGURE_DEPENDS ${files})
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DNAMESPACE=${namespace} -DFUNCTION=${function} -DHEADER=${header}
              "-DFILES=${files}" -P ${FULLWARP_EMBED_SCRIPT}
      DEPENDS ${paths} ${FULLWARP_EMBED_SCRIPT} VERBATIM)
  endfunction()
endif()
