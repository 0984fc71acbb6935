#!/usr/bin/env bash
# blits.sh TARGET: checks that with cp.instant_blits the runtime's copy and fill kernels complete immediately and write the
# right data, and that the statistics count them. By default these kernels are executed.
source "$(dirname "$0")/common.sh"
target=$1
export HSA_ENABLE_SDMA=0

# Prints the numbers of kernel packets and of kernels completed immediately in the run in folder $1.
packets() {
  python3 - "$1/statistics.json" <<'PYTHON'
import json, sys
def command_processors(node):
    for key, value in node.items():
        if not isinstance(value, dict): continue
        if "dispatches" in value and "blits" in value: yield value
        yield from command_processors(value)
number = lambda value: value["value"] if isinstance(value, dict) else value
found = list(command_processors(json.load(open(sys.argv[1]))))
print(sum(number(v["dispatches"]) for v in found), sum(number(v["blits"]) for v in found))
PYTHON
}

on_gpu --config tiny --set gpu.target="$target" --set cp.instant_blits=true --out copies -- copies
expect 0 "${command[@]}"
read -r dispatches blits < <(packets copies)
((dispatches > 0 && blits == dispatches)) || fail "$blits of $dispatches kernels of a program without kernels were instantaneous"

on_gpu --config tiny --set gpu.target="$target" --set cp.instant_blits=true --out fills -- fills
expect 0 "${command[@]}"
read -r dispatches blits < <(packets fills)
((blits > 0)) || fail "no fills were instantaneous"

on_gpu --config tiny --set gpu.target="$target" --out executed -- fills
expect 0 "${command[@]}"
read -r executed blits < <(packets executed)
grep -q 'Copy.*(HSA runtime)' executed/kernels.csv || fail "the runtime's copies have no name: $(cut -d, -f1,2 executed/kernels.csv)"
((blits == 0 && executed == dispatches)) || fail "by default $blits of $executed kernels were instantaneous"
