#!/usr/bin/env bash
# Checks that GPU errors that the program does not handle end the program with an exit code and messages that name the error and
# its location.
source "$(dirname "$0")/common.sh"

expect 1 "$LACUNA" run "$FIRMWARE/unhandled_packet.elf" --config tiny
complains "queue 0 stopped at packet 0: packet type 255"
says "the device could not process"
expect 1 "$LACUNA" run "$FIRMWARE/unhandled_fault.elf" --config tiny
complains "store or atomic of 4 bytes at 0x123456789abc, lane 0, address not mapped"
complains "kernel store_to, PC 0x"
expect 1 "$LACUNA" run "$FIRMWARE/unhandled_full_queue.elf" --config tiny
says "the queue has no free packet slot"
expect 125 "$LACUNA" run "$FIRMWARE/wait_for_nobody.elf" --config tiny --set sim.max_idle=1ms --out hung
complains "no progress for 1.000 ms"
complains "hart: waits for an interrupt"
complains "queue 0"
grep -q "no progress" hung/log.txt || fail "log.txt does not say why the run ended"

# Mistakes that a program repeats are logged a few times; their total is reported at the end.
expect 0 "$LACUNA" run "$FIRMWARE/gpu_mistakes.elf" --config tiny --out mistakes
complains "1,000 doorbells of inactive queues"
complains "1,000 refused GPUVM commands"
complains "1,000 refused queue commands"
complains "200 stopped queues"
(($(wc -l <err.txt) < 100)) || fail "the log grows with the mistakes"
(($(wc -l <mistakes/log.txt) < 100)) || fail "log.txt grows with the mistakes"
grep -q '"stopped queues": 200' mistakes/statistics.json || fail "statistics.json does not count the mistakes"
# The report of a fault in a function that a kernel calls names both the function, which is in no dynamic symbol table, and the
# kernel.
cat >function.cl <<'EOF'
static __attribute__((noinline)) void store_in_function(global int* place, int value) { *place = value; }
kernel void call_to_store(global int* place) { store_in_function(place + get_global_id(0), 3); }
EOF
for target in gfx803 gfx90a; do
  libraries=$(dirname "$(ls -d /usr/lib/*/amdgcn/bitcode/opencl.bc /usr/lib/amdgcn/bitcode/opencl.bc 2>/dev/null | head -n 1)")
  clang-16 -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=$target "--rocm-device-lib-path=$libraries" -O2 -c function.cl -o function.o
  ld.lld-16 -shared function.o -o function.co
  expect 1 "$LACUNA" launch function.co -k call_to_store --grid 64 -a null --stack 1K --config tiny --out function
  grep -qE "kernel call_to_store, PC 0x[0-9a-f]+ \(function store_in_function \+0x[0-9a-f]{1,3}\)" err.txt || fail "the function is not named"
done

# A kernel for a target other than the device's is reported.
expect 1 "$LACUNA" run "$FIRMWARE/scratch_gfx90a.elf" --config tiny --out wrong_target
says "the code object is for gfx90a, the device is gfx803"
expect 1 "$LACUNA" run "$FIRMWARE/scratch.elf" --config tiny --set gpu.target=gfx90a --out other_target
says "the code object is for gfx803, the device is gfx90a"
