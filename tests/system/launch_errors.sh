#!/usr/bin/env bash
# Tests launches that are refused before anything runs, with a message that names the mistake, its location and the nearest
# valid name.
source "$(dirname "$0")/common.sh"

code=$FIRMWARE/kernels/launch_examples.co
refuses() {
  local sentence=$1
  shift
  expect 2 "$LACUNA" launch "$@" --out out
  complains "$sentence"
  [[ ! -e out ]] || fail "an output folder was made"
}
kernel() { refuses "$1" "$code" --grid 64 --kernel "${@:2}"; }

refuses "nowhere.co: no such file" nowhere.co -k nothing --grid 1
refuses "--kernel is missing; the kernels of" "$code" --grid 1
refuses "--grid or --blocks" "$code" -k nothing
refuses "unknown option --girt; did you mean --grid?" "$code" -k nothing --girt 1
kernel "has no kernel recursoin; did you mean recursion?" recursoin
complains "  bitonic_pass(uint* #0, uint #1, uint #2)"
kernel "0 arguments for a kernel that takes 1" nothing
kernel "2 arguments for a kernel that takes 1" nothing -a null -a null
complains "  nothing(int* #0)"
kernel "argument 0 is a scalar, but the parameter is a pointer" nothing -a i32:1
kernel "argument 1 has 8 bytes, the parameter 4" recursion -a zero:4 -a i64:1
kernel "argument 1 is f32, the parameter is int" recursion -a zero:4 -a f32:1
kernel "300 does not fit in u8" recursion -a zero:4 -a u8:300
kernel "block 32,1,1: the kernel requires 32,2,1" required_size --block 32 -a zero:4
kernel "has 512 work-items, the kernel was compiled for at most 256" nothing --block 512 -a zero:4
kernel "more than 1024 work-items" nothing --block 64,64 -a zero:4
kernel "did you mean inout?" nothing -a imout:a.bin
kernel "a.bin: no such file" nothing -a in:a.bin
for file in in: inout: out:4: raw: fill:4:f32:bits:save=; do kernel "\"${file##*bits:}\" names no file" nothing -a "$file"; done
kernel '"buf:" names no buffer' nothing -a buf:
kernel "a comparison names no file" nothing -a out:4:a.bin --compare 0=
kernel "there is no folder" nothing -a out:4:nowhere/a.bin
kernel "unknown element type f33; did you mean f32?" nothing -a fill:4:f33:bits
kernel "unknown pattern unifrm; did you mean uniform?" nothing -a "fill:4:f32:unifrm(0,1)"
kernel "uniform takes 2 numbers" nothing -a "fill:4:f32:uniform(0)"
kernel "unknown option zero; did you mean zeros?" nothing -a "fill:4:f32:bits:1:zero=0.5"
kernel "unknown buffer x" nothing -a buf:x
kernel "bytes of LDS" arguments -a zero:4 -a lds:64K -a f32x4:0,0,0,0 -a i8:0 -a i16:0 -a i64:0 -a f64:0 -a lds:1 -a null
kernel "there is no argument 5" nothing -a out:4:a.bin --compare 5="$code"
kernel "the buffer 4" nothing -a out:4:a.bin --compare "$code"
kernel "--tolerance without --compare" nothing -a out:4:a.bin --tolerance abs=1
kernel "--define belongs to launch files" nothing -a null --define n=1
head -c 1000 "$code" >cut.co
refuses "cut.co: truncated" cut.co -k nothing --grid 1
refuses "is for RISC-V" "$FIRMWARE/hello.elf" -k nothing --grid 1

cp "$code" code.co
line() { # line NUMBER SENTENCE TEXT...: checks that a launch file with the lines TEXT is refused at line NUMBER
  printf '%s\n' "${@:3}" >bad.launch
  refuses "bad.launch:$1: " bad.launch
  complains "$2"
}
line 1 "is before the first section" 'n = 1'
line 1 "unknown section [dispach]; did you mean dispatch?" '[dispach x]'
line 2 "unknown key gird in [dispatch]; did you mean grid?" '[dispatch nothing]' 'gird = 1'
line 1 "needs grid or blocks" '[dispatch nothing]'
line 3 "file is given twice, first in line 2" '[code]' 'file = code.co' 'file = code.co'
line 1 "[buffer x] needs contents" '[buffer x]'
line 1 "[for] has the form" '[for k in 1..2]'
line 1 "has no [end]" '[while 1]'
line 1 "[end] without" '[end]'
line 2 "nowhere.co: no such file" '[code]' 'file = nowhere.co'
line 3 "no kernel nothin; did you mean nothing?" '[code]' 'file = code.co' '[dispatch nothin]' 'grid = 1' 'arg = null'
line 4 "unknown name m" '[code]' 'file = code.co' '[dispatch nothing]' 'grid = m' 'arg = null'
line 5 "unknown buffer y; did you mean x?" '[buffer x]' 'contents = zero:4' '[code]' 'file = code.co' '[write y]' 'contents = zero:4'
line 2 "division by zero" '[set]' 'n = 1 / 0'
line 3 "buffer x exists already, since line 1" '[buffer x]' 'contents = zero:4' '[buffer x]' 'contents = zero:4'

# Mistakes that are found only during the run are reported in the same way.
printf '%s\n' '[code]' 'file = code.co' '[buffer x]' 'contents = zero:4:i32' '[for i = 0; i < 3; i = i + 1]' '[dispatch nothing]' \
  'grid = 2 - i' 'arg = buf:x' '[end]' >late.launch
expect 2 "$LACUNA" launch late.launch --out late
complains 'late.launch:7: "2 - i" is 0, outside 1..4294967295'
