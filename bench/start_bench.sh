#!/usr/bin/env bash
# Cost of starting Lacuna: processor time, page faults and peak memory of `lacuna launch` with an empty kernel, processor time and page
# faults of `lacuna exec` with a HIP program that does nothing, and HIP launches per second. Usage: start_bench.sh LACUNA PROGRAMS_FOLDER FIRMWARE_FOLDER
set -euo pipefail
lacuna=$(realpath "$1") programs=$(realpath "$2") kernels=$(realpath "$3/kernels")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

row() { printf '%-52s %32s   %s\n' "$1" "$2" "$3"; }
# processor_ms COMMAND...: prints the lowest processor time (user and system) of ten runs, in milliseconds
processor_ms() {
  local TIMEFORMAT='%U %S'
  for _ in {1..10}; do
    { time "$@" >out.txt 2>error.txt; } 2>>times.txt || { cat out.txt error.txt >&2; exit 1; }
  done
  awk '{ spent = 1000 * ($1 + $2); if (NR == 1 || spent < least) least = spent } END { printf "%.0f ms", least }' times.txt
  rm times.txt
}
# faults COMMAND...: prints the number of page faults of a run, its child processes included
faults() {
  /usr/bin/python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(f", {resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt} faults")' "$@"
}
peak() { awk -F '[ ,]+' '/"peak_host_memory_bytes"/ { printf ", %.0f MiB", $3 / 1048576 }' "$1/statistics.json"; }

row '' measured wanted
for config in tiny r9nano r9nano-mgpusim mi210 a100-like; do
  suffix=
  [[ $config == mi210 || $config == a100-like ]] && suffix=_gfx90a
  launch=("$lacuna" launch "$kernels/empty$suffix.co" --kernel empty --grid 64 --block 64 --config $config --out launch --quiet)
  row "launch an empty kernel, $config" "$(processor_ms "${launch[@]}")$(faults "${launch[@]}")$(peak launch)" 'under 25 ms'
done
for config in tiny r9nano r9nano-mgpusim mi210; do
  empty=("$lacuna" exec --quiet --config $config -- "$programs/empty")
  row "exec an empty program, $config" "$(processor_ms "${empty[@]}")$(faults "${empty[@]}")" 'under 100 ms'
done
for config in r9nano r9nano-mgpusim; do
  "$lacuna" exec --quiet --config $config -- "$programs/empty" 100000 >out.txt
  row "HIP launches a second, $config" "$(sed -n 's/^launches a second: //p' out.txt)" 'at least 100000'
done
