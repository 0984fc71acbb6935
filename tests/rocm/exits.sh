#!/usr/bin/env bash
# However a program ends: it ends at once, with its own exit code, and the results of the run are there.
source "$(dirname "$0")/common.sh"

# ends CODE END PENDING
ends() {
  on_gpu --config tiny --out "$2-$3" -- exits "$2" "$3"
  time_limit=15 expect "$1" "${command[@]}"
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

# Nothing can be written by a process that is killed or that leaves without any clean-up; but it must end.
on_gpu --config tiny --out killed -- exits kill-signal endless
time_limit=15 expect 137 "${command[@]}"
on_gpu --config tiny --out quick -- exits quick-exit endless
time_limit=15 expect 7 "${command[@]}"

# From outside, while the host waits and while a kernel runs.
for pending in nothing endless; do
  for signal in TERM INT; do
    on_gpu --config tiny --out "outside-$signal-$pending" -- exits wait-for-signal $pending
    # A job in the background of a script ignores SIGINT, and so would everything it starts.
    env --default-signal=INT,TERM "${command[@]}" >out.txt 2>err.txt &
    process=$!
    for ((i = 0; i < 200; ++i)); do
      grep -q "ending by" out.txt && break
      sleep 0.05
    done
    sleep 0.2
    kill -s $signal $process
    code=0
    wait $process || code=$?
    case $signal in
      TERM) [[ $code == 143 ]] || fail "SIGTERM ($pending): ended with $code, not 143" ;;
      INT) [[ $code == 130 ]] || fail "SIGINT ($pending): ended with $code, not 130" ;;
    esac
    has_results "outside-$signal-$pending"
  done
done
