#!/usr/bin/env bash
# Checks that results do not depend on the runtime's own switches, which change how the runtime uses the GPU, and that programs
# also run without `lacuna exec`. Also tests the messages about wrong settings.
source "$(dirname "$0")/common.sh"

# with VARIABLE=VALUE... -- PROGRAM [ARGUMENT]...: runs the program with these variables.
with() {
  local variables=()
  while [[ $1 != -- ]]; do variables+=("$1"); shift; done
  on_gpu --config tiny --set gpu.target="$target" "$@"
  expect 0 env "${variables[@]}" "${command[@]}"
  says "checks passed"
}

target=gfx803
# Independent switches share a run. copies_2d with HSA_ENABLE_SDMA=1 is in sdma.sh.
with HSA_ENABLE_SDMA=1 -- copies
with HSA_ENABLE_INTERRUPT=0 GPU_MAX_HW_QUEUES=1 -- streams
with HSA_DISABLE_FRAGMENT_ALLOCATOR=1 ROC_ENABLE_LARGE_BAR=0 HSA_DISABLE_IMAGE=1 -- host_memory
with GPU_MAX_HW_QUEUES=12 -- streams
with HSA_NO_SCRATCH_RECLAIM=1 -- scratch
with AMD_SERIALIZE_KERNEL=3 AMD_SERIALIZE_COPY=3 -- streams
# Variables of ROCm's own libhsakmt: the first one selects the instruction set that the GPU has anyway; the second one has no effect
# here, which a warning reports.
with HSA_OVERRIDE_GFX_VERSION=8.0.3 HSA_ZFB=1 -- vector_add
complains "HSA_ZFB=1 has no effect"
target=gfx90a
with HSA_ENABLE_SDMA=0 -- copies_2d
with HSA_ENABLE_INTERRUPT=0 -- streams
with HSA_NO_SCRATCH_RECLAIM=1 -- scratch

# A program that is started without `lacuna exec` needs only the library path.
expect 0 env LD_LIBRARY_PATH="$library_folder" LACUNA_CONFIG=tiny LACUNA_OUT=plain "$PROGRAMS/vector_add"
says "checks passed"
has_results plain
expect 1 env HSA_OVERRIDE_GFX_VERSION=9.0.10 LD_LIBRARY_PATH="$library_folder" LACUNA_CONFIG=tiny LACUNA_OUT=none "$PROGRAMS/vector_add"
complains "choose such GPUs by --set gpu.target=gfx90a"
expect 0 env LD_PRELOAD="$library_folder/libhsakmt.so.1" LACUNA_CONFIG=tiny LACUNA_OUT=none "$PROGRAMS/vector_add"
says "checks passed"

# `lacuna exec` makes the library a tool of the runtime, so that waiting threads sleep, unless the user has specified the tools.
expect 0 "$LACUNA" exec --config tiny -- sh -c 'echo "tools: [$HSA_TOOLS_LIB]"'
says 'tools: [libhsakmt.so.1]'
expect 0 env HSA_TOOLS_LIB= "$LACUNA" exec --config tiny -- sh -c 'echo "tools: [$HSA_TOOLS_LIB]"'
says 'tools: []'

# Wrong settings are reported by name, before the program starts.
expect 2 "$LACUNA" exec --config absent -- "$PROGRAMS/vector_add"
complains absent
expect 2 "$LACUNA" exec --set gpu.targt=gfx803 -- "$PROGRAMS/vector_add"
complains gpu.target
expect 2 "$LACUNA" exec --set rocm.gpus=gfx803,gfx1030 -- "$PROGRAMS/vector_add"
complains gfx1030
expect 2 env HSA_OVERRIDE_GFX_VERSION=10.3.0 "$LACUNA" exec --config tiny -- "$PROGRAMS/vector_add"
complains "HSA_OVERRIDE_GFX_VERSION=10.3.0 selects gfx1030, but GPU 0 executes gfx803 (gpu.target)"
expect 2 "$LACUNA" exec
expect 127 "$LACUNA" exec -- ./there-is-no-such-program
complains there-is-no-such-program

# `lacuna exec` preserves the program's arguments, exit code and standard input.
expect 5 "$LACUNA" exec --config tiny -- sh -c 'exit 5'
expect 0 "$LACUNA" exec --config tiny -- echo --config "two words"
says '--config two words'
