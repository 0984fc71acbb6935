# lacuna_test(NAME LABEL unit|isa|system|validation [SYSTEMC] [PROGRAM name] SOURCES a.cpp ... [DEPENDS lacuna_x ...]
#             [DEFINITIONS X=1 ...] [AFTER target ...])
# Each CTest test is a separate process of a GoogleTest executable, because SystemC can elaborate only once per process.
# PROGRAM: with CMAKE_UNITY_BUILD, all tests with the same PROGRAM share an executable of that name, and their sources are compiled
# together, because the headers of GoogleTest and SystemC dominate the compile time of a test. Private names of these sources must
# therefore differ. With sanitizers, few tests are built and each has a separate executable.
# AFTER: targets to build before the test.

# Seconds after which a test is considered hung: more than three times what any test needs, even on a busy machine.
set(LACUNA_TEST_TIMEOUT 1800)
# CTest COST of tests that take many seconds: tests with a high cost start first, so that none of them runs alone at the end.
set(LACUNA_LONG_TEST 100)

# Tests are built with little optimisation to save compile time: their loops are short, and the libraries that they call are
# optimised. With sanitizers, optimisation would double the compile time.
if(LACUNA_SANITIZE)
  set(LACUNA_TEST_OPTIMISATION -O0)
else()
  set(LACUNA_TEST_OPTIMISATION -O1)
endif()
add_library(lacuna_test_options INTERFACE)
target_link_libraries(lacuna_test_options INTERFACE lacuna_options GTest::gtest GTest::gmock)
target_compile_options(lacuna_test_options INTERFACE -fpch-preprocess $<$<CONFIG:RelWithDebInfo>:${LACUNA_TEST_OPTIMISATION}>)
if(NOT LACUNA_SANITIZE)
  target_compile_options(lacuna_test_options INTERFACE $<$<CONFIG:RelWithDebInfo>:-g0>)
endif()

# Precompile the library headers that tests include, once without and once with SystemC. These programs exist only for this purpose.
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
  cmake_parse_arguments(arg "SYSTEMC" "LABEL;PROGRAM" "SOURCES;DEPENDS;DEFINITIONS;AFTER" ${ARGN})
  set(program ${name})
  set(selection "")
  if(arg_PROGRAM AND LACUNA_UNITY_BUILD AND NOT LACUNA_SANITIZE)
    set(program ${arg_PROGRAM})
    list(TRANSFORM arg_SOURCES REPLACE "(.+)" "--tests_of=${CMAKE_CURRENT_SOURCE_DIR}/\\1" OUTPUT_VARIABLE selection)
  endif()
  if(NOT TARGET ${program})
    add_executable(${program})
    if(arg_SYSTEMC)
      target_link_libraries(${program} PRIVATE lacuna_test_harness)
      target_precompile_headers(${program} REUSE_FROM lacuna_test_headers_systemc)
    else()
      if(selection)
        target_link_libraries(${program} PRIVATE lacuna_plain_test_main)
      else()
        # main() is in a library, so that a test may define main() itself, or sc_main() with SystemC's main().
        target_link_libraries(${program} PRIVATE GTest::gtest_main)
      endif()
      target_precompile_headers(${program} REUSE_FROM lacuna_test_headers_plain)
    endif()
    target_link_libraries(${program} PRIVATE lacuna_test_options)
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    if(selection)
      set_target_properties(${program} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    endif()
  endif()
  target_sources(${program} PRIVATE ${arg_SOURCES})
  target_link_libraries(${program} PRIVATE ${arg_DEPENDS})
  target_compile_definitions(${program} PRIVATE ${arg_DEFINITIONS})
  if(arg_AFTER)
    add_dependencies(${program} ${arg_AFTER})
  endif()
  add_test(NAME ${name} COMMAND ${program} ${selection})
  lacuna_test_properties(${name} ${arg_LABEL})
endfunction()

function(lacuna_test_properties name label)
  # A separate testing::TempDir() for each test, because tests run in parallel, possibly in several build folders.
  set(temporary "${CMAKE_CURRENT_BINARY_DIR}/${name}.tmp")
  file(MAKE_DIRECTORY "${temporary}")
  set_tests_properties(${name} PROPERTIES LABELS "${label}" TIMEOUT ${LACUNA_TEST_TIMEOUT} ENVIRONMENT "TEST_TMPDIR=${temporary}")
  if(label STREQUAL validation)
    set_tests_properties(${name} PROPERTIES COST ${LACUNA_LONG_TEST})
  endif()
endfunction()

# lacuna_link_cycles_test(NAME LIBRARY...): fails if files of one of the static libraries depend on each other in a cycle. Files that
# are compiled as one hide cycles, so unity builds omit the test, except the build for ThreadSanitizer, which compiles the platform file
# by file.
function(lacuna_link_cycles_test name)
  if(LACUNA_UNITY_BUILD AND NOT LACUNA_SANITIZE STREQUAL "THREAD")
    return()
  endif()
  list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
  add_test(NAME ${name} COMMAND "${CMAKE_SOURCE_DIR}/cmake/check_link_cycles.py" ${files})
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT ${LACUNA_TEST_TIMEOUT})
endfunction()
