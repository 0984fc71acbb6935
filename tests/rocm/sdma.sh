#!/usr/bin/env bash
# sdma.sh TARGET: tests copies by the SDMA engines, which the runtime uses by default on gfx90a and on request on gfx803. The
# statistics must show that the engines copied, and that they copied nothing where they are disabled.
source "$(dirname "$0")/common.sh"
target=$1
export HSA_ENABLE_SDMA=1

# Prints the sum of counter $2 over all engines of the run in folder $1.
counted() {
  python3 - "$1/statistics.json" "$2" <<'PYTHON'
import json, sys
def values(node, inside):
    total = 0
    for key, value in node.items():
        if isinstance(value, dict):
            total += values(value, inside or key.startswith("sdma"))
            if inside and key == sys.argv[2]: total += value["value"]
        elif inside and key == sys.argv[2]:
            total += value
    return total
print(values(json.load(open(sys.argv[1])), False))
PYTHON
}

# PCI Express 3.0 x16 transfers 15.75 GB/s, including packet headers.
on_gpu --config tiny --set gpu.target="$target" --out bandwidth -- copy_bandwidth 12.5 15.75
expect 0 "${command[@]}"
copied=$(counted bandwidth bytes_written)
((copied >= 2 * (4 << 20))) || fail "the SDMA engines wrote $copied bytes"
[[ $(counted bandwidth errors) == 0 ]] || fail "SDMA queues stopped"

on_gpu --config tiny --set gpu.target="$target" --out windows -- copies_2d
expect 0 "${command[@]}"
(($(counted windows copies) > 0)) || fail "no copies by the SDMA engines"
[[ $(counted windows errors) == 0 ]] || fail "SDMA queues stopped"

# A copy starts when the preceding kernel has ended, whenever that happens.
on_gpu --config tiny --set gpu.target="$target" -- copies_after_kernels
expect 0 timeout 60 "${command[@]}"

# Without SDMA engines the runtime copies by kernels, with the same result.
on_gpu --config tiny --set gpu.target="$target" --set rocm.sdma=false --out kernels -- copy_bandwidth 1 15.75
expect 0 "${command[@]}"
[[ $(counted kernels packets) == 0 ]] || fail "SDMA engines at work although switched off"
