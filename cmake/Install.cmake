# What `cmake --install` puts where: the program with its man page, completions and CUDA headers (src/cli adds
# most of them), and a package so that find_package(fullwarp) gives fullwarp::fullwarp.
#
# The public headers include the plain data types of the stages by the same names as in the source tree
# ("report/report.h"); they are installed below include/fullwarp, which is on the target's include path.
include(CMakePackageConfigHelpers)

add_library(fullwarp_public INTERFACE)
add_library(fullwarp::fullwarp ALIAS fullwarp_public)
set_target_properties(fullwarp_public PROPERTIES EXPORT_NAME fullwarp)
target_link_libraries(fullwarp_public INTERFACE fullwarp::api)
target_compile_features(fullwarp_public INTERFACE cxx_std_20)
target_include_directories(fullwarp_public INTERFACE
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/fullwarp>)

set(exported fullwarp_public)
foreach(module ${FULLWARP_MODULES})
  if(TARGET fullwarp_${module} AND NOT module STREQUAL cli)
    set_target_properties(fullwarp_${module} PROPERTIES EXPORT_NAME ${module})
    list(APPEND exported fullwarp_${module})
  endif()
endforeach()
install(TARGETS ${exported} EXPORT fullwarpTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/fullwarp)
install(EXPORT fullwarpTargets NAMESPACE fullwarp:: DESTINATION ${package})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/fullwarpConfig.cmake.in
  ${PROJECT_BINARY_DIR}/fullwarpConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fullwarpConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fullwarpConfig.cmake ${PROJECT_BINARY_DIR}/fullwarpConfigVersion.cmake
  DESTINATION ${package})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/fullwarp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(header base/result.h base/warp.h diag/finding.h mem/warp_access.h report/render.h report/report.h)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/fullwarp/${folder})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/docs/schema/report-1.json ${PROJECT_SOURCE_DIR}/docs/schema/shapes-1.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fullwarp/schema)
# Where the installed program looks for the CUDA headers that clang needs.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/cudainc/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fullwarp/cudainc)
