#!/usr/bin/env bash
# run.sh CONFIG WORKLOAD OPTION...: the workload's results are right at --preset small in both timing modes, with zeros in its input if
# it has that option, and with the options, which are odd sizes.
source "$SOURCE/tests/rocm/common.sh"

config=$1 program=$2
shift 2

# checked NAME EXTRA... -- OPTION...: a run in folder NAME with EXTRA for `lacuna exec` and OPTION for the workload
checked() {
  local name=$1 extra=()
  shift
  while [[ $1 != -- ]]; do extra+=("$1"); shift; done
  shift
  on_gpu --quiet --config "$config" "${extra[@]}" --out "$name" -- "$program" --check "$@"
  expect 0 "${command[@]}"
  tail -n 1 out.txt | grep -q "^result: workload=$program gpu=.* time_us=.* check=passed" || fail "no closing line that says so"
  has_results "$name"
  cat out.txt
}

checked loose -- --preset small
checked functional --set gpu.timing=functional -- --preset small --seed 7
expect 0 "$PROGRAMS/$program" --help
if grep -q -- --sparsity out.txt; then
  checked sparse --set gpu.timing=functional -- --preset small --sparsity 0.5
fi
checked odd -- --preset small "$@"
