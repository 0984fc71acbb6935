#!/usr/bin/env bash
# sida_doors.sh: runs PageRank on the sparse dataflow accelerator from firmware, through the HSA runtime with a kernel before
# and after it, and from the command line. Each of the three checks its ranks. Their jobs must move the same bytes of each kind
# in about the same time and, at the same addresses, in the same cycles.
source "$(dirname "$0")/common.sh"

# Each pass is simulated in detail: the time of a pass (0.4 us) depends on the phase of DRAM refresh, and in bulk all passes
# would have the time of the first. Requests bypass L2 and TLBs, which hold what the programs have accessed before. Jobs start
# two refresh intervals after their packets, so all rows of DRAM have been closed since earlier accesses.
device=(--config sida --set sida.path=dram --set gpu.translation=free --set sida.passes=detailed)
later=(--set sida.start_phase=8000cycles)
# from_the_command_line FOLDER OPTION...
from_the_command_line() {
  expect 0 "$LACUNA" sida run pr --matrix graph.mtx --iterations 8 --machine device "${device[@]}" --out "$1" --check "${@:2}"
  grep -q "^result  *as one operation after the other computes it, to the bit$" out.txt || fail "$(cat out.txt)"
  has_results "$1"
}
on_gpu "${device[@]}" "${later[@]}" --out hsa -- sida_job "$FIRMWARE/kernels/test_kernels.co" graph.mtx
expect 0 "${command[@]}"
grep -q "^ranks: correct$" out.txt || fail "$(cat out.txt)"
has_results hsa
expect 0 "$LACUNA" run "$FIRMWARE/sida_pagerank.elf" "${device[@]}" "${later[@]}" --out firmware
tr -d "\r" <out.txt | grep -q "^ranks: correct$" || fail "$(cat out.txt)"
tr -d "\r" <out.txt | grep -q "^a program that is none: its queue has failed, the next job has run$" || fail "$(cat out.txt)"
from_the_command_line cli "${later[@]}"

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
    # The remaining differences arise because the addresses, and therefore the banks, differ.
    if not 0.92 < time / cli_time < 1.08:
        sys.exit(f"{folder}: {time} ps, from the command line {cli_time} ps")
PYTHON

# The same job at the same time and at the addresses of another door: all columns of jobs.csv from `program` on are equal, to
# the cycle. same_as DOOR CLI FOLDER OPTION...: repeats DOOR's first job from the command line in FOLDER. CLI: an earlier run from
# there, started 8,000 cycles after its packet.
first_job() { sed -n 2p "$1/jobs.csv" | cut -d , -f 5-; }
start() { sed -n 2p "$1/jobs.csv" | cut -d , -f 8; }
arrays() { awk -F , '$2 == 0' "$1/job_arrays.csv" | cut -d , -f 3-; }
same_as() {
  local cycles=$((8000 + ($(start "$1") - $(start "$2")) / 1000))
  from_the_command_line "$3" "${@:4}" --set sida.start_phase=${cycles}cycles --addresses "$1/job_arrays.csv"
  diff <(arrays "$1") <(arrays "$3") >&2 || fail "the arrays are not where those of $1 are"
  [[ $(first_job "$3") == "$(first_job "$1")" ]] ||
    fail "$1: $(first_job "$1")
from the command line, at the same addresses: $(first_job "$3")"
}
for door in hsa firmware; do same_as $door cli like_$door; done
[[ $(first_job hsa) != "$(first_job cli)" ]] || fail "both jobs are equal, although their addresses and times differ"

# With caches, network, TLBs and passes in bulk, if no kernel has used L2 and TLBs before the job: in the runtime's program the host
# writes to GPU memory itself, because the runtime copies with kernels.
device=(--config sida)
on_gpu "${device[@]}" "${later[@]}" --out hsa_alone -- sida_job "$FIRMWARE/kernels/test_kernels.co" graph.mtx alone
expect 0 "${command[@]}"
says "ranks: correct"
expect 0 "$LACUNA" run "$FIRMWARE/sida_pagerank.elf" "${device[@]}" "${later[@]}" --out firmware_alone
from_the_command_line cli_alone "${later[@]}"
for door in hsa_alone firmware_alone; do same_as $door cli_alone like_$door; done

# A job beside kernels of another queue.
on_gpu --config sida -- sida_beside "$FIRMWARE/kernels/test_kernels.co" power:rows=2000,entries=20000 4 3 65536
expect 0 "${command[@]}"
says "results: correct"

expect 2 "$LACUNA" sida run pr --matrix graph.mtx --machine device --config tiny
grep -q "sida.present = false" err.txt || fail "$(cat err.txt)"
expect 2 "$LACUNA" sida run pr --matrix power:rows=20000,entries=256000 --machine device --config sida --set vram.size=1MiB
grep -q "set vram.size" err.txt || fail "$(cat err.txt)"
# refused MESSAGE FILE: checks that FILE is refused by --addresses with the message.
refused() {
  expect 2 "$LACUNA" sida run pr --matrix graph.mtx --machine device --config sida --addresses "$2"
  complains "$1"
}
refused "none.csv: cannot be read" none.csv
refused "cli/jobs.csv:1: not a job_arrays.csv, which begins with the line device,job,array," cli/jobs.csv
head -n 1 cli/job_arrays.csv >empty.csv
refused "empty.csv:1: it lists no job" empty.csv
sed '2s/$/,1/' cli/job_arrays.csv >long.csv
refused "long.csv:2: a line of job_arrays.csv has 6 columns" long.csv
sed '3s/,[0-9]*$/,many/' cli/job_arrays.csv >word.csv
refused 'word.csv:3: "many" is not a number' word.csv
sed '3s/,[0-9]*$/,12/' cli/job_arrays.csv >small.csv
refused "--addresses small.csv: matrix0.by_columns.coordinates has 12 bytes there and" small.csv
sed '$d' cli/job_arrays.csv >short.csv
refused "--addresses short.csv: the program has more arrays than the" short.csv
sed '2s/,0x[0-9a-f]*,\([0-9]*\)$/,0x0,\1/' cli/job_arrays.csv >low.csv
refused "--addresses low.csv: matrix0.by_columns.offsets: bus address 0x0 with" low.csv
expect 2 "$LACUNA" sida run bfs --matrix graph.mtx --machine device --config sida --addresses cli/job_arrays.csv
complains "not the same program on the same matrix"
expect 2 "$LACUNA" sida run pr --matrix graph.mtx --addresses cli/job_arrays.csv
complains "--addresses is of --machine device"
