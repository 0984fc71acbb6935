# lacuna_riscv_image(NAME SOURCES ... [HEADERS ...] [LINK_OPTIONS ...]): builds a self-checking RV64GC program with picolibc and
# semihosting, as a flat image with code at address 0x80000000 and data at 0x80100000. Defines the target riscv_image_NAME and the
# variables RISCV_IMAGE_NAME (path of the flat image) and RISCV_ELF_NAME (path of the ELF file).
find_program(LACUNA_RISCV_COMPILER riscv64-unknown-elf-gcc REQUIRED)
find_program(LACUNA_RISCV_OBJCOPY riscv64-unknown-elf-objcopy REQUIRED)

function(lacuna_riscv_image name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;LINK_OPTIONS" ${ARGN})
  list(TRANSFORM arg_SOURCES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  list(TRANSFORM arg_HEADERS PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  set(elf "${CMAKE_CURRENT_BINARY_DIR}/${name}.elf")
  set(image "${CMAKE_CURRENT_BINARY_DIR}/${name}.bin")
  add_custom_command(
    OUTPUT "${elf}" "${image}"
    COMMAND "${LACUNA_RISCV_COMPILER}" --specs=picolibc.specs --oslib=semihost --crt0=semihost -march=rv64gc -mabi=lp64d
            -mcmodel=medany -msmall-data-limit=0 -O2 -g -ffp-contract=off -Wall -Wextra -Werror "-I${CMAKE_SOURCE_DIR}" ${arg_SOURCES} -o "${elf}" -lm
            -Wl,--defsym=__flash=0x80000000 -Wl,--defsym=__flash_size=0x100000 -Wl,--defsym=__ram=0x80100000
            -Wl,--defsym=__ram_size=0x200000 -Wl,--no-warn-rwx-segments ${arg_LINK_OPTIONS}
    COMMAND "${LACUNA_RISCV_OBJCOPY}" -O binary "${elf}" "${image}"
    DEPENDS ${arg_SOURCES} ${arg_HEADERS}
    COMMENT "RISC-V image ${name}"
    VERBATIM)
  add_custom_target(riscv_image_${name} DEPENDS "${elf}" "${image}")
  set(RISCV_IMAGE_${name} "${image}" PARENT_SCOPE)
  set(RISCV_ELF_${name} "${elf}" PARENT_SCOPE)
endfunction()
