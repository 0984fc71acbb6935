#!/usr/bin/env bash
# near_data.sh CONFIG KERNEL MODE...: checks that chains offloaded to the data have the same results as without offloading, and
# take the same cycles with any number of threads; and that packets are sent, each of which is accepted or refused.
source "$(dirname "$0")/common.sh"
config=$1 code=$FIRMWARE/kernels/$2.co
shift 2

# add OUT OPTION...: adds two arrays of 65,536 floats.
add() {
  local out=$1
  shift
  # $config may contain further options, so it is not quoted.
  # shellcheck disable=SC2086
  expect 0 "$LACUNA" launch "$code" --kernel vector_add --config $config "$@" --grid 65536 --block 256 \
    --arg "fill:65536:f32:iota(0,1)" --arg "fill:65536:f32:iota(5,2)" --arg "out:256K:$out.bin" --arg i32:65536 --out "$out"
}
# counter OUT COLUMN: prints a column of kernels.csv for the kernel.
counter() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i } NR == 2 { print $column[name] }' "$1/kernels.csv"
}
hash_of() { sed -n 's/.*"run_hash": "\([0-9a-f]*\)".*/\1/p' "$1/statistics.json"; }

add none
[[ $(counter none ndc_chains) == 0 ]] || fail "chains without near-data hardware"
for mode in "$@"; do
  for options in "" "--set sim.threads=2" "--set ndc.check=true --set ndc.oq_entries=1 --set ndc.sq_entries=1 --set ndc.sq_buffer=1"; do
    # shellcheck disable=SC2086
    add "$mode" --set "ndc.mode=$mode" $options
    cmp none.bin "$mode.bin" || fail "$mode $options: the sums differ"
    [[ $(counter "$mode" ndc_chains) == 1024 ]] || fail "$mode: $(counter "$mode" ndc_chains) chains, there are 1,024 wavefronts"
    # Tagged instructions of each wavefront: two loads, an addition, and a store.
    [[ $(counter "$mode" ndc_tagged) == 4096 && $(counter "$mode" ndc_tagged_memory) == 3072 ]] || fail "$mode: tagged instructions"
    sent=$(counter "$mode" ndc_packets) bounced=$(counter "$mode" ndc_bounced)
    ((sent > 0)) || fail "$mode $options: no packets"
    # Service queues count accepted and refused packets.
    ((sent == $(awk '/"service_queue/ { inside = 1 } inside && /"packets": \{/ { getline; gsub(/[^0-9]/, ""); sum += $0; inside = 0 }
                     END { printf "%d", sum }' "$mode/statistics.json") + bounced)) ||
      fail "$mode $options: of $sent packets $bounced are bounced, the others are not those that the queues have taken"
    case $options in
      "") first=$(hash_of "$mode") ;;
      *threads*) [[ $(hash_of "$mode") == "$first" ]] || fail "$mode: hash $(hash_of "$mode") on two threads, $first on one" ;;
    esac
    rm -rf "$mode"
  done
done
