#!/usr/bin/env bash
# Checks that every invalid input ends the run with exit code 2 and a message that names the problem and its location.
source "$(dirname "$0")/common.sh"
good=$FIRMWARE/hello.elf

# Program files.
expect 2 "$LACUNA" run absent.elf
complains "absent.elf: no such file"
expect 2 "$LACUNA" hart .
complains ".: not a regular file"
for size in 0 3 40 100 1000 5000; do
  head -c $size "$good" >truncated.elf
  for command in run hart; do
    expect 2 "$LACUNA" $command truncated.elf
    complains "lacuna: truncated.elf: "
  done
done
complains "truncated"
echo "no program at all" >text.elf
expect 2 "$LACUNA" run text.elf
complains "text.elf: not an ELF file"
expect 2 "$LACUNA" hart "$LACUNA"
complains "is for x86-64 (62), RISC-V (243) is needed"
expect 2 "$LACUNA" disasm "$good"
complains "is for RISC-V (243), AMDGPU (224) is needed"

# damage FILE OFFSET BYTES: writes FILE, a copy of the valid program in which BYTES (in printf notation) replace those at the
# offset.
damage() {
  cp "$good" "$1"
  printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
damage odd_entry.elf 24 '\x01'
expect 2 "$LACUNA" hart odd_entry.elf
complains "odd_entry.elf: entry point 0x80000001 is odd"
damage version.elf 20 '\x09'
expect 2 "$LACUNA" hart version.elf
complains "version.elf: has ELF version 9 (e_version)"
damage ident.elf 6 '\x09'
expect 2 "$LACUNA" run ident.elf
complains "ident.elf: has ELF version 9 (e_ident)"
damage embedded.elf 48 '\x0d'
expect 2 "$LACUNA" hart embedded.elf
complains "embedded.elf: is for the RV64E base (flag EF_RISCV_RVE), the hart is RV64GC"
damage quad.elf 48 '\x07'
expect 2 "$LACUNA" hart quad.elf
complains "quad.elf: needs quad-precision registers"
# The physical address of the third program header, the second to be loaded.
damage overlap.elf $((64 + 2 * 56 + 24)) '\x00\x10\x00\x80'
expect 2 "$LACUNA" hart overlap.elf
complains "overlap.elf: segments 0x80000000..0x80001"
complains "and 0x80001000..0x80001"
complains "overlap"

# Invalid parameters: unknown, misspelt, out of range, without a unit, or of a missing component; both in files and in --set
# options.
expect 2 "$LACUNA" run "$good" --set nothing.like_it=1
complains "--set nothing.like_it=1: unknown parameter nothing.like_it"
expect 2 "$LACUNA" run "$good" --set l2.sise=4MiB
complains "unknown parameter l2.sise; did you mean l2.size?"
expect 2 "$LACUNA" run "$good" --set cu.simds=9
complains "cu.simds = 9: 9 is out of range (legal: 1..8"
expect 2 "$LACUNA" run "$good" --set sim.max_idle=14
complains "\"14\" needs a unit: ps, ns, us, ms, s"
expect 2 "$LACUNA" hart "$good" --set gpu.shader_arrays=1
complains "parameter gpu.shader_arrays is not used here: lacuna hart has no GPU"
printf '[l2]\nsize = 512KiB\nways = many\n' >a.cfg
expect 2 "$LACUNA" run "$good" --config a.cfg
complains "a.cfg:3: l2.ways = many: \"many\" is not a number"
expect 2 "$LACUNA" run "$good" --config r9nanoo
# The message lists every file under configs by its name as a preset.
presets=$(cd "$SOURCE/configs" && find . -name '*.cfg' | sed 's|^\./||; s|\.cfg$||' | LC_ALL=C sort | paste -sd " ")
complains "--config r9nanoo: no such file; presets: $presets"
expect 2 "$LACUNA" run "$good" --set gpu.cus_per_l1v=3
complains "gpu.cus_per_l1v = 3 does not divide gpu.cus_per_shader_array = 4"
expect 2 "$LACUNA" run "$good" --max-time 10
complains "sim.max_time"

# Names that no file can have and a deleted folder are reported as errors of the user, not of a model. No message has an empty
# name.
printf '[sweep]\ncommand = run\nprogram = hello.elf\n' >good.sweep
long=$(printf 'x%.0s' {1..300})
ln -s loop loop
for name in "$long" "$(printf 'x/%.0s' {1..3000})" loop "" "$good/within"; do
  for command in run launch sweep hart disasm "isa check" finalize docs "run $good --config" "run $good --out" "run $good --input" \
    "results --db" "launch --kernel k --config" "exec --config" "exec --out"; do
    # For exec, the name precedes the program, which must not be reported as the cause.
    if [[ $command == exec* ]]; then
      expect 2 "$LACUNA" $command "$name" -- true
    else
      expect 2 "$LACUNA" $command "$name"
    fi
    grep -q '^lacuna: ..*' err.txt || fail "lacuna $command with the name '$name' gives no reason"
    ! grep -q ': :\|^lacuna: :\|model error' err.txt || fail "lacuna $command with the name '$name'"
  done
done
mkdir gone
(
  cd gone
  rmdir ../gone
  for command in "run $good" "hart $good" "sweep ../good.sweep"; do
    code=0
    "$LACUNA" $command >"$work/out.txt" 2>"$work/err.txt" </dev/null || code=$?
    [[ $code == 2 ]] || fail "lacuna $command in a folder that has gone ended with $code"
    ! grep -q ': :\|^lacuna: :\|model error' "$work/err.txt" || fail "lacuna $command in a folder that has gone"
  done
)

# Command line.
expect 2 "$LACUNA"
complains "no command given"
expect 2 "$LACUNA" rum "$good"
complains "unknown command rum"
expect 2 "$LACUNA" run "$good" --quite
complains "--quite"
expect 2 "$LACUNA" run "$good" --input absent.txt
complains "--input absent.txt: cannot be read"

# No failed command has left an output folder, and files that are not Lacuna's are never overwritten.
[[ ! -e lacuna-out ]] || fail "a refused run made an output folder"
mkdir mine
echo precious >mine/notes.txt
expect 2 "$LACUNA" run "$good" --out mine
complains "--out mine: holds files that are not from Lacuna"
[[ $(ls mine) == notes.txt ]] || fail "the foreign folder was written to"
