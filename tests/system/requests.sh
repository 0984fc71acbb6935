#!/usr/bin/env bash
# Tests the record of load requests over time: it includes all requests of kernels.csv and does not depend on the number of
# threads; recording changes nothing else; invalid input is refused.
source "$(dirname "$0")/common.sh"

cp "$FIRMWARE/kernels/relu_scalar.co" .
relu=(relu_scalar.co -k relu_scalar --grid 32768 --block 64 -a 'fill:32768:f32:uniform(-1,1)' -a zero:128K -a u32:32768 --repeat 2)

# column FILE NAME: prints the fields of a column. No field of these files contains a comma.
column() { awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i } NR > 1 { print $at }' "$1"; }
sum() { column "$1" "$2" | awk '{ sum += $1 } END { printf "%d", sum }'; }

for mode in eager lazy; do
  machine=(--config r9nano --set lazy.mode=$mode)
  expect 0 "$LACUNA" launch "${relu[@]}" "${machine[@]}" --out without
  [[ ! -e without/requests.csv ]] || fail "requests.csv was not requested"
  for threads in 1 3; do
    expect 0 "$LACUNA" launch "${relu[@]}" "${machine[@]}" --set gpu.request_interval=200ns --set sim.threads=$threads --out $mode$threads
    [[ $(run_value $mode$threads run_hash) == "$(run_value without run_hash)" ]] || fail "the run differs when requests are counted"
  done
  csv=${mode}1/requests.csv
  diff $csv ${mode}3/requests.csv >&2 || fail "requests.csv differs with three threads"
  requests=$(sum ${mode}1/kernels.csv load_requests)
  [[ $requests -ge 2048 ]] || fail "only $requests requests of 32768 values twice"
  [[ $(sum $csv started) == "$requests" && $(sum $csv answered) == "$requests" ]] || fail "not the $requests requests of kernels.csv"
  [[ $(column $csv in_flight | tail -n 1) == 0 ]] || fail "requests are in flight at the end"
  [[ $(column $csv in_flight | sort -n | tail -n 1) -gt 100 ]] || fail "never more than 100 requests in flight"
  # Intervals are contiguous up to the end of the run, the number in flight follows from the other columns, and latencies add up
  # to those of kernels.csv.
  awk -F, -v whole="$(sum ${mode}1/kernels.csv load_requests_ps)" -v end="$(run_value ${mode}1 simulated_ps)" '
    NR > 1 { if ($2 != last + 0 || $3 <= $2) exit 1; last = $3
             flight += $4 - $5; if (flight != $6) exit 1
             if (($5 == 0) != ($7 == "")) exit 1
             time += $5 * $7 }
    END { d = time - whole; if (d < 0) d = -d; exit !(last == end && d <= 0.001 * whole) }' $csv || fail "$csv does not add up"
done

refused() {
  expect 2 "$LACUNA" launch "${relu[@]}" --config r9nano "${@:2}" --out refused
  complains "$1"
}
refused "gpu.timing = functional has none" --set gpu.request_interval=1us --set gpu.timing=functional
refused "gpu.request_interval" --set gpu.request_interval=2s
refused "gpu.request_interval" --set gpu.request_interval=often
refused "gpu.request_interval" --set gpu.request_intervall=1us
