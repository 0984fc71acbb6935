# Compiler settings shared by every target of the host build.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
# The same object files are linked into the program and into libhsakmt.so.1 of drivers/rocm.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O3 -g1")

# Debug builds and builds with sanitizers keep assertions. The other optimised builds disable them by NDEBUG, which is safe because the
# models' checks of input do not use assertions.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO} -DNDEBUG")

set(LACUNA_SANITIZE OFF CACHE STRING "ON: build with AddressSanitizer and UndefinedBehaviorSanitizer; THREAD: with ThreadSanitizer")
option(LACUNA_X86_64_V3 "Compile for x86-64-v3 (AVX2, FMA). used only where the build machine has them" ON)

add_library(lacuna_options INTERFACE)
target_include_directories(lacuna_options INTERFACE "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}/generated")
target_compile_options(lacuna_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror
  # GCC 12 falsely reports overlaps inside std::string's own operator+ (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # Makes results bit-identical on every host: a*b+c becomes a fused multiply-add only where the code calls fma().
  -ffp-contract=off -fno-math-errno
  # Lacuna's functions are never interposed, so they may be inlined in position-independent code as well.
  -fno-semantic-interposition)
if(LACUNA_SANITIZE)
  # With sanitizers, readable stack traces and assertions matter more than speed.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
  if(LACUNA_SANITIZE STREQUAL "THREAD")
    set(LACUNA_SANITIZERS -fsanitize=thread)
  else()
    set(LACUNA_SANITIZERS -fsanitize=address,undefined -fno-sanitize-recover=undefined)
  endif()
  # GCC documents false positives of -Wmaybe-uninitialized with -fsanitize.
  target_compile_options(lacuna_options INTERFACE ${LACUNA_SANITIZERS} -fno-omit-frame-pointer -Wno-maybe-uninitialized)
  target_link_options(lacuna_options INTERFACE ${LACUNA_SANITIZERS})
endif()

# Vector instructions over 64 lanes are loops that the compiler vectorises; AVX2 and FMA make them several times faster.
# Results are the same without AVX2 and FMA (see models/isa); only speed differs.
include(CheckCXXSourceRuns)
set(CMAKE_REQUIRED_FLAGS "-O1")
check_cxx_source_runs("int main() { return __builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\") && __builtin_cpu_supports(\"bmi2\") ? 0 : 1; }"
  LACUNA_HOST_HAS_X86_64_V3)
unset(CMAKE_REQUIRED_FLAGS)
if(LACUNA_X86_64_V3 AND LACUNA_HOST_HAS_X86_64_V3)
  target_compile_options(lacuna_options INTERFACE -march=x86-64-v3 -mtune=native)
  set(LACUNA_BUILT_FOR_X86_64_V3 ON)
endif()
