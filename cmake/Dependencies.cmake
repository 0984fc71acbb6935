# Libraries from Debian 12 packages that the host build links. `./dev deps` installs the packages.
find_package(Threads REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(spdlog 1.10 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(GTest 1.12 REQUIRED)
find_package(benchmark 1.7 REQUIRED)

find_path(SYSTEMC_INCLUDE_DIR systemc REQUIRED)
find_library(SYSTEMC_LIBRARY systemc REQUIRED)
add_library(lacuna_systemc INTERFACE)
target_include_directories(lacuna_systemc SYSTEM INTERFACE "${SYSTEMC_INCLUDE_DIR}")
# The packaged library was built as C++17. SystemC checks the standard at link time by a symbol name, so C++17 is selected here, too.
target_compile_definitions(lacuna_systemc INTERFACE SC_CPLUSPLUS=201703L SC_INCLUDE_DYNAMIC_PROCESSES)
target_link_libraries(lacuna_systemc INTERFACE "${SYSTEMC_LIBRARY}" Threads::Threads)

find_path(LIBELF_INCLUDE_DIR libelf.h REQUIRED)
find_library(LIBELF_LIBRARY elf REQUIRED)
add_library(lacuna_libelf INTERFACE)
target_include_directories(lacuna_libelf SYSTEM INTERFACE "${LIBELF_INCLUDE_DIR}")
target_link_libraries(lacuna_libelf INTERFACE "${LIBELF_LIBRARY}")

# libdw reads the line tables of code objects, for reports.
find_path(LIBDW_INCLUDE_DIR elfutils/libdw.h REQUIRED)
find_library(LIBDW_LIBRARY dw REQUIRED)
add_library(lacuna_libdw INTERFACE)
target_include_directories(lacuna_libdw SYSTEM INTERFACE "${LIBDW_INCLUDE_DIR}")
target_link_libraries(lacuna_libdw INTERFACE "${LIBDW_LIBRARY}" lacuna_libelf)

find_package(ZLIB 1.2 REQUIRED)

# Scotch reorders sparse matrices. It is linked statically, because shared libraries would be loaded at every start of lacuna.
find_path(SCOTCH_INCLUDE_DIR scotch/scotch.h REQUIRED)
find_library(SCOTCH_LIBRARY libscotch.a REQUIRED)
find_library(SCOTCH_ERRORS_LIBRARY libscotcherr.a REQUIRED)
find_library(BZIP2_STATIC_LIBRARY libbz2.a REQUIRED)
find_library(LZMA_STATIC_LIBRARY liblzma.a REQUIRED)
add_library(lacuna_scotch INTERFACE)
target_include_directories(lacuna_scotch SYSTEM INTERFACE "${SCOTCH_INCLUDE_DIR}")
target_link_libraries(lacuna_scotch INTERFACE "${SCOTCH_LIBRARY}" "${SCOTCH_ERRORS_LIBRARY}" "${BZIP2_STATIC_LIBRARY}"
  "${LZMA_STATIC_LIBRARY}" ZLIB::ZLIB Threads::Threads m)

find_package(yaml-cpp 0.7 REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
# OpenSSL's libcrypto computes digests. It is linked statically: only a small part is used, and the shared library would be loaded at
# every start of lacuna.
find_library(LACUNA_LIBCRYPTO libcrypto.a REQUIRED)

# GraphBLAS is the reference for the tests of the sparse dataflow accelerator.
find_path(GRAPHBLAS_INCLUDE_DIR GraphBLAS.h REQUIRED)
find_library(GRAPHBLAS_LIBRARY graphblas REQUIRED)
add_library(lacuna_graphblas INTERFACE)
target_include_directories(lacuna_graphblas SYSTEM INTERFACE "${GRAPHBLAS_INCLUDE_DIR}")
target_link_libraries(lacuna_graphblas INTERFACE "${GRAPHBLAS_LIBRARY}")
