#!/usr/bin/env bash
# Tests the command line that all workloads share, with relu as an example.
source "$SOURCE/tests/rocm/common.sh"

relu() { on_gpu --quiet --config tiny --set gpu.timing=functional -- relu "$@"; }

# Options that do not need a GPU also work if there is none.
expect 0 "$PROGRAMS/relu" --help
says "--length"
says "100000, 4096, 1048576"
expect 0 "$PROGRAMS/relu" --describe
says "$(printf 'name\trelu')"
says "$(printf 'default\t--length 4096')"

expect 2 "$PROGRAMS/relu" --lenght 5
complains "relu: error: unknown option --lenght; did you mean --length?"
expect 2 "$PROGRAMS/relu" --lenght=5
complains "relu: error: unknown option --lenght; did you mean --length?"
expect 2 "$PROGRAMS/relu" --len 5
complains "unknown option --len; --help lists them"
expect 2 "$PROGRAMS/relu" --length 5k
complains "--length: '5k' is not a whole number from 1 to 1073741824"
expect 2 "$PROGRAMS/relu" --length 0
complains "--length: '0' is not a whole number from 1 to 1073741824"
expect 2 "$PROGRAMS/relu" --sparsity nan
complains "--sparsity: 'nan' is not a number from 0 to 1"
expect 2 "$PROGRAMS/relu" --preset smal
complains "--preset: 'smal' is not one of small, default, paper; did you mean small?"
expect 2 "$PROGRAMS/relu" --length
expect 2 "$PROGRAMS/relu" 5

# Input that does not fit into memory is reported.
relu --length 100000000
expect 1 "${command[@]}"
complains "relu: error: the input takes 381.5 MiB of the GPU's memory, of 256 MiB only"

# Checks presets, options that override presets, the seed and the closing line.
relu --preset small --length 1000 --seed 3 --repeat 3
expect 0 "${command[@]}"
grep -qE '^result: workload=relu gpu=gfx803 preset=small seed=3 repeat=3 length=1000 elements=4 sparsity=0 time_us=[0-9.]+,[0-9.]+,[0-9.]+ check=skipped$' \
  out.txt || fail "the closing line is another"
