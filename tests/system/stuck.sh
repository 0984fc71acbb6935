#!/usr/bin/env bash
# stuck.sh FIRMWARE CODE-OBJECT OPTION...: tests kernels that never end, started by firmware and by `lacuna launch`. However the
# run ends, it must report where the kernel's wavefronts are and what they wait for, and the kernel must be in the results.
source "$(dirname "$0")/common.sh"

firmware=$FIRMWARE/$1.elf
code=$2
options=(--config tiny "${@:3}")
mutex=(--kernel mutex --grid 64 --block 64 -a zero:64 -a zero:64)
half_barrier=(--kernel half_barrier --grid 128 --block 128 -a zero:64 -a zero:64)

# tells KERNEL FOLDER: checks that the report is on stderr and in the log, and that the kernel is in the results.
tells() {
  local phrase
  local phrases=("in a loop from PC" "registers are the same again after every" "waits on 4 bytes at 0x" "(atomic at PC 0x"
    "no running wavefront changes it within its next 20000 instructions")
  if [[ $1 == mutex ]]; then
    phrases+=("kernel mutex (dispatch 0, queue 0, packet 0): grid 64x1x1, workgroup 64x1x1; of 1 workgroup: 0 finished, 1 running"
      "1 wavefront at PC 0x" "e.g. workgroup (0, 0, 0), wavefront 0, compute unit 0 SIMD" "stuck.cl:6"
      "lanes: 63 of 64 are active in the loop; 1 cannot go on" ", value 0x1 ")
  else
    phrases+=("kernel half_barrier (dispatch 0, queue 0, packet 0): grid 128x1x1" "s_barrier: waits at a barrier: 1 of 2 wavefronts"
      "divergent barrier in 1 workgroup: in workgroup (0, 0, 0) 1 of 2 wavefronts have arrived" "stuck.cl:16" "stuck.cl:18"
      ", value 0x0 ")
  fi
  for phrase in "${phrases[@]}"; do
    complains "$phrase"
    grep -qF -- "$phrase" "$2/log.txt" || fail "log.txt does not say: $phrase"
  done
  local items=64 wavefronts=1
  [[ $1 == mutex ]] || { items=128 wavefronts=2; }
  grep -q "^0,$1,0,${items}x1x1,${items}x1x1,0,$wavefronts,[0-9]*,[0-9]*,[1-9][0-9]*,[1-9][0-9]*,[1-9][0-9]*,0,.*,0,1$" \
    "$2/kernels.csv" || fail "the kernel is not in kernels.csv: $(cut -c1-200 "$2/kernels.csv")"
  [[ $(head -n 1 "$2/kernels.csv") == *,bulk_bytes,unfinished ]] || fail "another column is the last"
  grep -q '"unfinished": true' "$2/statistics.json" || fail "statistics.json does not say that the kernel is unfinished"
  grep -q '"wavefront_instructions": [1-9]' "$2/statistics.json" || fail "statistics.json has no instructions"
  complains "$1 (unfinished)"
}

# ends_by SIGNAL SENTENCE KERNEL FOLDER: ends the program in the background by a signal and checks its report.
ends_by() {
  local code=0
  kill -s "$1" $process
  wait $process || code=$?
  [[ $code == 130 ]] || fail "ended with $code, not 130"
  complains "$2"
  tells "$3" "$4"
  [[ $(run_value "$4" ended_by) == interrupted ]] || fail "statistics.json does not say how the run ended"
}

# start COMMAND...: starts the command in the background such that it does not ignore SIGINT, as background jobs of a script do
# by default.
start() {
  : >out.txt
  env --default-signal=INT,TERM "$@" >out.txt 2>err.txt </dev/null &
  process=$!
}

expect 124 "$LACUNA" run "$firmware" "${options[@]}" --max-time 10ms --out run-time -- mutex
complains "simulated time limit of 10.000 ms reached"
tells mutex run-time
expect 124 "$LACUNA" run "$firmware" "${options[@]}" --set gpu.timing=functional --max-time 10ms --out run-functional -- half_barrier
tells half_barrier run-functional
start "$LACUNA" run "$firmware" "${options[@]}" --set sim.threads=2 --set gpu.shader_arrays=2 --out run-signal -- half_barrier
await grep -q "the kernel runs" out.txt
ends_by INT "ended by Ctrl-C" half_barrier run-signal
start "$LACUNA" run "$firmware" "${options[@]}" --set gpu.timing=functional --out run-term -- mutex
await grep -q "the kernel runs" out.txt
ends_by TERM "ended by SIGTERM" mutex run-term

expect 124 "$LACUNA" launch "$code" "${half_barrier[@]}" "${options[@]}" --max-time 10ms --out launch-time
tells half_barrier launch-time
# Once the load of its arguments has completed, the kernel is running.
start "$LACUNA" launch "$code" "${mutex[@]}" "${options[@]}" --set gpu.request_interval=50ns --out launch-signal
await awk -F, '$1 == "gpu" && $5 > 0 { answered = 1 } END { exit !answered }' launch-signal/requests.csv
ends_by INT "ended by Ctrl-C" mutex launch-signal
