#!/usr/bin/env bash
# Checks that a kernel with tags in its file runs like one that is tagged at dispatch, and that damaged tags are reported once
# and counted.
source "$(dirname "$0")/common.sh"

kernels=$FIRMWARE/kernels
# add OUT CODE OPTION...: adds two arrays of 16,384 floats.
add() {
  local out=$1 code=$2
  shift 2
  expect 0 "$LACUNA" launch "$code" --kernel vector_add --config mesh56 --set ndc.mode=llc "$@" --grid 16384 --block 256 \
    --arg "fill:16384:f32:iota(0,1)" --arg "fill:16384:f32:iota(5,2)" --arg "out:64K:$out.bin" --arg i32:16384 --out "$out"
}
# kernel OUT: prints the row of kernels.csv for the kernel, without host times.
kernel() {
  python3 - "$1" <<'PYTHON'
import csv, sys
row = next(csv.DictReader(open(sys.argv[1] + "/kernels.csv")))
print({name: value for name, value in row.items() if "wall" not in name})
PYTHON
}
# tagger OUT COUNTER: prints a counter of the kernel tagger.
tagger() {
  python3 - "$@" <<'PYTHON'
import json, sys
value = json.load(open(sys.argv[1] + "/statistics.json"))["statistics"]["gpu"]["kernel_tagger"][sys.argv[2]]
print(value["value"] if isinstance(value, dict) else value)
PYTHON
}

# without_tags FILE OUT: writes a copy of the same length whose tags are in a section of another name, so that loading takes the
# same time.
without_tags() { sed 's/\.lacuna\.chains/.lacuna.others/' "$1" >"$2"; }

# like NAME TOOL-OPTIONS DEVICE-OPTIONS CODE: checks that a run of the tagged file equals one of a copy without tags, which the
# device tags.
like() {
  local name=$1 code=$4
  # shellcheck disable=SC2086
  expect 0 "$LACUNA" finalize "$code" $2 -o "$name.co"
  # shellcheck disable=SC2086
  add "$name-file" "$name.co" $3
  # shellcheck disable=SC2086
  without_tags "$name.co" "$name-untagged.co"
  add "$name-device" "$name-untagged.co" $3
  cmp "$name-file.bin" "$name-device.bin" || fail "$name: the sums differ"
  [[ $(kernel "$name-file") == "$(kernel "$name-device")" ]] || fail "$name: $(kernel "$name-file"), tagged by the device $(kernel "$name-device")"
  [[ $(tagger "$name-file" kernels_from_files) == 1 && $(tagger "$name-file" kernels_searched) == 0 ]] || fail "$name: not the file's tags"
  [[ $(tagger "$name-device" kernels_from_files) == 0 && $(tagger "$name-device" kernels_searched) == 1 ]] || fail "$name: not the device's tags"
  [[ $(tagger "$name-file" chains) == 1 && $(tagger "$name-device" chains) == 1 ]] || fail "$name: not one chain"
}
like moved "" "" "$kernels/vector_add.co"
like moved_gfx90a "" "--set gpu.target=gfx90a" "$kernels/vector_add_gfx90a.co"
like tags "--no-move" "--set ndc.move=false" "$kernels/vector_add.co"
[[ $(tagger moved-device moved) == 0 ]] || fail "code that the tool has already moved moves again"
add moved-original "$kernels/vector_add.co"
[[ $(tagger moved-original moved) -gt 0 && $(tagger moved-original chains) == 1 ]] || fail "nothing moved"
cmp moved-original.bin moved-file.bin || fail "the sums differ"
add tags-original "$kernels/vector_add.co" --set ndc.move=false
[[ $(tagger tags-original moved) == 0 ]] || fail "ndc.move=false moves"
# The file's tags are used regardless of the device's options: the tool's code differs from the device's.
add options moved.co --set ndc.move=false
[[ $(kernel options) == "$(kernel moved-file)" ]] || fail "ndc.move concerns a file with tags"

# Damaged tags are reported once and counted, and there are no chains.
python3 - <<'PYTHON'
data = bytearray(open("tags.co", "rb").read())
at = data.index(b"LNDC")
version = bytearray(data); version[at + 4] = 1; open("version.co", "wb").write(version)
check = bytearray(data); check[at + 12 + 16 + 12 + 12 + 8] ^= 1; open("check.co", "wb").write(check)
PYTHON
damaged() { # damaged CODE TEXT: checks that the damaged tags of file CODE are reported once, with TEXT, and ignored
  add damaged "$1" --repeat 3
  [[ $(grep -c "runs without offload chains: .*section .lacuna.chains: $2" damaged/log.txt) == 1 ]] || fail "$1 is not named once"
  [[ $(tagger damaged kernels_damaged) == 1 && $(tagger damaged chains) == 0 ]] || fail "$1 is not counted"
  cmp damaged.bin tags-file.bin || fail "$1: the sums differ"
  rm -r damaged
}
damaged version.co "version 1 is not 2"
damaged check.co "kernel vector_add: 0x[0-9a-f]* is not the instruction that was tagged"
