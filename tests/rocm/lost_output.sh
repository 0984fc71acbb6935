#!/usr/bin/env bash
# Checks that if results cannot be written, the program continues, and the process ends with exit code 74 whatever the program's
# own exit code.
source "$(dirname "$0")/common.sh"

# Tests each file of the output folder on a full disk, which /dev/full simulates.
for file in effective.cfg kernels.csv log.txt statistics.json; do
  mkdir "no-$file"
  touch "no-$file/effective.cfg"
  ln -sf /dev/full "no-$file/$file"
  on_gpu --config tiny --out "no-$file" -- vector_add
  expect 74 "${command[@]}"
  says "checks passed"
  complains "no-$file/$file: cannot be written: No space left on device"
  [[ $(grep -c "cannot be written" err.txt) == 1 ]] || fail "it is not said once"
done
[[ -s no-log.txt/statistics.json && -s no-log.txt/kernels.csv ]] || fail "the other files were not written either"
mkdir exits
touch exits/effective.cfg
ln -s /dev/full exits/statistics.json
for end in return exit; do
  on_gpu --config tiny --out exits -- exits $end nothing
  expect 74 "${command[@]}"
done
on_gpu --config tiny --out exits -- exits terminate-signal nothing
expect 143 "${command[@]}"

# No folder for numbered runs can be created.
touch lacuna-out
on_gpu --config tiny -- vector_add
expect 74 "${command[@]}"
says "checks passed"
complains "no results will be written"
