#!/usr/bin/env bash
# Tests `lacuna finalize`: other tools ignore its tags, Lacuna displays them, and damaged tags are refused.
source "$(dirname "$0")/common.sh"

kernels=$FIRMWARE/kernels
expect 0 "$LACUNA" finalize "$kernels/vector_add.co" --no-move -o tagged.co --report report.json
says "vector_add.co: gfx803, 1 kernels, 2 vector loads, 1 chains"
says "pattern 1, c = f(a, b)"
grep -q "^    01 0x[0-9a-f]*  flat_load_dword" out.txt || fail "no first instruction"
grep -q "^    11 0x[0-9a-f]*  flat_store_dword" out.txt || fail "no last instruction"
python3 - <<'EOF'
import json
kernel = json.load(open("report.json"))[0]["kernels"][0]
chain = kernel["chains"][0]
assert chain["pattern"] == 1 and [i["tag"] for i in chain["instructions"]] == ["01", "10", "10", "10", "11"], chain
assert kernel["vector_loads"] == 2 and kernel["refused"] == [], kernel
EOF
# For every code object, finalizing changes nothing that LLVM or a loader reads, and finalizing a second time does not change
# the file.
chains=0 moved=0
while read -r code; do
  expect 0 "$LACUNA" finalize "$code" --no-move -o once.co
  chains=$((chains + $(grep -c '^  pattern' out.txt || true)))
  expect 0 "$LACUNA" finalize once.co --no-move -o twice.co
  cmp once.co twice.co || fail "$code: tagged twice differs from once"
  llvm-objdump-16 -d "$code" | tail -n +3 >before.txt
  llvm-objdump-16 -d once.co | tail -n +3 >after.txt
  cmp before.txt after.txt || fail "$code: its disassembly has changed"
  llvm-readelf-16 -lsn "$code" | grep -v "^File:\|^ *None " >before.txt
  llvm-readelf-16 -lsn once.co | grep -v "^File:\|^ *None " >after.txt
  cmp before.txt after.txt || fail "$code: segments, symbols or notes have changed"
  # Moved code has the same number of instructions, which are tagged and can be disassembled; moving it again changes nothing.
  expect 0 "$LACUNA" finalize "$code" -o moved.co
  moved=$((moved + $(grep -c '(before moving: ' out.txt || true)))
  expect 0 "$LACUNA" finalize moved.co -o twice.co
  cmp moved.co twice.co || fail "$code: moved twice differs from once"
  [[ $(llvm-objdump-16 -d moved.co | grep -c '//') == $(llvm-objdump-16 -d "$code" | grep -c '//') ]] || fail "$code: other instructions"
  expect 0 "$LACUNA" disasm moved.co
# Files of code object versions 2, 3 and 5 are omitted, as their code is the same.
done < <(find "$kernels" -name '*.co' ! -name '*_v[0-9]*.co')
[[ $moved -ge 1 ]] || fail "no kernel of the firmware's has been moved"
[[ $chains -ge 5 ]] || fail "only $chains chains in the firmware's kernels"

# Tags are displayed and counted.
expect 0 "$LACUNA" disasm tagged.co
[[ $(grep -c '\[01 chain 0, pattern 1, load a\]$' out.txt) == 1 ]] || fail "no first instruction in the disassembly"
[[ $(grep -c '\[1[01] chain 0, pattern 1, ' out.txt) == 4 ]] || fail "not four other instructions in the disassembly"
sed 's/ \[[01]* chain .*\]$//' out.txt | tail -n +3 | cmp - <(llvm-objdump-16 -d tagged.co | tail -n +3) || fail "the rest is not LLVM's"
expect 0 "$LACUNA" isa check tagged.co
says "offload chains: 1 of pattern 1, 5 instructions tagged"
expect 0 "$LACUNA" isa check --json tagged.co
says '"tagged_instructions": 5'
expect 0 "$LACUNA" isa check "$kernels/vector_add.co"
! grep -q "offload chains" out.txt || fail "a file without tags has chains"

