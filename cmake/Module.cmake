# One static library per folder of src/, so that the folder tree and the link graph stay the same thing.

add_library(fullwarp_options INTERFACE)
target_compile_options(fullwarp_options INTERFACE -Wall -Wextra -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns of overlapping copies in every `"text" + std::string` (GCC bug 105651).
  target_compile_options(fullwarp_options INTERFACE -Wno-restrict)
endif()
if(FULLWARP_SANITIZE)
  target_compile_options(fullwarp_options INTERFACE
    -fsanitize=${FULLWARP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(fullwarp_options INTERFACE -fsanitize=${FULLWARP_SANITIZE})
  # g++ takes what the sanitizers add for reads of values never written (its manual warns of it; std::regex).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(fullwarp_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

# fullwarp_module(NAME SOURCES file... [DEPS module-or-target...])
function(fullwarp_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_library(fullwarp_${name} STATIC ${arg_SOURCES})
  add_library(fullwarp::${name} ALIAS fullwarp_${name})
  target_include_directories(fullwarp_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  target_link_libraries(fullwarp_${name} PUBLIC ${arg_DEPS} PRIVATE $<BUILD_INTERFACE:fullwarp_options>)
endfunction()

# fullwarp_test(NAME SOURCES file... [DEPS module-or-target...]): a GoogleTest program, one ctest entry per test.
function(fullwarp_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} fullwarp_options GTest::gtest_main GTest::gmock)
  target_compile_definitions(${name} PRIVATE FULLWARP_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
endfunction()
