# lacuna_gpu_kernel(NAME source.cl [TARGET gfx803] [CODE_OBJECT_VERSION 4] [OPTIONS -O1 ...] [OUTPUT_VARIABLE var])
#
# Compiles OpenCL C to an AMD GPU code object, <current binary folder>/NAME.co, and puts its path into `var`. NAME is unique in
# the whole tree: the target gpu_kernel_NAME builds the file, and lacuna_firmware(... KERNELS NAME) embeds it.
# CODE_OBJECT_VERSION is 2 to 5; OPTIONS are passed to the compiler after -O3. `#include "..."` is relative to the source's folder.
#
# Compiler and linker run as separate steps: on a machine with several LLVM versions, clang's driver may choose an lld of another
# version, which cannot read this clang's object files.
find_program(LACUNA_GPU_COMPILER clang-16 REQUIRED)
find_program(LACUNA_GPU_LINKER ld.lld-16 REQUIRED)
file(GLOB lacuna_device_library_candidates "/usr/lib/*/amdgcn/bitcode" "/usr/lib/amdgcn/bitcode")
find_path(LACUNA_GPU_DEVICE_LIBRARIES opencl.bc PATHS ${lacuna_device_library_candidates} NO_DEFAULT_PATH REQUIRED)

function(lacuna_gpu_kernel name source)
  cmake_parse_arguments(arg "" "TARGET;CODE_OBJECT_VERSION;OUTPUT_VARIABLE" "OPTIONS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lacuna_gpu_kernel(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TARGET)
    set(arg_TARGET gfx803)
  endif()
  if(NOT arg_CODE_OBJECT_VERSION)
    set(arg_CODE_OBJECT_VERSION 4)
  endif()
  get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${name}.co")
  set(object "${CMAKE_CURRENT_BINARY_DIR}/${name}.co.o")
  set(depfile "${CMAKE_CURRENT_BINARY_DIR}/${name}.co.d")
  add_custom_command(
    OUTPUT "${output}"
    BYPRODUCTS "${object}"
    COMMAND "${LACUNA_GPU_COMPILER}" -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=${arg_TARGET}
            -mcode-object-version=${arg_CODE_OBJECT_VERSION} "--rocm-device-lib-path=${LACUNA_GPU_DEVICE_LIBRARIES}"
            -O3 -Wall -Wextra -Werror ${arg_OPTIONS} -MD -MF "${depfile}" -MT "${output}" -c "${source}" -o "${object}"
    COMMAND "${LACUNA_GPU_LINKER}" -shared "${object}" -o "${output}"
    DEPENDS "${source}"
    DEPFILE "${depfile}"
    COMMENT "GPU kernel ${name} (${arg_TARGET}, code object v${arg_CODE_OBJECT_VERSION})"
    VERBATIM)
  add_custom_target(gpu_kernel_${name} DEPENDS "${output}")
  set_property(TARGET gpu_kernel_${name} PROPERTY LACUNA_CODE_OBJECT "${output}")
  if(arg_OUTPUT_VARIABLE)
    set(${arg_OUTPUT_VARIABLE} "${output}" PARENT_SCOPE)
  endif()
endfunction()
