#!/usr/bin/env bash
# repeats.sh TIMES PROGRAM OPTION... [-- ARGUMENT...]: checks that a program has the same run hash each time, with one host
# thread and with two, with and without busy processes on the host, with threads that lose processor time at random places
# (slow_host.cpp), and on a single processor. NEIGHBOURS: number of busy processes, 2 by default.
source "$(dirname "$0")/common.sh"

times=$1 program=$2
shift 2
options=()
while [[ $# -gt 0 && $1 != -- ]]; do options+=("$1"); shift; done
[[ $# == 0 ]] || shift

# slow_host COMMAND ... -- PROGRAM ARGUMENT...: sets `command` to the given command with slow_host's library preloaded in the
# program, not in `lacuna exec`.
slow_host() {
  command=()
  while [[ $1 != -- ]]; do command+=("$1"); shift; done
  shift
  command+=(-- sh -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' "$slow_library" "$@")
}
slow_library=$(dirname "$LACUNA")/../tests/rocm/libslow_host.so
[[ -e $slow_library ]] || fail "$slow_library is missing"

# The first processor on which this script may run.
processor=$(taskset -cp $$ | sed -e 's/.*: //' -e 's/[,-].*//')

neighbours=()
trap 'kill "${neighbours[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
first=
for ((run = 0; run < times; ++run)); do
  # Every second pair of runs has busy processes.
  if ((run % 4 == 2)); then
    for ((i = 0; i < ${NEIGHBOURS-2}; ++i)); do
      while :; do :; done &
      neighbours+=($!)
    done
  elif ((run % 4 == 0)) && ((${#neighbours[@]})); then
    kill "${neighbours[@]}"
    neighbours=()
  fi
  on_gpu "${options[@]}" --set sim.threads=$((run % 2 + 1)) --out results-$run -- "$program" "$@"
  # The library is preloaded even with delays of zero, so that all runs load the same libraries.
  export SLOW_HOST=$((run % 3 == 2 ? run : 0))
  slow_host "${command[@]}"
  ((run % 5 != 4)) || command=(taskset -c "$processor" "${command[@]}")
  expect 0 "${command[@]}"
  hash=$(/usr/bin/python3 -c 'import json; print(json.load(open("results-'$run'/statistics.json"))["run"]["run_hash"])')
  [[ -n $hash ]] || fail "run $run has no run hash"
  [[ -n $first ]] || first=$hash
  if [[ $hash != "$first" ]]; then
    diff <(cut -d, -f1-3,8-10 results-0/kernels.csv) <(cut -d, -f1-3,8-10 results-$run/kernels.csv) >&2 || true
    # The end of the log reports whether the simulator has given up waiting for a thread of the program.
    tail -n 20 "results-$run/log.txt" >&2
    fail "run $run gives the hash $hash, run 0 gave $first"
  fi
  ((run == 0)) || rm -rf "results-$run"
done
echo "$times runs, hash $first"
