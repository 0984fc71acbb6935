# Cross-compiles RV64GC programs in the same build tree as the host programs, without a toolchain file or a second configuration.
#
# lacuna_firmware(NAME SOURCES a.c b.S ... [KERNELS k ...] [TARGET gfx90a] [DEFINITIONS X=1 ...] [OPTIONS ...]
#                [SEMIHOST | BARE])
#   Builds build/<preset>/firmware/NAME.elf (target firmware_NAME, part of `all`; variable FIRMWARE_NAME is its path) from the sources,
#   the start-up code, the HAL and the driver library. KERNELS are names given to lacuna_gpu_kernel: each is embedded by
#   .incbin between the symbols code_object_<k> and code_object_<k>_end.
#   TARGET: embeds kernel <k>_<TARGET> under the name of k, so that the same C source runs on every target.
#   SEMIHOST: picolibc's semihosting library provides stdio, files and exit in place of the UART and the finisher.
#   BARE: omits the start-up code, the HAL and the driver library, for programs that define _start.
#
# lacuna_firmware_library(NAME SOURCES ...): a static library that every later lacuna_firmware without BARE links.
find_program(LACUNA_RISCV_COMPILER riscv64-unknown-elf-gcc REQUIRED)
find_program(LACUNA_RISCV_ARCHIVER riscv64-unknown-elf-ar REQUIRED)

set(LACUNA_FIRMWARE_FOLDER "${CMAKE_SOURCE_DIR}/firmware")
set(LACUNA_FIRMWARE_OUTPUT "${CMAKE_BINARY_DIR}/firmware")
set(LACUNA_RISCV_FLAGS --specs=picolibc.specs -march=rv64gc -mabi=lp64d -mcmodel=medany -msmall-data-limit=0)
set(LACUNA_FIRMWARE_FLAGS ${LACUNA_RISCV_FLAGS} -std=c11 -O2 -g -ffunction-sections -fdata-sections
    # Makes results independent of the compiler: a*b+c becomes a fused multiply-add only where the source calls fma().
    -ffp-contract=off -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror
    -I${CMAKE_SOURCE_DIR} -I${LACUNA_FIRMWARE_FOLDER}/include -I${LACUNA_FIRMWARE_FOLDER})

# Compiles each source of a program or library into <binary folder>/NAME.dir, and stores the list of object files in
# `output_variable`.
function(lacuna_firmware_objects name output_variable)
  cmake_parse_arguments(arg "" "" "SOURCES;OPTIONS" ${ARGN})
  set(objects)
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    get_filename_component(file "${path}" NAME)
    set(object "${CMAKE_CURRENT_BINARY_DIR}/${name}.dir/${file}.o")
    add_custom_command(
      OUTPUT "${object}"
      COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_CURRENT_BINARY_DIR}/${name}.dir"
      COMMAND "${LACUNA_RISCV_COMPILER}" ${LACUNA_FIRMWARE_FLAGS} ${arg_OPTIONS} -MD -MF "${object}.d" -MT "${object}"
              -c "${path}" -o "${object}"
      DEPENDS "${path}"
      DEPFILE "${object}.d"
      COMMENT "RISC-V ${name}: ${file}"
      VERBATIM)
    list(APPEND objects "${object}")
  endforeach()
  set(${output_variable} "${objects}" PARENT_SCOPE)
endfunction()

function(lacuna_firmware_library name)
  cmake_parse_arguments(arg "" "" "SOURCES" ${ARGN})
  lacuna_firmware_objects(${name} objects SOURCES ${arg_SOURCES})
  set(output "${LACUNA_FIRMWARE_OUTPUT}/lib/lib${name}.a")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${LACUNA_FIRMWARE_OUTPUT}/lib"
    COMMAND "${CMAKE_COMMAND}" -E rm -f "${output}"
    COMMAND "${LACUNA_RISCV_ARCHIVER}" rcsD "${output}" ${objects}
    DEPENDS ${objects}
    COMMENT "RISC-V library ${name}"
    VERBATIM)
  add_custom_target(firmware_library_${name} DEPENDS "${output}")
  set_property(GLOBAL APPEND PROPERTY LACUNA_FIRMWARE_LIBRARIES "${output}")
  set_property(GLOBAL APPEND PROPERTY LACUNA_FIRMWARE_LIBRARY_TARGETS firmware_library_${name})
endfunction()

