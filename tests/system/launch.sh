#!/usr/bin/env bash
# launch.sh KERNELS: tests `lacuna launch` with a code object of one version and target: every kind of argument, hidden
# arguments, data from and to files, comparisons.
source "$(dirname "$0")/common.sh"

code=$FIRMWARE/kernels/$1.co
launch() { expect "$1" "$LACUNA" launch "$code" --out out "${@:2}"; }
integers() { od -An -v -td4 -w$((4 * $2)) "$1" | head -n 1 | xargs; }
is() { [[ $1 == "$2" ]] || fail "\"$1\" instead of \"$2\""; }

# Tests arguments: scalars of all sizes, a vector, two local pointers, an optional buffer.
common=(--arg lds:1024 --arg f32x4:1,2,3,4 --arg i8:-3 --arg i16:100 --arg i64:-7 --arg f64:2.5 --arg lds:2K)
launch 0 --kernel arguments --grid 512 --block 256 --arg out:2048:a.bin "${common[@]}" --arg null
is "$(integers a.bin 3)" "351 350 349"
launch 0 --kernel arguments --grid 512 --block 256 --arg out:2048:a.bin "${common[@]}" --arg fill:1:i32:constant\(1000\)
is "$(integers a.bin 3)" "1351 1350 1349"

# Tests hidden arguments and fields of the packet.
launch 0 -k shape --grid 100,6,3 --block 32,2,3 --offset 0 -a out:64:s.bin
is "$(integers s.bin 13)" "100 6 3 32 2 3 4 3 1 0 0 0 3"
launch 0 -k shape --blocks 5 --block 128 -a out:64:s.bin
is "$(integers s.bin 13)" "640 1 1 128 1 1 5 1 1 0 0 0 1"
launch 0 -k shape --grid 256 --block 64 --offset 7,8,9 -a out:64:s.bin
is "$(integers s.bin 13)" "256 1 1 64 1 1 4 1 1 7 8 9 1"

# A required workgroup size is the default.
launch 0 -k required_size --grid 64,4 -a out:1K:r.bin
is "$(od -An -v -td4 -w4 r.bin | sed -n '66p' | xargs)" 101

# A workgroup larger than the kernel was compiled for, which some hosts launch, is refused unless the user allows it.
launch 2 -k shape --grid 1024 --block 1024 -a out:64:s.bin
complains "the kernel was compiled for at most 256"
launch 0 -k shape --grid 1024 --block 1024 --max-block 1024 -a out:64:s.bin
is "$(integers s.bin 6)" "1024 1 1 1024 1 1"
complains "kernel shape gets blocks of 1024 work-items by max_block; it was compiled for at most 256"
grep -q "by max_block" out/log.txt || fail "log.txt does not have the warning"
launch 2 -k shape --grid 1024 --block 1024 --max-block 512 -a out:64:s.bin
complains "max_block allows 512"
printf '%s\n' '[code]' "file = $code" '[buffer sizes]' 'contents = zero:64' 'save = s.bin' '[dispatch shape]' 'grid = 512' \
  'block = 512' 'max_block = 512' 'arg = buf:sizes' >beyond.launch
expect 0 "$LACUNA" launch beyond.launch --out out
is "$(integers s.bin 6)" "512 1 1 512 1 1"

# Recursion needs a stack.
launch 0 -k recursion --grid 64 -a out:256:f.bin -a i32:10 --stack 16K
is "$(integers f.bin 2)" "55 55"

# Changes a buffer that is loaded from a file and saved to it; then repeats a dispatch.
for i in 40 30 20 10; do printf '\x'"$i"'\0\0\0'; done >values.bin
launch 0 -k bitonic_pass --grid 4 -a inout:values.bin -a u32:2 -a u32:4
is "$(integers values.bin 4)" "32 16 64 48"
launch 0 -k nothing --grid 64 -a zero:4 --repeat 50
grep -q '^nothing  *50 ' err.txt || fail "not 50 dispatches"
launch 0 -k nothing --grid 65536 -a zero:4 --set dispatcher.cycles_per_workgroup=20cycles
[[ $(sed -n '2p' out/kernels.csv | cut -d, -f10) -ge $((20 * 1023)) ]] || fail "1024 workgroups were launched in less than 20 cycles each"

# Tests comparisons: exact, with tolerance, and reported differences.
operands=(-k divide --grid 1K --block 256 -a fill:1K:f32:uniform\(1,2\):3 -a fill:1K:f32:uniform\(1,2\):4:name=b)
launch 2 "${operands[@]}" -a out:4K:q.bin # --grid is a number without a unit
operands[3]=1024
launch 0 "${operands[@]}" -a out:4K:q.bin
cp q.bin reference.bin
launch 0 "${operands[@]}" -a out:4K:q.bin --compare reference.bin
says "comparison: argument_2 equals reference.bin (1024 f32 elements)"
printf '\x00\x00\x80\x3f' | dd of=reference.bin bs=4 seek=17 conv=notrunc status=none
launch 3 "${operands[@]}" -a out:4K:q.bin --compare 2=reference.bin --tolerance ulp=2
says "differs from reference.bin in 1 of 1024 f32 elements"
says "  [17] "
launch 0 "${operands[@]}" -a out:4K:q.bin --compare reference.bin --tolerance abs=2

# A fault is reported with kernel and location, and ends the run with exit code 1.
launch 1 -k shape --grid 64 -a null
complains "memory fault"
complains "kernel shape"
