# lacuna_test(NAME LABEL unit|isa|system|validation SOURCES a.cpp ... [DEPENDS lacuna_x ...])
# One GoogleTest executable = one CTest test: a fresh process is the isolation between benches (SystemC elaborates once).

# Seconds after which a test counts as hung. No test needs a third of it, even when others keep the machine busy.
set(LACUNA_TEST_TIMEOUT 1800)
# The CTest COST of tests that take many seconds: they start first, so that none of them is left alone at the end.
set(LACUNA_LONG_TEST 100)

# Tests are compiled for their compile time: their loops are short, what they call is optimised in its library.
add_library(lacuna_test_options INTERFACE)
target_link_libraries(lacuna_test_options INTERFACE lacuna_options GTest::gtest GTest::gmock)
target_compile_options(lacuna_test_options INTERFACE -fpch-preprocess $<$<CONFIG:RelWithDebInfo>:-O1>)
if(NOT LACUNA_SANITIZE)
  target_compile_options(lacuna_test_options INTERFACE $<$<CONFIG:RelWithDebInfo>:-g0>)
endif()

# The headers of libraries that tests include, precompiled once: without SystemC and with it. The programs do nothing.
foreach(kind plain systemc)
  add_executable(lacuna_test_headers_${kind} EXCLUDE_FROM_ALL "${CMAKE_SOURCE_DIR}/tests/harness/precompiled.cpp")
  target_link_libraries(lacuna_test_headers_${kind} PRIVATE lacuna_test_options)
  target_precompile_headers(lacuna_test_headers_${kind} PRIVATE
    <gtest/gtest.h> <algorithm> <array> <cstdint> <map> <memory> <sstream> <string> <vector>)
endforeach()
target_link_libraries(lacuna_test_headers_systemc PRIVATE lacuna_systemc)
target_precompile_headers(lacuna_test_headers_systemc PRIVATE
  <systemc> <tlm> <tlm_utils/simple_initiator_socket.h> <tlm_utils/simple_target_socket.h>)

function(lacuna_test name)
  cmake_parse_arguments(arg "SYSTEMC" "LABEL" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  if(arg_SYSTEMC)
    target_link_libraries(${name} PRIVATE lacuna_test_harness)
    target_precompile_headers(${name} REUSE_FROM lacuna_test_headers_systemc)
  else()
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
    target_precompile_headers(${name} REUSE_FROM lacuna_test_headers_plain)
  endif()
  target_link_libraries(${name} PRIVATE lacuna_test_options ${arg_DEPENDS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name})
  # testing::TempDir() is a folder of the test's own: tests run side by side, also those of several build folders.
  set(temporary "${CMAKE_CURRENT_BINARY_DIR}/${name}.tmp")
  file(MAKE_DIRECTORY "${temporary}")
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABEL}" TIMEOUT ${LACUNA_TEST_TIMEOUT} ENVIRONMENT "TEST_TMPDIR=${temporary}")
  if(arg_LABEL STREQUAL validation)
    set_tests_properties(${name} PROPERTIES COST ${LACUNA_LONG_TEST})
  endif()
endfunction()

# lacuna_link_cycles_test(NAME LIBRARY...): fails when files of one of the static libraries depend on each other in a circle.
function(lacuna_link_cycles_test name)
  list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
  add_test(NAME ${name} COMMAND "${CMAKE_SOURCE_DIR}/cmake/check_link_cycles.py" ${files})
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT ${LACUNA_TEST_TIMEOUT})
endfunction()
