#!/usr/bin/env bash
# threads.sh FIRMWARE CONFIGURATION [OPTION...]: checks that runs are equal bit by bit with any number of host threads.
source "$(dirname "$0")/common.sh"

results() { # prints all results except host times, host memory and the program's name
  grep -v '"wall_seconds"\|"program"\|"peak_host' "$1/statistics.json"
  cut -d, -f1-13 "$1/kernels.csv"
  cat "$1/console.txt" "$1/log.txt"
}

for threads in 1 2 3 8; do
  expect 0 "$LACUNA" run "$FIRMWARE/$1.elf" --config "$2" "${@:3}" --set sim.threads=$threads --out $threads
  [[ $(run_value $threads run_hash) == "$(run_value 1 run_hash)" ]] || fail "with $threads threads the run hash differs"
  diff <(results 1) <(results $threads) >&2 || fail "with $threads threads the results differ"
done
