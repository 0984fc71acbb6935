#!/usr/bin/env bash
# tagged_module.sh CODE-OBJECT: checks that a module whose file contains tags runs like a module whose kernel is tagged at
# dispatch.
source "$(dirname "$0")/common.sh"

code=$1
options=(--config tiny --set ndc.mode=llc)
# kernels OUT: prints kernels.csv without host times.
kernels() {
  python3 - "$1" <<'PYTHON'
import csv, sys
for row in csv.DictReader(open(sys.argv[1] + "/kernels.csv")):
    print({name: value for name, value in row.items() if "wall" not in name})
PYTHON
}
# tagger OUT COUNTER: prints a counter of the kernel tagger.
tagger() {
  python3 - "$@" <<'PYTHON'
import json, sys
value = json.load(open(sys.argv[1] + "/statistics.json"))["statistics"]["gpu0"]["kernel_tagger"][sys.argv[2]]
print(value["value"] if isinstance(value, dict) else value)
PYTHON
}

expect 0 "$LACUNA" finalize "$code" -o tagged.co
# A file of the same length, with tags in a section of another name: loading takes the same time.
sed 's/\.lacuna\.chains/.lacuna.others/' tagged.co >untagged.co
for module in untagged.co tagged.co; do
  out=$(basename "$module" .co)
  on_gpu "${options[@]}" --out "$out" -- modules "$module"
  expect 0 "${command[@]}"
  grep -q "passed$" out.txt || fail "$module: the program does not say that its checks passed"
  has_results "$out"
done
[[ $(tagger tagged kernels_from_files) -gt 0 ]] || fail "the module's tags were not found"
[[ $(tagger untagged kernels_from_files) == 0 && $(tagger untagged chains) == $(tagger tagged chains) ]] || fail "other chains"
[[ $(kernels tagged) == "$(kernels untagged)" ]] || fail "$(kernels tagged), tagged by the device $(kernels untagged)"

# Damaged tags are reported once and counted, and yield no chains.
python3 - <<'PYTHON'
data = bytearray(open("tagged.co", "rb").read())
data[data.index(b"LNDC") + 4] = 1
open("damaged.co", "wb").write(data)
PYTHON
on_gpu "${options[@]}" --out damaged -- modules damaged.co
expect 0 "${command[@]}"
[[ $(grep -c "runs without offload chains: .*section .lacuna.chains: version 1 is not 2" damaged/log.txt) == 1 ]] || fail "not named once"
# The remaining kernels are the runtime's copies.
[[ $(tagger damaged kernels_damaged) -gt 0 && $(tagger damaged chains) -lt $(tagger tagged chains) ]] || fail "damaged tags are not counted"
