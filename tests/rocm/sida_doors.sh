#!/usr/bin/env bash
# sida_doors.sh: runs PageRank on the sparse dataflow accelerator from firmware, through the HSA runtime with a kernel before
# and after it, and from the command line. Each of the three checks its ranks, and their jobs must move the same bytes of each
# kind in about the same time.
source "$(dirname "$0")/common.sh"

# Each pass is simulated in detail: the time of a pass (0.4 us) depends on the phase of DRAM refresh, and in bulk all passes
# would have the time of the first.
device=(--config sida --set sida.path=dram --set gpu.translation=free --set sida.passes=detailed)
on_gpu "${device[@]}" --out hsa -- sida_job "$FIRMWARE/kernels/test_kernels.co" graph.mtx
expect 0 "${command[@]}"
grep -q "^ranks: correct$" out.txt || fail "$(cat out.txt)"
has_results hsa
expect 0 "$LACUNA" run "$FIRMWARE/sida_pagerank.elf" "${device[@]}" --out firmware
tr -d "\r" <out.txt | grep -q "^ranks: correct$" || fail "$(cat out.txt)"
tr -d "\r" <out.txt | grep -q "^a program that is none: its queue has failed, the next job has run$" || fail "$(cat out.txt)"
expect 0 "$LACUNA" sida run pr --matrix graph.mtx --iterations 8 --machine device "${device[@]}" --out cli --check
grep -q "^result  *as one operation after the other computes it, to the bit$" out.txt || fail "$(cat out.txt)"
has_results cli

python3 - <<'PYTHON' || fail "the ways to the accelerator differ"
import json
import sys


def of_a_job(folder):
    """Bytes of each kind and time of one job."""
    tree = json.load(open(f"{folder}/statistics.json"))["statistics"]
    sida = next(gpu["sida"] for gpu in tree.values() if "sida" in gpu)
    jobs = sida["jobs"]["value"]
    moved = {(way, kind): count["value"] / jobs for way in ("read", "written") for kind, count in sida[way].items()}
    return moved, sida["time"]["value"] / jobs


cli, cli_time = of_a_job("cli")
for folder in ("firmware", "hsa"):
    moved, time = of_a_job(folder)
    if moved != cli:
        sys.exit(f"{folder}: {moved}, from the command line: {cli}")
    print(f"{folder}: {time} ps, from the command line {cli_time} ps")
    # The times are comparable because accesses bypass L2 and TLBs, whose contents depend on earlier accesses. The remaining
    # differences arise because the addresses, and therefore the banks, differ.
    if not 0.92 < time / cli_time < 1.08:
        sys.exit(f"{folder}: {time} ps, from the command line {cli_time} ps")
PYTHON
expect 2 "$LACUNA" sida run pr --matrix graph.mtx --machine device --config tiny
grep -q "sida.present = false" err.txt || fail "$(cat err.txt)"
expect 2 "$LACUNA" sida run pr --matrix power:rows=20000,entries=256000 --machine device --config sida --set vram.size=1MiB
grep -q "set vram.size" err.txt || fail "$(cat err.txt)"
