#!/usr/bin/env bash
# Checks that Ctrl-C ends the run, and that the run's results are written.
source "$(dirname "$0")/common.sh"

"$LACUNA" run "$FIRMWARE/loop_forever.elf" --config tiny --out stopped >out.txt 2>err.txt &
process=$!
# The signal handlers are installed before the folder is created.
await test -s stopped/effective.cfg
kill -INT $process
code=0
wait $process || code=$?
[[ $code == 130 ]] || fail "ended with $code, not 130"
complains "ended by Ctrl-C"
complains "run hash"
for file in effective.cfg statistics.json kernels.csv log.txt console.txt; do
  [[ -e stopped/$file ]] || fail "$file is missing"
done
[[ $(run_value stopped ended_by) == interrupted ]] || fail "statistics.json does not say how the run ended"
