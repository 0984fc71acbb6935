#!/usr/bin/env bash
# run.sh PROGRAM OPTION... [-- ARGUMENT...]: runs a program that checks its own results, on the GPU given by the options. The
# program must end with exit code 0 and report that its checks passed, and the run's results must have been written.
source "$(dirname "$0")/common.sh"

program=$1
shift
options=()
while [[ $# -gt 0 && $1 != -- ]]; do options+=("$1"); shift; done
[[ $# == 0 ]] || shift
on_gpu "${options[@]}" --out results -- "$program" "$@"
expect 0 "${command[@]}"
grep -q "passed$" out.txt || fail "the program does not say that its checks passed"
cat out.txt err.txt
# A program that uses no queue leaves no results.
case "$program $*" in
  "hsa_runtime "*" start") [[ ! -e results/statistics.json ]] || fail "results without a queue" ;;
  forks*) ;;
  # Each unsupported feature is reported once.
  illegal_calls*)
    [[ $(grep -c "hsaKmtShareMemory is not supported" results/log.txt) == 1 ]] || fail "hsaKmtShareMemory is not named once"
    ;;&
  *) has_results results ;;
esac
