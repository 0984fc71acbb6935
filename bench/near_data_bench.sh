#!/usr/bin/env bash
# Host time and memory of near-data computing on mesh56, relative to the same machine without it, on one thread: workloads whose
# chains are in all wavefronts. Usage: near_data_bench.sh LACUNA WORKLOADS_FOLDER
set -euo pipefail
lacuna=$(realpath "$1") workloads=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# speed MODE ROUTERS PROGRAM OPTION...: runs the program three times; prints million wavefront instructions of its kernels per second of
# the fastest run, and MiB of host memory at the peak
speed() {
  local mode=$1 routers=$2
  shift 2
  for _ in 1 2 3; do
    "$lacuna" exec --quiet --config mesh56 --set sim.threads=1 --set "noc.routers=$routers" --set "ndc.mode=$mode" --out out -- "$workloads/$1" \
      "${@:2}" >log.txt 2>&1 || { cat log.txt >&2; exit 1; }
    # Names of kernels may contain commas, so columns are counted from the end. Names of the runtime's kernels end with a parenthesis.
    awk -F, -v peak="$(sed -n 's/^ *"peak_host_memory_bytes": \([0-9]*\).*/\1/p' out/statistics.json)" '
      NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = NF - i; next }
      !/\)"?,/ { instructions += $(NF - column["wavefront_instructions"]); seconds += $(NF - column["wall_seconds"]) }
      END { printf "%.3f %.0f\n", instructions / seconds / 1e6, peak / 1048576 }' out/kernels.csv
    rm -rf out
  done | sort -gr | head -n 1
}

printf '%-44s %24s %16s %14s\n' '' 'million wavefront' '% of none' 'peak host'
printf '%-44s %24s %16s %14s\n' 'workload, routers, ndc.mode' instructions/s '(at least 60)' 'memory, MiB'
for program in 'vecadd_strided --length 8388608' 'triad --length 8388608' 'scp --pairs 512 --length 16384'; do
  for routers in booked stepped; do
    for mode in none llc omni; do
      # shellcheck disable=SC2086
      read -r rate memory < <(speed $mode $routers $program)
      [[ $mode != none ]] || alone=$rate
      printf '%-44s %24.2f %16.0f %14d\n' "${program%% *}, $routers, $mode" "$rate" "$(awk -v a="$rate" -v b="$alone" 'BEGIN { print 100 * a / b }')" "$memory"
    done
  done
done
