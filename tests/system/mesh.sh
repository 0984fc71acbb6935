#!/usr/bin/env bash
# Tests `lacuna mesh`, and the output of link utilisation (output.links).
source "$(dirname "$0")/common.sh"

is_xml() { python3 -c "import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])" "$1" || fail "$1 is not XML"; }

expect 0 "$LACUNA" mesh --config mesh56 --core 36 -o meeting.svg
says "mesh of 8 x 8: 56 cores, 8 last-level caches (L0 to L7)"
says "core 36 at (1,5)"
says "pairs of different caches have a meeting node"
is_xml meeting.svg
grep -q "Meeting nodes for core 36" meeting.svg || fail "the picture is not of core 36"
# The placement on a mesh does not depend on which nodes can compute (ndc.mode).
cp out.txt none.txt
expect 0 "$LACUNA" mesh --config mesh56 --config neardata/omni --core 36
cmp out.txt none.txt || fail "the mesh differs with ndc.mode"
# Cores that share an L1 cache share its node.
expect 0 "$LACUNA" mesh --config mesh56 --set gpu.cus_per_shader_array=2 --set gpu.shader_arrays=28 --set gpu.cus_per_l1v=2 --core 1
says "core 1 at (0,0)"
expect 2 "$LACUNA" mesh --config mesh56 --core 56
complains "--core 56: there are cores 0 to 55"
expect 2 "$LACUNA" mesh --config r9nano
complains "lacuna mesh is for meshes"
expect 2 "$LACUNA" mesh mesh56
complains "unexpected mesh56"

# run OUT OPTION...: runs a kernel on a mesh, with output folder OUT.
run() {
  local out=$1
  shift
  expect 0 "$LACUNA" launch "$FIRMWARE/kernels/vector_add.co" --kernel vector_add --config mesh56 "$@" --grid 65536 --block 256 \
    --arg "fill:65536:f32:iota(0,1)" --arg "fill:65536:f32:iota(5,2)" --arg "out:256K:$out.bin" --arg i32:65536 --out "$out"
}
for routers in booked stepped; do
  run "$routers" --set "noc.routers=$routers" --set output.links=true
  is_xml "$routers/links.svg"
  python3 - "$routers" <<'PYTHON' || fail "$routers: the counts do not fit together"
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/links.csv")))
assert len(rows) == 64 * 6, len(rows)
def flits(which, *ports):
    return sum(int(row[which]) for row in rows if row["port"] in ports)
for which in "requests", "replies":
    injected, ejected = flits(which, "injection"), flits(which, "ejection")
    assert 0 < injected and abs(injected - ejected) <= 0.01 * ejected, (which, injected, ejected)
links = sum(flits(which, "east", "west", "north", "south") for which in ("requests", "replies"))
noc = json.load(open(sys.argv[1] + "/statistics.json"))["statistics"]["gpu"]["noc"]
hops = noc["weighted_hops"]["value"] if isinstance(noc["weighted_hops"], dict) else noc["weighted_hops"]
assert 0.9 * hops <= links <= hops, (links, hops)
# Caches send the data of loads: replies with a line have 5 flits, their requests one flit.
caches = sum(int(row["replies"]) for row in rows if row["node"].startswith("L") and row["port"] == "injection")
assert caches > 0.9 * flits("replies", "injection"), caches
assert len({row["cycles"] for row in rows}) == 1 and int(rows[0]["cycles"]) > 0
PYTHON
done
run without
[[ ! -e without/links.csv && ! -e without/links.svg ]] || fail "links without output.links"
hash_of() { sed -n 's/.*"run_hash": "\([0-9a-f]*\)".*/\1/p' "$1/statistics.json"; }
[[ $(hash_of without) == "$(hash_of booked)" ]] || fail "output.links changes the run"
