#!/usr/bin/env bash
# lazy.sh CONFIG WORKLOAD MODE...: in these lazy modes the workload's results are correct at --preset small, also with zeros in
# the input if the workload has --sparsity, and the counters of loads are consistent.
source "$SOURCE/tests/rocm/common.sh"

config=$1 program=$2
shift 2

# sum FOLDER COUNT: prints the sum of a counter over all kernels. Names may contain commas, so columns are counted from the end.
sum() {
  awk -F, -v name="lazy_$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = NF - i }
                             NR > 1 { sum += $(NF - at) } END { printf "%d", sum }' "$1/kernels.csv"
}

# zero FOLDER COUNT...: checks that these counters are 0.
zero() {
  local folder=$1 count
  for count in "${@:2}"; do [[ $(sum "$folder" "$count") == 0 ]] || fail "$folder: lazy_$count = $(sum "$folder" "$count")"; done
}

# checked NAME MODE OPTION...: runs the workload with lazy.mode = MODE in folder NAME, and checks its results and counters.
checked() {
  local name=$1 mode=$2
  shift 2
  on_gpu --quiet --config "$config" --set lazy.mode="$mode" --set lazy.check=true --out "$name" -- "$program" --preset small --check "$@"
  expect 0 "${command[@]}"
  tail -n 1 out.txt | grep -q "^result: workload=$program gpu=.* check=passed" || fail "no closing line that says so"
  has_results "$name"
  # Wavefronts of bfs race for levels (docs/DEVIATIONS.md).
  [[ $program == bfs ]] || zero "$name" lanes_changed
  [[ $(sum "$name" suspended_issued) -le $(sum "$name" issued) ]] || fail "$name: more suspended requests were sent than requests"
  case $mode in
    eager_zero) zero "$name" loads_held issued otimes dead zero_block zero_part ;;
    lazy) zero "$name" suspended_issued zero_block zero_part otimes lanes_differ zero_sent zero_reads zero_writes writes_eliminated ;;
    lazy_zero) zero "$name" suspended_issued otimes lanes_differ zero_sent ;;
    lazy_zero_otimes) zero "$name" zero_sent ;;
  esac
  [[ $mode == eager_zero || $(sum "$name" loads_held) -gt 0 ]] || fail "$name: no load was held"
  # Each completed held load was sent or eliminated, and is counted as at least one transaction.
  local all=$(($(sum "$name" issued) + $(sum "$name" zero_block) + $(sum "$name" zero_part) + $(sum "$name" otimes) + $(sum "$name" dead)))
  [[ $all -ge $(sum "$name" loads_held) ]] || fail "$name: $all transactions of $(sum "$name" loads_held) loads"
  [[ $mode == lazy || $(sum "$name" zero_reads) -gt 0 ]] || fail "$name: zero caches had no look-ups"
}

expect 0 "$PROGRAMS/$program" --help
sparse=$(grep -c -- --sparsity out.txt || true)
for mode in "$@"; do
  checked "$mode" "$mode"
  [[ $sparse == 0 || $mode == lazy ]] || checked "${mode}_sparse" "$mode" --sparsity 0.5
done