# Bundles can be finalized like code objects; host programs with bundles can be read but not written.
le64() { local n=$1 i; for ((i = 0; i < 8; ++i)); do printf "\\x$(printf %02x $((n >> 8 * i & 255)))"; done; }
host=host-x86_64-unknown-linux-gnu gpu=hipv4-amdgcn-amd-amdhsa--gfx803
{
  printf __CLANG_OFFLOAD_BUNDLE__; le64 2
  le64 4096; le64 0; le64 ${#host}; printf $host
  le64 4096; le64 "$(stat -c %s "$kernels/vector_add.co")"; le64 ${#gpu}; printf -- $gpu
} >bundle.bin
truncate -s 4096 bundle.bin
cat "$kernels/vector_add.co" >>bundle.bin
expect 0 "$LACUNA" finalize bundle.bin --no-move -o tagged.bin
says "1 chains"
expect 0 "$LACUNA" isa check tagged.bin
says "offload chains: 1 of pattern 1"
expect 0 "$LACUNA" finalize tagged.bin --no-move -o again.bin
cmp tagged.bin again.bin || fail "a bundle that is tagged twice differs"
tail -c +4097 tagged.bin | cmp - tagged.co || fail "the bundle's code object is not the tagged one"
printf 'int main() { return 0; }' | c++ -x c++ - -o host
objcopy --add-section .hip_fatbin=bundle.bin --set-section-flags .hip_fatbin=contents,alloc,readonly,data host host_with_code 2>/dev/null
expect 0 "$LACUNA" finalize host_with_code
says "1 chains"
expect 2 "$LACUNA" finalize host_with_code -o no.co
complains "host_with_code: is a program for the host"
[[ ! -e no.co ]] || fail "a file was written"

# Bad input: no code object, another target, unknown control flow, damaged tags.
expect 2 "$LACUNA" finalize "$FIRMWARE/hello.elf"
complains "is for RISC-V (243), AMDGPU (224) is needed"
{ head -c 48 "$kernels/vector_add.co"; printf '\x2c'; tail -c +50 "$kernels/vector_add.co"; } >other.co
expect 2 "$LACUNA" finalize other.co
complains "processor 0x2c of e_flags is not one of gfx803, gfx90a"
expect 2 "$LACUNA" finalize
complains "lacuna finalize needs FILE"
expect 2 "$LACUNA" finalize "$kernels/vector_add.co" --no-move --take-apart
complains "--take-apart moves code, --no-move does not"
expect 0 "$LACUNA" finalize "$kernels/launch_examples.co" --no-move
says "kernel recursion: not tagged, control flow is not fully known: s_swappc_b64 at 0x"
grep -q "^kernel .* vector loads, .* chains" out.txt || fail "the other kernels are not finalized"
damage() { # damage FIND REPLACE: replaces bytes of the section, given in hexadecimal
  python3 - "$1" "$2" <<'EOF'
import sys
data = open("tagged.co", "rb").read()
find, replace = bytes.fromhex(sys.argv[1]), bytes.fromhex(sys.argv[2])
at = data.index(b"LNDC")
at = data.index(find, at)
open("damaged.co", "wb").write(data[:at] + replace + data[at + len(find):])
EOF
}
refuses() { # refuses TEXT: checks that damaged.co is refused with the message TEXT
  for command in disasm "isa check"; do
    expect 2 "$LACUNA" $command damaged.co
    complains "damaged.co: section .lacuna.chains: $1"
  done
}
damage 4c4e444302 4c4e444301
refuses "version 1 is not 2"
first=$(grep -o '01 0x[0-9a-f]*' <("$LACUNA" finalize tagged.co --no-move) | head -1 | cut -d' ' -f2)
python3 - <<'EOF'
import struct
data = bytearray(open("tagged.co", "rb").read())
at = data.index(b"LNDC") + 12 + 16 + 12 + 12
middle = bytearray(data); middle[at + 4] = 2; open("middle.co", "wb").write(middle)
outside = bytearray(data); outside[at:at + 4] = struct.pack("<i", 0x10000); open("outside.co", "wb").write(outside)
check = bytearray(data); check[at + 8] ^= 1; open("check.co", "wb").write(check)
EOF
cp middle.co damaged.co
refuses "kernel vector_add: $first has tag 10 where 01 belongs"
cp check.co damaged.co
refuses "kernel vector_add: $first is not the instruction that was tagged"
cp outside.co damaged.co
refuses "kernel vector_add: 0x"
# Finalizing the file again replaces its damaged tag section.
expect 0 "$LACUNA" finalize damaged.co --no-move -o repaired.co
cmp repaired.co tagged.co || fail "tagging did not repair the section"
