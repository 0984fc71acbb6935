#!/usr/bin/env bash
# energy.sh TARGET: checks that the energies of a program's kernels and copies and the idle energy add up to the total, as does
# power integrated over time. Except in compute units, bulk copies must use the same energy as detailed copies; this is tested
# with a copy of which 10 MiB are sampled, and with one that is entirely in bulk.
source "$(dirname "$0")/common.sh"

for mode in bulk detailed; do
  on_gpu --config tiny --config energy/r9nano --set gpu.target="$1" --set gpu.copies=$mode --out $mode -- \
    copy_times d2d 0 0 16777216 16777216
  expect 0 "${command[@]}"
done
python3 - <<'PYTHON' >&2 || fail "energies do not fit"
import csv, json, sys

def near(what, a, b, part):
    if abs(a - b) > part * abs(b): sys.exit(f"{what}: {a} and {b}")

def read(folder):
    energy = json.load(open(folder + "/statistics.json"))["energy"]["gpu0"]
    whole = energy["whole"]["joules"]
    near(folder + ": kernels and idle", energy["kernels"]["joules"] + energy["idle"]["joules"], whole, 1e-12)
    power = sum(float(line["total_w"]) * (int(line["end_ps"]) - int(line["begin_ps"])) * 1e-12
                for line in csv.DictReader(open(folder + "/power.csv")))
    near(folder + ": power over time", power, whole, 1e-9)
    kernels = list(csv.DictReader(open(folder + "/kernels.csv")))
    near(folder + ": kernels.csv", sum(float(k["energy_j"]) for k in kernels), energy["kernels"]["joules"], 1e-9)
    return energy["events"], sum(int(k["bulk_bytes"]) for k in kernels)

bulk, in_bulk = read("bulk")
detailed, none = read("detailed")
if in_bulk < 16777216 or none != 0: sys.exit(f"{in_bulk} and {none} bytes in bulk")
# The number of activated rows varies by 5 % between parts of a copy, because it depends on the phase of refresh and on the
# order of requests from source and destination.
for block, event in [("dram", "activate"), ("dram", "read_byte"), ("dram", "write_byte"), ("l2", "tag"), ("l1v", "tag"),
                     ("noc_link", "flit")]:
    part = 0.05 if event == "activate" else 0.02
    near(f"{block}.{event}", bulk[block][event]["count"], detailed[block][event]["count"], part)
PYTHON

# energy.table = true without energies in the configuration is reported.
on_gpu --config tiny --set gpu.target="$1" --set energy.table=true --out without -- copy_times d2d 0 0 4096 4096
expect 0 "${command[@]}"
complains "energy.table = true: the configuration has no energies"
