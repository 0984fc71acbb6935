#!/usr/bin/env bash
# duplo.sh WORKLOAD [OPTION...]: kernels without parameters for Duplo behave identically on machines with and without detection units:
# results at --preset small are correct and equal, and all simulated statistics are equal, including those of each kernel.
# Detection units perform no look-ups.
source "$SOURCE/tests/rocm/common.sh"

program=$1
shift

# checked MODE OPTION...: runs the workload with duplo.mode = MODE in folder MODE; its results must be correct.
checked() {
  on_gpu --quiet --config titanv-like --set gpu.shader_arrays=4 --set "duplo.mode=$1" --out "$1" -- "$program" --preset small --check "${@:2}"
  expect 0 "${command[@]}"
  tail -n 1 out.txt | grep -q "^result: workload=$program gpu=.* check=passed" || fail "$1: no closing line that says so"
  has_results "$1"
  cp out.txt "$1.txt"
}
checked off "$@"
checked on "$@"
diff off.txt on.txt >difference.txt || fail "other results with Duplo: $(cat difference.txt)"

python3 - <<'PYTHON' >&2 || fail "not the same run"
import csv, json, sys

HOST = ("wall_seconds", "peak_host_memory_bytes", "run_hash", "simulated_per_wall_second")

def without(node, names):
    if isinstance(node, dict):
        return {name: without(value, names) for name, value in node.items() if name not in names}
    return [without(value, names) for value in node] if isinstance(node, list) else node

def values(node, path=""):
    """All values of a tree, by path."""
    for name, value in node.items() if isinstance(node, dict) else enumerate(node):
        at = f"{path}/{name}"
        if isinstance(value, (dict, list)): yield from values(value, at)
        else: yield at, value

runs = {mode: json.load(open(f"{mode}/statistics.json")) for mode in ("off", "on")}
off, on = ({path: value for path, value in values(without(run, HOST))} for run in runs.values())
own = {path for path in on if "/duplo" in path}
different = [f"{path}: {off.get(path)} and {on.get(path)}" for path in sorted((off.keys() | on.keys()) - own) if off.get(path) != on.get(path)]
if different: sys.exit("with Duplo off and on: " + "; ".join(different[:5]))
counted = [path for path in own if "/duplo/" in path and path.endswith("/value") and on[path] != 0]
if counted: sys.exit(f"detection units counted {counted[:5]}")

rows = {mode: list(csv.DictReader(open(f"{mode}/kernels.csv"))) for mode in runs}
if not rows["on"]: sys.exit("no kernels")
if not any(path.endswith("/duplo/look_ups/value") for path in own): sys.exit("no detection units")
for off, on in zip(rows["off"], rows["on"], strict=True):
    names = [name for name in on if name != "wall_seconds" and off[name] != on[name]]
    if names: sys.exit(f"{on['kernel']}: {', '.join(f'{name} {off[name]} and {on[name]}' for name in names[:5])}")
PYTHON
