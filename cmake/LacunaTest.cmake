# lacuna_test(NAME LABEL unit|isa|system|validation SOURCES a.cpp ... [DEPENDS lacuna_x ...])
# One GoogleTest executable = one CTest test: a fresh process is the isolation between benches (SystemC elaborates once).

# Seconds after which a test counts as hung. No test needs a third of it, even when others keep the machine busy.
set(LACUNA_TEST_TIMEOUT 1800)

function(lacuna_test name)
  cmake_parse_arguments(arg "SYSTEMC" "LABEL" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  if(arg_SYSTEMC)
    target_link_libraries(${name} PRIVATE lacuna_test_harness)
  else()
    target_link_libraries(${name} PRIVATE GTest::gtest GTest::gmock GTest::gtest_main)
  endif()
  target_link_libraries(${name} PRIVATE lacuna_options ${arg_DEPENDS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name})
  # testing::TempDir() is a folder of the test's own: tests run side by side, also those of several build folders.
  set(temporary "${CMAKE_CURRENT_BINARY_DIR}/${name}.tmp")
  file(MAKE_DIRECTORY "${temporary}")
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABEL}" TIMEOUT ${LACUNA_TEST_TIMEOUT} ENVIRONMENT "TEST_TMPDIR=${temporary}")
endfunction()
