#!/usr/bin/env bash
# copies_in_bulk.sh TARGET SDMA: checks that bulk copies and fills (the default) take the same time as detailed copies and
# fills, within 5 % plus 3 us, and write the same bytes, also concurrently with a kernel; and that kernels.csv contains the bytes
# of bulk copies, and the statistics the traffic of memory and link.
source "$(dirname "$0")/common.sh"
target=$1
export HSA_ENABLE_SDMA=$2

# times FOLDER MODE ARGUMENT...: writes the times that the program prints to FOLDER.txt.
times() {
  local folder=$1 mode=$2
  shift 2
  on_gpu --config "${config-tiny}" --set gpu.target="$target" --set gpu.copies="$mode" --out "$folder" -- copy_times "$@"
  expect 0 "${command[@]}"
  grep " us" out.txt >"$folder.txt"
}

# Prints the median time of each size.
medians() {
  awk '{ print $2, $4 }' "$1" | sort -n -k 1,1 -k 2,2 | awk '
    $1 != size { if (n) print size, times[int((n + 1) / 2)]; size = $1; n = 0 }
    { times[++n] = $2 }
    END { if (n) print size, times[int((n + 1) / 2)] }'
}

# Checks that the medians of two runs differ by at most 5 % plus 3 us (the runtime polls signals once per microsecond).
alike() {
  paste <(medians "$1") <(medians "$2") | awk '
    { a = $2; b = $4; if ($1 != $3 || a > b * 1.05 + 3 || b > a * 1.05 + 3) { print "times differ: " $0; bad = 1 } ++compared }
    END { exit bad || compared == 0 }' || fail "$1 and $2: times in bulk and in detail differ by more than 5 %"
}

# counts_alike COPIES ARGUMENT...: checks that the counters of the bulk run are COPIES times those of the detailed run. For each
# element "PREFIX NAME" of `counters`, compares the sum of the counters NAME in groups whose names begin with PREFIX. The
# tolerance is 2 % plus 4 KiB for packets and signals, which are polled for as long as the copies take.
counts_alike() {
  local copies=$1
  shift
  python3 - "$copies" "${counters[@]}" <<'PYTHON' || fail "$*: counted differently"
import json, sys
def total(node, group, name, inside=False):
    found = 0
    for key, value in node.items():
        if isinstance(value, dict) and "value" not in value: found += total(value, group, name, inside or key.startswith(group))
        elif inside and key == name: found += value["value"] if isinstance(value, dict) else value
    return found
bulk, detailed = (json.load(open(mode + "/statistics.json")) for mode in ("bulk", "detailed"))
copies, bad = int(sys.argv[1]), False
for counter in sys.argv[2:]:
    a, b = total(bulk, *counter.split()), copies * total(detailed, *counter.split())
    if a > b * 1.02 + 4096 or b > a * 1.02 + 4096:
        print(f"{counter}: {a} in bulk, {b} in detail")
        bad = True
sys.exit(bad)
PYTHON
}

# compare DIRECTION SOURCE_OFFSET DESTINATION_OFFSET SIZE...: checks that bulk and detailed copies of these sizes have equal
# times and counts.
compare() {
  times bulk bulk "$@"
  times detailed detailed "$@"
  cat bulk.txt detailed.txt
  alike bulk.txt detailed.txt
  counts_alike 1 "$@"
}

# compare_long DIRECTION SIZE: compares a copy that is sampled, and one that is in bulk from its start, each with a detailed
# copy. SIZE must be so large that delays by a busy host do not matter.
compare_long() {
  local direction=$1 size=$2
  times bulk bulk "$direction" 0 0 "$size" "$size"
  times detailed detailed "$direction" 0 0 "$size"
  cat bulk.txt detailed.txt
  head -n 1 bulk.txt >sampled.txt
  tail -n 1 bulk.txt >known.txt
  alike sampled.txt detailed.txt
  alike known.txt detailed.txt
  counts_alike 2 "$@"
}

counters=("host_link bytes_read" "host_link bytes_written" "dram bytes_written")

for copy in "h2d 3 64" "d2h 0 0" "d2d 0 0" "h2d 0 0" "fill 0 0"; do
  read -r -a where <<<"$copy"
  # Three copies of a size are performed in detail before further copies of this size run in bulk.
  compare "${where[@]}" 262144 262144 262144 262144 262144 1500001 1500001 1500001 1500001 1500001
done
# Bulk copies are counted in a separate column (bulk_bytes), which is 0 in detailed runs.
moved() { awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next } { sum += $column["bulk_bytes"] } END { print sum + 0 }' "$1/kernels.csv"; }
[[ $(moved detailed) == 0 ]] || fail "bytes in bulk although copies are detailed"
(($(moved bulk) >= 1500001)) || fail "the rows tell of nothing in bulk"
# compare_long() also doubles the counts of the detailed run's start-up. These are negligible only for GPU memory, so only
# DRAM's counter is compared.
counters=("dram bytes_written")
# The copies are larger than L2, so L2 has nothing to write back while a copy is sampled.
compare_long h2d 12582912
if [[ $target == gfx803 && $2 == 0 ]]; then
  config=r9nano compare_long h2d 12582912
  # Copies within GPU memory that are long enough to be sampled.
  compare_long d2d 16777216
  # r9nano holds only half of the sample's workgroups at a time, and the dispatcher, not memory, limits the rate at which they
  # start.
  config=r9nano compare_long fill 16777216
fi

# Copies that run concurrently with a kernel write the same bytes. The host determines whether copy or kernel starts first, so
# times are not compared.
times bulk bulk d2d 0 0 beside 2097152 4194304
cat bulk.txt