function(lacuna_firmware name)
  cmake_parse_arguments(arg "SEMIHOST;BARE" "TARGET" "SOURCES;KERNELS;DEFINITIONS;OPTIONS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lacuna_firmware(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(options ${arg_OPTIONS})
  foreach(definition IN LISTS arg_DEFINITIONS)
    list(APPEND options "-D${definition}")
  endforeach()

  # The kernel's CMake target may be defined later, so the path of its code object is evaluated at generation time.
  set(embedded)
  set(embedded_targets)
  foreach(kernel IN LISTS arg_KERNELS)
    set(built_as "${kernel}")
    if(arg_TARGET)
      set(built_as "${kernel}_${arg_TARGET}")
    endif()
    set(assembly "${CMAKE_CURRENT_BINARY_DIR}/${name}.dir/code_object_${kernel}.S")
    set(code_object "$<TARGET_PROPERTY:gpu_kernel_${built_as},LACUNA_CODE_OBJECT>")
    file(GENERATE OUTPUT "${assembly}" CONTENT "  .section .rodata.code_object_${kernel}, \"a\"
  .balign 16
  .globl code_object_${kernel}
  .globl code_object_${kernel}_end
code_object_${kernel}:
  .incbin \"${code_object}\"
code_object_${kernel}_end:
  .byte 0
")
    set(object "${assembly}.o")
    add_custom_command(
      OUTPUT "${object}"
      COMMAND "${LACUNA_RISCV_COMPILER}" ${LACUNA_RISCV_FLAGS} -c "${assembly}" -o "${object}"
      DEPENDS "${assembly}" "${code_object}"
      COMMENT "RISC-V ${name}: code object ${kernel}"
      VERBATIM)
    list(APPEND embedded "${object}")
    list(APPEND embedded_targets gpu_kernel_${built_as})
  endforeach()

  lacuna_firmware_objects(${name} objects SOURCES ${arg_SOURCES} OPTIONS ${options})
  set(link_inputs ${objects} ${embedded})
  set(libraries)
  set(library_targets)
  if(NOT arg_BARE)
    get_property(libraries GLOBAL PROPERTY LACUNA_FIRMWARE_LIBRARIES)
    get_property(library_targets GLOBAL PROPERTY LACUNA_FIRMWARE_LIBRARY_TARGETS)
  endif()
  set(link_libraries)
  if(arg_SEMIHOST)
    set(link_libraries -lsemihost)
  endif()
  set(script "${LACUNA_FIRMWARE_FOLDER}/startup/link.ld")
  set(output "${LACUNA_FIRMWARE_OUTPUT}/${name}.elf")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${LACUNA_FIRMWARE_OUTPUT}"
    COMMAND "${LACUNA_RISCV_COMPILER}" ${LACUNA_RISCV_FLAGS} -nostartfiles -static -T "${script}"
            -Wl,--gc-sections -Wl,--fatal-warnings -Wl,--no-warn-rwx-segments -o "${output}" ${link_inputs}
            -Wl,--start-group ${libraries} ${link_libraries} -lc -lgcc -Wl,--end-group
    DEPENDS ${link_inputs} ${libraries} "${script}"
    COMMENT "RISC-V firmware ${name}.elf"
    VERBATIM)
  add_custom_target(firmware_${name} ALL DEPENDS "${output}")
  if(library_targets OR embedded_targets)
    add_dependencies(firmware_${name} ${library_targets} ${embedded_targets})
  endif()
  set(FIRMWARE_${name} "${output}" PARENT_SCOPE)
endfunction()

# lacuna_firmware_makefile(): writes firmware.mk into the build folder. Makefiles outside of this tree include it to build firmware with
# the compilers, options and libraries of this tree. Call it after the libraries have been added.
function(lacuna_firmware_makefile)
  # Warnings are not errors in the user's firmware.
  set(flags ${LACUNA_FIRMWARE_FLAGS})
  list(REMOVE_ITEM flags -Werror)
  list(JOIN flags " " make_firmware_flags)
  list(JOIN LACUNA_RISCV_FLAGS " " make_riscv_flags)
  get_property(libraries GLOBAL PROPERTY LACUNA_FIRMWARE_LIBRARIES)
  list(JOIN libraries " " make_firmware_libraries)
  configure_file("${LACUNA_FIRMWARE_FOLDER}/firmware.mk.in" "${LACUNA_FIRMWARE_OUTPUT}/firmware.mk" @ONLY)
endfunction()
