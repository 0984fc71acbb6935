#!/usr/bin/env bash
# Checks that two runs of a program ($1) on a configuration ($2) are equal bit for bit, and that a run can be repeated from its
# effective configuration.
source "$(dirname "$0")/common.sh"

results() { # prints all results except host times, host memory and the program's name
  grep -v '"wall_seconds"\|"program"\|"peak_host' "$1/statistics.json"
  cut -d, -f1-13 "$1/kernels.csv"
  cat "$1/console.txt" "$1/log.txt"
}

expect 0 "$LACUNA" run "$FIRMWARE/$1.elf" --config "$2" --out first
expect 0 "$LACUNA" run "$FIRMWARE/$1.elf" --config "$2" --out second
expect 0 "$LACUNA" run "$FIRMWARE/$1.elf" --config first/effective.cfg --out third
hash=$(run_value first run_hash)
[[ ${#hash} == 16 ]] || fail "no run hash"
for other in second third; do
  [[ $(run_value $other run_hash) == "$hash" ]] || fail "run hashes differ"
  diff <(results first) <(results $other) >&2 || fail "results differ"
  diff first/effective.cfg $other/effective.cfg >&2 || fail "effective configurations differ"
done
# A run on a different machine has a different run hash.
expect 0 "$LACUNA" run "$FIRMWARE/$1.elf" --config "$2" --set host.read_latency=2ns --out fourth
[[ $(run_value fourth run_hash) != "$hash" ]] || fail "the run hash does not notice another host memory"
