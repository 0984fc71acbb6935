#!/usr/bin/env bash
# run_once.sh CONFIG WORKLOAD OPTION...: the workload's results are correct with these options at --preset small, in functional
# mode.
source "$SOURCE/tests/rocm/common.sh"

config=$1 program=$2
shift 2
on_gpu --quiet --config "$config" --set gpu.timing=functional --out results -- "$program" --preset small --check "$@"
expect 0 "${command[@]}"
tail -n 1 out.txt | grep -q "^result: workload=$program gpu=.* time_us=.* check=passed" || fail "no closing line that says so"
has_results results
cat out.txt
