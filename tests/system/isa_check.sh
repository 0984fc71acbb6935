#!/usr/bin/env bash
# `lacuna isa check`, and the same check when a kernel is dispatched: one kernel that cannot run does not stop the others of its file.
source "$(dirname "$0")/common.sh"

code=$FIRMWARE/kernels/test_kernels.co
expect 1 "$LACUNA" isa check "$code"
says "test_kernels.co: gfx803, code object version 4"
says "kernel illegal: CANNOT RUN, unsupported"
says ".long 0xbfff0000: unknown SOPP opcode"
says "kernel count_up: runs, exact"
expect 1 "$LACUNA" isa check --json "$code"
python3 - <<'CHECK' || fail "the JSON report is not what the text says"
import json
report = json.load(open("out.txt"))
kernels = {kernel["kernel"]: kernel for kernel in report[0]["kernels"]}
assert report[0]["target"] == "gfx803"
assert not kernels["illegal"]["runs"] and kernels["illegal"]["problems"][0]["instruction"] == ".long 0xbfff0000"
assert kernels["count_up"]["runs"] and kernels["count_up"]["uses"]["s_endpgm"]["count"] == 1
CHECK

# Several files; calls are followed, each mnemonic is counted.
expect 0 "$LACUNA" isa check "$FIRMWARE/kernels/vector_add.co" "$FIRMWARE/kernels/launch_examples_v2.co"
says "kernel vector_add: runs, exact"
says "v_add_f32 1"
says "kernel recursion: runs, exact"
says "kernel divide: runs"

# No code object, and one for another processor.
expect 2 "$LACUNA" isa check "$FIRMWARE/hello.elf"
complains "is for RISC-V (243), AMDGPU (224) is needed"
expect 2 "$LACUNA" isa check nowhere.co
complains "nowhere.co: no such file"
{ head -c 48 "$FIRMWARE/kernels/vector_add.co"; printf '\x2c'; tail -c +50 "$FIRMWARE/kernels/vector_add.co"; } >other.co
expect 2 "$LACUNA" isa check other.co
complains "processor 0x2c of e_flags is not one of gfx803, gfx90a"
expect 2 "$LACUNA" isa chekc "$code"
complains "lacuna isa needs check"
expect 2 "$LACUNA" isa check

# At dispatch: refused by kernel, with name, PC and instruction.
expect 1 "$LACUNA" launch "$code" -k illegal --grid 64 -a zero:4 --out out
complains "kernel illegal cannot run: PC 0x"
complains ".long 0xbfff0000: unknown SOPP opcode"
expect 0 "$LACUNA" launch "$code" -k count_up --grid 64 -a out:4:count.bin --out out
[[ $(od -An -td4 count.bin) -eq 64 ]] || fail "count_up counted $(od -An -td4 count.bin)"
