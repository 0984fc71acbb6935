#!/usr/bin/env bash
# run.sh CONFIG first|second WORKLOAD [EVERY... --] OPTION...: the workload's results are right, on one of its two GPUs. EVERY are options
# of all runs. On each GPU it runs once with timing and once without, once with the sizes of --preset small and once with the options,
# which are odd sizes, once with each of two seeds; where that has the one, the other GPU has the other (first or second), so that on
# both together timing meets both sizes. --sparsity, where the workload has it, is in the second GPU's run without timing: which elements
# are zero does not depend on how a kernel is timed.
source "$SOURCE/tests/rocm/common.sh"

config=$1 half=$2 program=$3
shift 3
every=()
if [[ " $* " == *" -- "* ]]; then
  while [[ $1 != -- ]]; do every+=("$1"); shift; done
  shift
fi

# checked NAME EXTRA... -- OPTION...: a run in folder NAME with EXTRA for `lacuna exec` and OPTION for the workload
checked() {
  local name=$1 extra=()
  shift
  while [[ $1 != -- ]]; do extra+=("$1"); shift; done
  shift
  on_gpu --quiet --config "$config" "${extra[@]}" --out "$name" -- "$program" --preset small --check "${every[@]}" "$@"
  expect 0 "${command[@]}"
  tail -n 1 out.txt | grep -q "^result: workload=$program gpu=.* time_us=.* check=passed" || fail "no closing line that says so"
  has_results "$name"
  cat out.txt
}

if [[ $half == first ]]; then
  checked timed --
  checked untimed --set gpu.timing=functional -- --seed 7 "$@"
else
  expect 0 "$PROGRAMS/$program" --help
  sparse=()
  if grep -q -- --sparsity out.txt; then sparse=(--sparsity 0.5); fi
  checked untimed --set gpu.timing=functional -- "${sparse[@]}"
  checked timed -- --seed 7 "$@"
fi
