#!/usr/bin/env bash
# copies_in_bulk.sh TARGET SDMA: copies and fills in bulk (the default) take the time that they take in detail, within 5 %, alone and
# beside a kernel, and write the same bytes. The statistics say what was in bulk, and how much memory and link have moved.
source "$(dirname "$0")/common.sh"
target=$1
export HSA_ENABLE_SDMA=$2

# times FOLDER MODE ARGUMENT...: what the program prints of its times, in FOLDER.txt.
times() {
  local folder=$1 mode=$2
  shift 2
  on_gpu --config tiny --set gpu.target="$target" --set gpu.copies="$mode" --out "$folder" -- copy_times "$@"
  time_limit=240 expect 0 "${command[@]}"
  grep " us" out.txt >"$folder.txt"
}

# The times in two files, line by line, differ by 5 % at most.
alike() {
  paste "$1" "$2" | awk '
    { half = NF / 2
      for (i = 1; i <= half; ++i) if ($(i + 1) == "us" || $(i + 1) == "us,") {
        a = $i; b = $(i + half); if (a > b * 1.05 || b > a * 1.05) { print "times differ: " $0; bad = 1 } ++compared } }
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

close_to() {
  awk -v a="$1" -v b="$2" 'BEGIN { exit a > b * 1.05 || b > a * 1.05 }' || fail "$3: $1 in bulk, $2 in detail"
}

for direction in h2d d2h d2d fill; do
  for offsets in "0 0" "3 64"; do
    read -r -a where <<<"$offsets"
    # Below 1 MiB an event is as long as what is timed: the runtime looks at signals once in a microsecond.
    sizes=(262144 1048576 3000001 3000001 4194304)
    times bulk bulk "$direction" "${where[@]}" "${sizes[@]}"
    times detailed detailed "$direction" "${where[@]}" "${sizes[@]}"
    cat bulk.txt detailed.txt
    alike bulk.txt detailed.txt
    for counter in "dram bytes_written" "host_link bytes_read" "host_link bytes_written"; do
      read -r group name <<<"$counter"
      close_to "$(counted bulk "$group" "$name")" "$(counted detailed "$group" "$name")" "$direction $offsets: $counter"
    done
  done
done

# What went in bulk is told in its row and in no other mode's.
moved() { awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next } { sum += $column["bulk_bytes"] } END { print sum + 0 }' "$1/kernels.csv"; }
[[ $(moved detailed) == 0 ]] || fail "bytes in bulk although copies are detailed"
(($(moved bulk) > 3000000)) || fail "the rows tell of no fills in bulk"

# Contention: both the copy and the kernel take the time that they take in detail. Copies over the link wait for their stream by way of
# the host, which begins them now before and now behind the kernel.
times bulk bulk d2d 0 0 beside 2097152 4194304
times detailed detailed d2d 0 0 beside 2097152 4194304
cat bulk.txt detailed.txt
alike bulk.txt detailed.txt
