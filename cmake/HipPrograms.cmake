# lacuna_hip_program(NAME SOURCE file.hip [TARGETS gfx803 gfx90a] [DEPENDS header ...] [OPTIONS -Ix ...] [LINK target ...]
#                    [LIBRARIES -lx ...] [FOLDER folder])
#
# Builds FOLDER/NAME (default <build folder>/tests/rocm) with Debian's hipcc, as a user would, with code for each of TARGETS. The
# program is linked to the static libraries LINK of this build and to LIBRARIES. NAME is unique in the whole tree; the target
# hip_program_NAME is part of `all`.
#
# Without hipcc, LACUNA_HIP_COMPILER is false and no HIP program can be built: callers must check this variable first.
find_program(LACUNA_HIP_COMPILER hipcc)
find_program(LACUNA_ROCMINFO rocminfo)
if(NOT LACUNA_HIP_COMPILER)
  message(STATUS "hipcc is not installed: no HIP programs, and no tests with them")
endif()

set(LACUNA_HIP_OUTPUT "${CMAKE_BINARY_DIR}/tests/rocm")
# hipcc runs rocm_agent_enumerator to find the machine's GPUs even if the targets are given; rocm_targets.txt is its fixed answer.
set(LACUNA_HIP_TARGET_LIST "${CMAKE_BINARY_DIR}/generated/rocm_targets.txt")
if(LACUNA_HIP_COMPILER)
  file(WRITE "${LACUNA_HIP_TARGET_LIST}" "gfx803\n")
endif()

function(lacuna_hip_program name)
  cmake_parse_arguments(arg "" "SOURCE;FOLDER" "TARGETS;DEPENDS;OPTIONS;LINK;LIBRARIES" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lacuna_hip_program(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TARGETS)
    set(arg_TARGETS gfx803 gfx90a)
  endif()
  list(TRANSFORM arg_TARGETS PREPEND "--offload-arch=" OUTPUT_VARIABLE targets)
  get_filename_component(source "${arg_SOURCE}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  list(TRANSFORM arg_DEPENDS PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  if(NOT arg_FOLDER)
    set(arg_FOLDER "${LACUNA_HIP_OUTPUT}")
  endif()
  set(output "${arg_FOLDER}/${name}")
  # Archives are linked by -L and -l, because hipcc treats an archive's path as source code.
  list(TRANSFORM arg_LINK REPLACE "(.+)" "-L$<TARGET_FILE_DIR:\\1>;-l$<TARGET_LINKER_FILE_BASE_NAME:\\1>" OUTPUT_VARIABLE archives)
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${arg_FOLDER}"
    COMMAND "${CMAKE_COMMAND}" -E env "ROCM_TARGET_LST=${LACUNA_HIP_TARGET_LIST}" "${LACUNA_HIP_COMPILER}" -std=c++17 -O3 -Wall -Wextra
            -Werror ${targets} ${arg_OPTIONS} "${source}" -o "${output}" ${archives} ${arg_LIBRARIES}
    DEPENDS "${source}" ${arg_DEPENDS} ${arg_LINK}
    COMMENT "HIP program ${name}"
    VERBATIM)
  add_custom_target(hip_program_${name} ALL DEPENDS "${output}")
endfunction()
