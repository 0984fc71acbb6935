#!/usr/bin/env bash
# run.sh CONFIG first|second WORKLOAD [EVERY... --] OPTION...: the workload's results are correct, on one of its two GPUs. EVERY
# are options of all runs. On each GPU, the workload runs once with timing and once without, once with the sizes of --preset
# small and once with the options, which are odd sizes, and once with each of two seeds. The combination depends on first or
# second, so that over both GPUs each size is run with timing. --sparsity, if the workload has it, is used in the second GPU's
# run without timing, as the choice of zero elements does not depend on timing.
source "$SOURCE/tests/rocm/common.sh"

config=$1 half=$2 program=$3
shift 3
every=()
if [[ " $* " == *" -- "* ]]; then
  while [[ $1 != -- ]]; do every+=("$1"); shift; done
  shift
fi

# checked NAME EXTRA... -- OPTION...: runs in folder NAME with EXTRA for `lacuna exec` and OPTION for the workload
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
