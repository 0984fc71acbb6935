#!/usr/bin/env bash
# Tests firmware outside of the source tree: examples/firmware is built in a new folder by the makefile of the build. Reports of
# its faults have source lines, and GDB can stop in it.
source "$(dirname "$0")/common.sh"

cp "$SOURCE"/examples/firmware/* .
make=(make "LACUNA_BUILD=$(dirname "$FIRMWARE")")
expect 0 "${make[@]}"
[[ -s saxpy.elf ]] || fail "no saxpy.elf"
expect 0 "${make[@]}" run
says "saxpy of 4096 elements: correct"
expect 0 "${make[@]}"
says "Nothing to be done"

# Builds the example for the other instruction set, with a kernel that stores beyond its buffer.
expect 0 "${make[@]}" clean
[[ $(ls | sort | tr '\n' ' ') == "Makefile err.txt lacuna-out out.txt saxpy.c saxpy.cl " ]] || fail "clean leaves $(ls)"
sed -i 's/y\[i\] += /y[i + (1 << 20)] += /' saxpy.cl
expect 2 "${make[@]}" GPU=gfx90a run
complains "kernel saxpy, PC 0x"
complains "saxpy.cl:3"

# Compiles the example with -Og and runs it under GDB, as in the documentation.
cp "$SOURCE/examples/firmware/saxpy.cl" .
expect 0 "${make[@]}" clean
expect 0 "${make[@]}" CFLAGS=-Og
"${make[@]}" CFLAGS=-Og PORT=0 debug >run.txt 2>debug.txt </dev/null &
process=$!
await grep -q 'target remote 127.0.0.1' debug.txt
grep -qF "gdb-multiarch saxpy.elf -ex 'target remote :0' -ex 'break main' -ex continue" run.txt || fail "make does not say what to type"
port=$(sed -n 's/.*target remote 127.0.0.1:\([0-9]\+\)$/\1/p' debug.txt)
timeout "$time_limit" "$GDB" -nx -nh -batch -ex "set remotetimeout $time_limit" -ex "target remote 127.0.0.1:$port" -ex 'break main' -ex continue \
  -ex 'break app_run' -ex continue -ex up -ex 'print ys[0]' -ex 'print arguments.n' -ex continue saxpy.elf >out.txt 2>&1 </dev/null || true
wait $process || fail "the program under GDB has failed"
says "saxpy.c:"
says "= 1"
says "= 4096"
says "exited normally"
