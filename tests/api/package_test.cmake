# Installs the build into a folder of its own, builds the README's example against it as a stranger would, and runs it.
#   cmake -DBUILD=... -DWORK=... -DSOURCE=... -DCXX=... -P package_test.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/tests/api/consumer -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_CXX_COMPILER=${CXX} -DEXAMPLE=${SOURCE}/tests/api/readme_example.cpp)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer ${SOURCE}/tests/api/copy.ptx)
if(NOT out MATCHES "32 requests, 128 sectors, 128 at best")
  message(FATAL_ERROR "unexpected: ${out}")
endif()
run(${WORK}/prefix/bin/fullwarp --version)
