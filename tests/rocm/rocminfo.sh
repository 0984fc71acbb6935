#!/usr/bin/env bash
# rocminfo.sh ROCMINFO: checks that the output of rocminfo for a GPU of each kind equals the stored output.
source "$(dirname "$0")/common.sh"

for target in gfx803 gfx90a; do
  expect 0 "$LACUNA" exec --config tiny --set gpu.target=$target -- "$1"
  # The host's processor is only checked for its presence.
  sed -n '/^Agent 2/,$p' out.txt | sed 's/[[:space:]]*$//; s/\(Uuid: *GPU-\)[0-9a-f]*$/\1*/' >got.txt
  grep -q 'Device Type: *CPU' out.txt || fail "no CPU"
  diff "$SOURCE/tests/rocm/expected/rocminfo-$target.txt" got.txt >difference.txt ||
    fail "rocminfo on $target (< wanted, > got): $(cat difference.txt)"
done
expect 0 "$LACUNA" exec --config tiny --set rocm.gpus=gfx803,gfx90a -- "$1"
[[ $(grep -c 'Device Type: *GPU' out.txt) == 2 ]] || fail "not two GPUs"
[[ ! -e lacuna-out ]] || fail "results without a queue"
