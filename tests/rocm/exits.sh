#!/usr/bin/env bash
# Checks that a program ends immediately and with its own exit code, however it ends, and that the results of the run are
# written.
source "$(dirname "$0")/common.sh"

# ends CODE END PENDING: checks that a program that ends by END while PENDING is pending has exit code CODE.
ends() {
  on_gpu --config tiny --out "$2-$3" -- exits "$2" "$3"
  expect "$1" "${command[@]}"
  has_results "$2-$3"
}

for pending in nothing kernel; do
  ends 7 return $pending
  ends 7 exit $pending
done
ends 7 return endless
ends 7 exit endless
ends 7 thread nothing
ends 7 reset nothing
ends 7 static-destructor nothing
ends 7 handler nothing
ends 134 exception nothing
ends 134 exception endless
ends 134 abort kernel
ends 143 terminate-signal nothing
ends 143 terminate-signal endless
ends 130 interrupt-signal endless
ends 139 segmentation-fault nothing

# A process that is killed or that exits without clean-up writes no results at its end, but must end.
on_gpu --config tiny --out killed -- exits kill-signal endless
expect 137 "${command[@]}"
on_gpu --config tiny --out quick -- exits quick-exit endless
expect 7 "${command[@]}"

# start FOLDER PENDING: starts a program that waits for a signal in the background; returns when its kernel runs.
start() {
  on_gpu --config tiny --out "$1" -- exits wait-for-signal "$2"
  # Removes the output of the previous program, which would be mistaken for output of this program.
  : >out.txt
  # A background job of a script ignores SIGINT, as do all processes that it starts.
  env --default-signal=INT,TERM "${command[@]}" >out.txt 2>err.txt &
  process=$!
  await grep -q "ending by wait-for-signal" out.txt
}

# ended CODE: waits for the program in the background and checks its exit code.
ended() {
  local code=0
  wait "$process" || code=$?
  [[ $code == "$1" ]] || fail "${command[*]} ended with $code, not $1"
}

# Tests signals from another process, while the host waits and while a kernel runs.
for pending in nothing endless; do
  start "outside-TERM-$pending" $pending
  kill -s TERM $process
  ended 143
  has_results "outside-TERM-$pending"
  start "outside-INT-$pending" $pending
  kill -s INT $process
  ended 130
  has_results "outside-INT-$pending"
done

# The results of kernels that finished before the process was killed have been written.
start outside-KILL kernel
await grep -q wait_until outside-KILL/kernels.csv
await grep -q "exits$" outside-KILL/log.txt
kill -s KILL $process
ended 137
[[ -s outside-KILL/effective.cfg ]] || fail "no effective.cfg"
