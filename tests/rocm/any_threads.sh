#!/usr/bin/env bash
# any_threads.sh PROGRAM OPTION...: kernels compute and take the same on any number of threads of the host. When they start depends on the
# program, which is in the host's time, and so does the run hash.
source "$(dirname "$0")/common.sh"

kernels() { cut -d, -f1-7,10-13,15- "$1/kernels.csv"; } # without start, end and wall time

for threads in 1 3 8; do
  on_gpu "${@:2}" --set sim.threads=$threads --out $threads -- "$1"
  expect 0 "${command[@]}"
  grep -q "passed$" out.txt || fail "with $threads threads the program does not say that its checks passed"
  diff <(kernels 1) <(kernels $threads) >&2 || fail "with $threads threads the kernels differ"
done
