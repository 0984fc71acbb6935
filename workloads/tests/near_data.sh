#!/usr/bin/env bash
# near_data.sh TARGET "WORKLOAD [OPTION]..." MODE...: with near-data computing in these modes the workload's results are correct at
# --preset small, each packet sent by a core is accepted by a service queue or bounced, and after each kernel everything that was sent has
# arrived (ndc.check). Each mode is tested again with queues of one entry.
source "$SOURCE/tests/rocm/common.sh"

target=$1
read -ra options <<<"$2"
program=${options[0]}
options=("${options[@]:1}")
shift 2

# sum FOLDER COUNT: prints the sum of a counter over all kernels. Names may contain commas, so columns are counted from the end.
sum() {
  awk -F, -v name="ndc_$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = NF - i }
                            NR > 1 { sum += $(NF - at) } END { printf "%d", sum }' "$1/kernels.csv"
}
# taken FOLDER: prints the number of packets accepted by service queues.
taken() {
  awk '/"service_queue/ { inside = 1 } inside && /"packets": \{/ { getline; gsub(/[^0-9]/, ""); sum += $0; inside = 0 } END { printf "%d", sum }' \
    "$1/statistics.json"
}

# checked NAME OPTION...: runs the workload with these options of lacuna in folder NAME, and checks results and counters.
checked() {
  local name=$1
  shift
  on_gpu --quiet --config mesh56 --set gpu.target="$target" --set ndc.check=true "$@" --out "$name" -- "$program" --preset small --check \
    "${options[@]}"
  expect 0 "${command[@]}"
  tail -n 1 out.txt | grep -q "^result: workload=$program gpu=.* check=passed" || fail "no closing line that says so"
  has_results "$name"
  [[ $(sum "$name" chains) -gt 0 ]] || fail "$name: no chain has begun"
  [[ $(sum "$name" packets) == $(($(taken "$name") + $(sum "$name" bounced))) ]] ||
    fail "$name: $(sum "$name" packets) packets, $(taken "$name") taken and $(sum "$name" bounced) bounced"
}

for mode in "$@"; do
  checked "$mode" --set ndc.mode="$mode"
  checked "${mode}_small" --set ndc.mode="$mode" --set ndc.oq_entries=1 --set ndc.sq_entries=1 --set ndc.sq_buffer=1
done
