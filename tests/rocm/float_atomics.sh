#!/usr/bin/env bash
# Tests float atomics on several kinds of memory: the effect of gpu.fine_grained_float_atomics, messages and counters.
source "$(dirname "$0")/common.sh"

# Fine-grained GPU memory exists only if the runtime is configured to offer it over PCI Express.
export HSA_FORCE_FINE_GRAIN_PCIE=1
run() { # run FOLDER ARGUMENTS OPTION...: runs float_atomics, whose checks must pass, and prints its output
  on_gpu --config tiny "${@:3}" --out "$1" -- float_atomics $2
  expect 0 "${command[@]}"
  says "checks passed"
  cat out.txt
}
# Prints the number of lanes of float atomics on fine-grained memory, summed over all compute units; "none" on a GPU without
# float atomics.
lanes() {
  python3 - "$1/statistics.json" <<'PYTHON'
import json, sys
def walk(node):
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "fine_grained_float_atomics":
                yield value["value"] if isinstance(value, dict) else value
            else:
                yield from walk(value)
found = list(walk(json.load(open(sys.argv[1]))))
print(sum(found) if found else "none")
PYTHON
}
warnings() { grep "fine-grained" "$1/log.txt" || true; }

run gfx803 drop --set gpu.fine_grained_float_atomics=drop
[[ -z $(warnings gfx803) && $(lanes gfx803) == none ]] || fail "gfx803 has float atomics"

# The GPU has several compute units, so that several threads have work.
run apply apply --set gpu.target=gfx90a --set gpu.shader_arrays=4 --set sim.threads=1
run drop drop --set gpu.target=gfx90a --set gpu.shader_arrays=4 --set sim.threads=3 --set gpu.fine_grained_float_atomics=drop
run functional drop --set gpu.target=gfx90a --set gpu.timing=functional --set gpu.fine_grained_float_atomics=drop
! grep -q "not here" out.txt || fail "a kind of memory is missing"
run fine_host "drop fine_host" --set gpu.target=gfx90a --set gpu.timing=functional --set gpu.fine_grained_float_atomics=drop \
  --set rocm.fine_grained_host_memory=true
[[ $(lanes fine_host) == $((7 * 8 * 512)) ]] || fail "with all host memory fine-grained $(lanes fine_host) lanes are counted"

# Expected number of lanes: seven hardware operations times five kinds of fine-grained memory times 512 lanes.
for folder in apply drop functional; do
  [[ $(lanes $folder) == $((7 * 5 * 512)) ]] || fail "$folder counts $(lanes $folder) lanes"
  [[ $(warnings $folder | grep -vc "mistakes of the guest") == 7 ]] || fail "$folder does not warn once for each instruction"
done
complains "float atomic of 4 bytes at 0x"
grep -q "lane 0 (64 of the wavefront's lanes), in fine-grained host memory \[0x.*): lost on MI200, performed here.*kernel _Z.*, PC 0x.* (global_atomic_add_f32 .*), workgroup (0, 0, 0), wavefront 0" apply/log.txt ||
  fail "the warning does not name its place"
# With any number of threads the same instructions and addresses are reported, and the cycles are equal.
places() { warnings "$1" | sed -e 's/^\[[^]]*\] //' -e 's/): lost.*gpu.fine_grained_float_atomics = [a-z]*)/)/'; }
diff <(places apply) <(places drop) >&2 || fail "with other threads other lanes are named"
cycles() { cut -d, -f1-7,10-13,15- "$1/kernels.csv"; }
diff <(cycles apply) <(cycles drop) >&2 || fail "the parameter changes times"
