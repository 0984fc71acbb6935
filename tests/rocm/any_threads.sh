#!/usr/bin/env bash
# any_threads.sh PROGRAM OPTION...: checks that results do not depend on the number of host threads.
source "$(dirname "$0")/common.sh"

kernels() { cut -d, -f1-13,15- "$1/kernels.csv"; } # prints all columns except wall time

for threads in 1 3 8; do
  on_gpu "${@:2}" --set sim.threads=$threads --out $threads -- "$1"
  expect 0 "${command[@]}"
  grep -q "passed$" out.txt || fail "with $threads threads the program does not say that its checks passed"
  diff <(kernels 1) <(kernels $threads) >&2 || fail "with $threads threads the kernels differ"
  [[ $(run_value $threads run_hash) == "$(run_value 1 run_hash)" ]] || fail "with $threads threads the run hash differs"
done
