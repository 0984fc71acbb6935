#!/usr/bin/env bash
# Checks that the files of a killed run contain everything that was finished before: kernels, their requests over time, the
# console, errors.
source "$(dirname "$0")/common.sh"

"$LACUNA" run "$FIRMWARE/endless_after_kernels.elf" --config tiny --set gpu.request_interval=50ns --out killed >out.txt 2>err.txt &
process=$!
await grep -q "from here on without end" out.txt
await grep -q "from here on without end" killed/console.txt
await grep -q "^0,store_to,.*,1,1," killed/kernels.csv
await grep -q "address not mapped" killed/log.txt
await grep -Eq "^gpu,[0-9]+,[0-9]+,[1-9][0-9]*,[0-9]+,[1-9]" killed/requests.csv # started, and in flight
kill -KILL $process
code=0
wait $process || code=$?
[[ $code == 137 ]] || fail "ended with $code, not 137"
[[ $(wc -l <killed/kernels.csv) == 3 && -s killed/effective.cfg ]] || fail "a file is not complete"
