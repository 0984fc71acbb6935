#!/usr/bin/env bash
# stuck.sh TARGET: checks that a process whose HIP kernel never ends reports, however the process ends, where the kernel's
# wavefronts are and what they wait for, and that the kernel is in the results.
source "$(dirname "$0")/common.sh"

options=(--config tiny --set "gpu.target=$1")

# tells KERNEL FOLDER: checks that the report is on stderr and in the log, and that the kernel is in the results.
tells() {
  local phrase phrases
  case $1 in
    mutex)
      phrases=("of 1 workgroup: 0 finished, 1 running" "lanes: 63 of 64 are active in the loop; 1 cannot go on" "waits on 4 bytes at 0x"
        ", value 0x1 (atomic at PC 0x" "no running wavefront changes it within its next 20000 instructions" "amd_hip_atomic.h:" ", inlined at " "stuck.hip:"
        "registers are the same again after every")
      ;;
    half_barrier)
      phrases=("s_barrier: waits at a barrier: 1 of 2 wavefronts" "divergent barrier in 1 workgroup: in workgroup (0, 0, 0) 1 of 2 wavefronts"
        "waits on 4 bytes at 0x" ", value 0x0 (" "no running wavefront changes it within" "amd_hip_atomic.h:" ", inlined at " "stuck.hip:")
      ;;
    half_grid)
      phrases=("of 2 workgroups: 1 finished, 1 running" "1 wavefront at PC" "waits for global wave sync; e.g. workgroup (0, 0, 0)")
      ;;
  esac
  for phrase in "${phrases[@]}" "$1"; do
    complains "$phrase"
    grep -qF -- "$phrase" "$2/log.txt" || fail "log.txt does not say: $phrase"
  done
  has_results "$2"
  grep -q "$1.*,0,1$" "$2/kernels.csv" || fail "the kernel is not in kernels.csv: $(cut -c1-200 "$2/kernels.csv")"
  grep -q '"unfinished": true' "$2/statistics.json" || fail "statistics.json does not say that the kernel is unfinished"
  complains "(unfinished)"
}

# start KERNEL FOLDER OPTION...: starts the program in the background such that it does not ignore SIGINT, as background jobs of
# a script do by default; returns when the kernel runs.
start() {
  on_gpu "${options[@]}" --out "$2" "${@:3}" -- stuck "$1"
  : >out.txt
  env --default-signal=INT,TERM "${command[@]}" >out.txt 2>err.txt &
  process=$!
  await grep -q "the kernel runs" out.txt
}
# ends_by SIGNAL CODE: sends the signal; the process must end with exit code CODE.
ends_by() {
  local code=0
  kill -s "$1" $process
  wait $process || code=$?
  [[ $code == "$2" ]] || fail "ended with $code, not $2"
}

on_gpu "${options[@]}" --out time --max-time 20ms -- stuck mutex
expect 124 "${command[@]}"
tells mutex time
on_gpu "${options[@]}" --out functional --max-time 20ms --set gpu.timing=functional -- stuck half_barrier
expect 124 "${command[@]}"
tells half_barrier functional

start half_barrier interrupted --set gpu.shader_arrays=2 --set sim.threads=2
ends_by INT 130
complains "the process ends by signal 2 (Interrupt) while its GPUs are at work"
tells half_barrier interrupted
start mutex terminated --set gpu.timing=functional
ends_by TERM 143
complains "the process ends by signal 15 (Terminated)"
tells mutex terminated

# A process whose GPU hangs continues, as on real hardware; the log reports the hang. The runtime supports cooperative launches
# on gfx90a only.
[[ $1 == gfx90a ]] || exit 0
start half_grid hung
await grep -q "the GPUs have made no progress for sim.max_idle of simulated time" err.txt
complains "waits for global wave sync; e.g. workgroup (0, 0, 0)"
ends_by TERM 143
tells half_grid hung
