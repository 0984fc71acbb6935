# CMAKE_UNITY_BUILD applies to the libraries of lacuna_model and the shared programs of lacuna_test only: several source files are
# compiled as one, so that compilers and clang-tidy read headers once for all of them. Files of other targets are compiled separately,
# because some define the same private names.
set(LACUNA_UNITY_BUILD "${CMAKE_UNITY_BUILD}")
set(LACUNA_UNITY_FILES 10 CACHE STRING "With CMAKE_UNITY_BUILD: how many files of a library are compiled as one; 0: all of them")
set(CMAKE_UNITY_BUILD OFF)

# lacuna_model(NAME [SYSTEMC] [SEPARATE] SOURCES a.cpp ... [DEPENDS lacuna_x ...])
# Adds a static library for a folder of models. SYSTEMC links SystemC and precompiles its headers, which dominate compile time.
# SEPARATE excludes the library from unity builds, because some of its files define the same private names.
function(lacuna_model name)
  cmake_parse_arguments(arg "SYSTEMC;SEPARATE" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC lacuna_options ${arg_DEPENDS})
  if(LACUNA_UNITY_BUILD AND NOT arg_SEPARATE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${LACUNA_UNITY_FILES})
  endif()
  if(arg_SYSTEMC)
    target_link_libraries(${name} PUBLIC lacuna_systemc)
    # lacuna_common, the first library with SystemC, precompiles the headers; the other libraries with SYSTEMC reuse the result.
    if(name STREQUAL lacuna_common)
      target_precompile_headers(${name} PRIVATE <systemc> <tlm> <tlm_utils/simple_initiator_socket.h> <tlm_utils/simple_target_socket.h>)
    else()
      target_precompile_headers(${name} REUSE_FROM lacuna_common)
    endif()
  endif()
endfunction()
