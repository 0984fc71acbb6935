#!/usr/bin/env bash
# Tests `lacuna isa check`, and the same check at dispatch: a kernel that cannot run does not affect other kernels of its file.
source "$(dirname "$0")/common.sh"

code=$FIRMWARE/kernels/test_kernels.co
expect 1 "$LACUNA" isa check "$code"
says "test_kernels.co: gfx803, code object version 4"
says "kernel illegal: CANNOT RUN, unsupported"
says ".long 0xbfff0000: unknown SOPP opcode"
says "kernel count_up: runs, exact"
expect 1 "$LACUNA" isa check --json "$code"
says '"target": "gfx803"'
says '"instruction": ".long 0xbfff0000"'
[[ $(grep -c '"runs": false' out.txt) == 1 ]] || fail "not one kernel that does not run"
[[ $(grep -c '"kernel": ' out.txt) -ge 5 ]] || fail "too few kernels"

# Several files are checked; calls are followed, and each mnemonic is counted.
expect 0 "$LACUNA" isa check "$FIRMWARE/kernels/vector_add.co" "$FIRMWARE/kernels/launch_examples_v2.co"
says "kernel vector_add: runs, exact"
says "v_add_f32 1"
says "kernel recursion: runs, exact"
says "kernel divide: runs"

# Arguments and resources of kernels are the same in every version, as text and as JSON.
for kernels in launch_examples_v2 launch_examples launch_examples_v5 launch_examples_gfx90a_v4; do
  expect 0 "$LACUNA" isa check "$FIRMWARE/kernels/$kernels.co"
  sed -n '/^kernel arguments:/,/^  exact:/p' out.txt | tr -s ' ' >signature.txt
  for line in "arguments: 9, and" "#0 int\* global 8 bytes at 0" "#1 int\* local 4 bytes at 8" "#2 float4 - 16 bytes at 16" \
    "#8 int\* global 8 bytes at 64" "VGPRs, .* SGPRs, 0 bytes of LDS, 0 bytes of scratch" "workgroup: at most 256 work-items" \
    "wavefronts per SIMD with workgroups of 256"; do
    grep -qE -- "$line" signature.txt || fail "$kernels: the signature does not say: $line"
  done
  says "workgroup: 32 x 2 x 1 required"
done
expect 0 "$LACUNA" isa check --json "$FIRMWARE/kernels/launch_examples.co"
for line in '"type": "float4"' '"address_space": "local"' '"offset": 64' '"required_workgroup_size": null' \
  '"wavefronts_per_simd": ' '"lds_bytes": 0' '"kind": "hidden_global_offset_x"'; do
  says "$line"
done

# Rejects a file that is not a code object, and a code object for another processor.
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

# At dispatch, the kernel is refused with its name, PC and instruction.
expect 1 "$LACUNA" launch "$code" -k illegal --grid 64 -a zero:4 --out out
complains "kernel illegal cannot run: PC 0x"
complains ".long 0xbfff0000: unknown SOPP opcode"
expect 0 "$LACUNA" launch "$code" -k count_up --grid 64 -a out:4:count.bin --out out
[[ $(od -An -td4 count.bin) -eq 64 ]] || fail "count_up counted $(od -An -td4 count.bin)"

# Accepts an offload bundle as made by clang (two targets, and an empty entry for the host), and the same bundle in a section of
# a host executable.
le64() { local n=$1 i; for ((i = 0; i < 8; ++i)); do printf "\\x$(printf %02x $((n >> 8 * i & 255)))"; done; }
bundle() { # bundle FILE8 FILE9: writes bundle.bin with these code objects for gfx803 and gfx90a
  local ids=(host-x86_64-unknown-linux-gnu hipv4-amdgcn-amd-amdhsa--gfx803 hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-)
  local sizes=(0 "$(stat -c %s "$1")" "$(stat -c %s "$2")") at=4096 i
  {
    printf __CLANG_OFFLOAD_BUNDLE__
    le64 3
    for i in 0 1 2; do
      le64 "$at"; le64 "${sizes[i]}"; le64 ${#ids[i]}; printf %s "${ids[i]}"
      at=$((at + (sizes[i] + 4095) / 4096 * 4096))
    done
  } >bundle.bin
  truncate -s 4096 bundle.bin
  cat "$1" >>bundle.bin
  truncate -s %4096 bundle.bin
  cat "$2" >>bundle.bin
}
bundle "$FIRMWARE/kernels/launch_examples.co" "$FIRMWARE/kernels/launch_examples_gfx90a_v4.co"
expect 0 "$LACUNA" isa check bundle.bin
says "bundle.bin (hipv4-amdgcn-amd-amdhsa--gfx803): gfx803, code object version 4, 9 kernels"
says "bundle.bin (hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-): gfx90a, code object version 4, 9 kernels"
expect 0 "$LACUNA" launch bundle.bin -k recursion --grid 64 -a out:256:f.bin -a i32:10 --stack 16K --out out
[[ $(od -An -td4 -N4 f.bin) -eq 55 ]] || fail "wrong result from a bundle"
expect 0 "$LACUNA" disasm bundle.bin
head -c 6000 bundle.bin >cut.bin
expect 2 "$LACUNA" isa check cut.bin
complains "offload bundle is truncated"
printf 'int main() { return 0; }' | c++ -x c++ - -o host
objcopy --add-section .hip_fatbin=bundle.bin --set-section-flags .hip_fatbin=contents,alloc,readonly,data host host_with_code 2>/dev/null
expect 0 "$LACUNA" launch host_with_code -k recursion --grid 64 -a out:256:f.bin -a i32:8 --stack 16K --out out
[[ $(od -An -td4 -N4 f.bin) -eq 21 ]] || fail "wrong result from a host executable"
