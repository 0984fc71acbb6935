#!/usr/bin/env bash
# copies_in_bulk.sh TARGET SDMA: copies and fills in bulk (the default) take the time that they take in detail, within 5 %, and
# write the same bytes, also beside a kernel. The statistics say what was in bulk, and how much memory and link have moved.
source "$(dirname "$0")/common.sh"
target=$1
export HSA_ENABLE_SDMA=$2

# times FOLDER MODE ARGUMENT...: what the program prints of its times, in FOLDER.txt.
times() {
  local folder=$1 mode=$2
  shift 2
  on_gpu --config "${config-tiny}" --set gpu.target="$target" --set gpu.copies="$mode" --out "$folder" -- copy_times "$@"
  expect 0 "${command[@]}"
  grep " us" out.txt >"$folder.txt"
}

# The median of the times of each size, of three in a file: while a queue waits for the host, simulated time goes on, which a busy host
# shows in one or the other.
medians() {
  awk '{ print $2, $4 }' "$1" | sort -n -k 1,1 -k 2,2 | awk '{ if (++seen[$1] == 2) print $1, $2 }'
}

# These differ by 5 % at most, and by the 3 us that come from the runtime's looks at signals, one in a microsecond.
alike() {
  paste <(medians "$1") <(medians "$2") | awk '
    { a = $2; b = $4; if ($1 != $3 || a > b * 1.05 + 3 || b > a * 1.05 + 3) { print "times differ: " $0; bad = 1 } ++compared }
    END { exit bad || compared == 0 }' || fail "$1 and $2: times in bulk and in detail differ by more than 5 %"
}

# The sum of the counters named $3 in groups whose names begin with $2, of the run in folder $1.
counted() {
  python3 - "$1/statistics.json" "$2" "$3" <<'PYTHON'
import json, sys
def total(node, inside):
    found = 0
    for key, value in node.items():
        if isinstance(value, dict) and "value" not in value: found += total(value, inside or key.startswith(sys.argv[2]))
        elif inside and key == sys.argv[3]: found += value["value"] if isinstance(value, dict) else value
    return found
print(total(json.load(open(sys.argv[1])), False))
PYTHON
}

# What was counted of one copy is taken for the next ones, which L2 may have found in another state: 10 %.
close_to() {
  awk -v a="$1" -v b="$2" 'BEGIN { exit a > b * 1.1 || b > a * 1.1 }' || fail "$3: $1 in bulk, $2 in detail"
}

# compare DIRECTION SOURCE_OFFSET DESTINATION_OFFSET SIZE...
compare() {
  times bulk bulk "$@"
  times detailed detailed "$@"
  cat bulk.txt detailed.txt
  alike bulk.txt detailed.txt
  local counter
  for counter in "${counters[@]}"; do
    read -r group name <<<"$counter"
    close_to "$(counted bulk "$group" "$name")" "$(counted detailed "$group" "$name")" "$*: $counter"
  done
}

counters=("host_link bytes_read" "host_link bytes_written")
# The engines' samples are too short for the write-backs of L2.
[[ $2 == 1 ]] || counters+=("dram bytes_written")

for copy in "h2d 3 64" "d2h 0 0" "d2d 0 0" "h2d 0 0" "fill 0 0"; do
  read -r -a where <<<"$copy"
  compare "${where[@]}" 262144 262144 262144 1500001 1500001 1500001
done
# What went in bulk is told in its row and in no other mode's.
moved() { awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next } { sum += $column["bulk_bytes"] } END { print sum + 0 }' "$1/kernels.csv"; }
[[ $(moved detailed) == 0 ]] || fail "bytes in bulk although copies are detailed"
(($(moved bulk) >= 1500001)) || fail "the rows tell of nothing in bulk"
# Long enough for samples within GPU memory.
[[ $target != gfx803 || $2 != 0 ]] || compare d2d 0 0 12582912 12582912 12582912

# A GPU that holds half of the sample's workgroups at once: how fast they start is the dispatcher's affair, not memory's. Its L2 is
# longer than samples over the link, whose write-backs are not among what is counted.
counters=("host_link bytes_read" "host_link bytes_written")
[[ $target != gfx803 || $2 != 0 ]] || config=r9nano compare fill 0 0 12582912 12582912 12582912

# Beside a kernel: the same bytes. Who of the two begins is decided by the host, so that there are no times to compare.
times bulk bulk d2d 0 0 beside 2097152 4194304
cat bulk.txt
