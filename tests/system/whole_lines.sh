#!/usr/bin/env bash
# whole_lines.sh CONFIG KERNELS [OPTION...]: checks that a line of 128 bytes is a single request from the coalescer to DRAM:
# results and bytes read from DRAM equal those with lines of 64 bytes, with half as many requests.
source "$(dirname "$0")/common.sh"
config=$1 code=$FIRMWARE/kernels/$2.co
shift 2
more=("$@")

# add BYTES: adds two arrays of 65,536 floats.
add() {
  local options=(--set "cu.transaction_bytes=$1") cache
  for cache in l1v l2; do options+=(--set "$cache.line=${1}B" --set "$cache.sector=${1}B"); done
  expect 0 "$LACUNA" launch "$code" --kernel vector_add --config "$config" "${options[@]}" "${more[@]}" --grid 65536 --block 256 \
    --arg "fill:65536:f32:iota(0,1)" --arg "fill:65536:f32:iota(5,2)" --arg "out:256K:sum$1.bin" --arg i32:65536 --out "out$1"
}
# counter BYTES COLUMN: prints a column of kernels.csv for the kernel.
counter() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i } NR == 2 { print $column[name] }' "out$1/kernels.csv"
}

add 64
add 128
cmp sum64.bin sum128.bin || fail "the sums differ"
[[ $(od -An -tf4 -j4 -N4 sum128.bin | xargs) == 8 ]] || fail "1 + 7 is not 8"
whole=$(counter 64 load_requests) half=$(counter 128 load_requests)
# The two arrays have 256 KiB each; scalar loads of arguments are requests of 64 bytes in both runs.
((whole - half == 2 * 2048)) || fail "$whole requests with 64 bytes, $half with 128"
# bytes_read: sums the bytes over all channels, including copies.
bytes_read() {
  awk '/"bytes_read": \{/ { getline; gsub(/[^0-9]/, ""); sum += $0 } END { printf "%d", sum }' "out$1/statistics.json"
}
read64=$(bytes_read 64) read128=$(bytes_read 128)
((read64 >= 2 * 262144 && read128 >= read64 && read128 < read64 + 16384)) ||
  fail "DRAM reads $read64 bytes with lines of 64 bytes and $read128 with 128"
