#!/usr/bin/env bash
# Tests energy accounting: kernels, intervals and totals add up; accounting changes nothing else; invalid input is refused;
# r9nano stays below its limit of 175 W.
source "$(dirname "$0")/common.sh"

kernels=$FIRMWARE/kernels
cp "$kernels/relu_scalar.co" "$kernels/matmul_tiled.co" "$FMA_PEAK" .
machine=(--config r9nano --config energy/r9nano --set energy.interval=1us)

# value FILE ROW COLUMN: prints a field of a CSV file. Rows are counted from 1 after the header; columns are given by name.
value() {
  awk -F, -v row="$2" -v name="$3" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i }
                                    NR == row + 1 { print $at }' "$1"
}
# near A B PART: succeeds if A and B differ by at most the fraction PART of B.
near() { awk -v a="$1" -v b="$2" -v part="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= part * b) }'; }
# energy FOLDER PART [END]: prints the joules of PART ("whole", "kernels" or "idle") in statistics.json; END: low_ or high_.
energy() {
  awk -v part="\"$2\":" -v name="\"${3:-}joules\":" '/^  "energy": / { on = 1 } /^  "statistics": / { on = 0 }
                         on && $1 == part { found = 1 } found && $1 == name { gsub(",", "", $2); print $2; exit }' \
    "$1/statistics.json"
}
# check FOLDER: checks all sums of a run.
check() {
  local whole
  whole=$(energy "$1" whole)
  near "$(awk -v a="$(energy "$1" kernels)" -v b="$(energy "$1" idle)" 'BEGIN { printf "%.15g", a + b }')" "$whole" 1e-12 ||
    fail "$1: kernels and idle are not the whole"
  near "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "energy_j") at = i }
                   NR > 1 { sum += $at } END { printf "%.15g", sum }' "$1/kernels.csv")" "$(energy "$1" kernels)" 1e-9 ||
    fail "$1: the kernels of kernels.csv differ from those of statistics.json"
  for end in low high; do
    near "$(awk -F, -v name="${end}_j" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i }
                     NR > 1 { sum += $at } END { printf "%.15g", sum }' "$1/kernels.csv")" "$(energy "$1" kernels "${end}_")" 1e-9 ||
      fail "$1: the kernels' $end ends in kernels.csv differ from those of statistics.json"
  done
  awk -v low="$(energy "$1" whole low_)" -v is="$whole" -v high="$(energy "$1" whole high_)" \
    'BEGIN { exit !(low < is && is < high) }' || fail "$1: the energy is not within its interval"
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) { if ($i == "energy_j") total = i; if ($i ~ /^energy_.*_j$/) block[i] = 1 } }
           NR > 1 { sum = 0; for (i in block) sum += $i; d = sum - $total; if (d < 0) d = -d; if (d > 1e-9 * $total) exit 1 }' \
    "$1/kernels.csv" || fail "$1: the blocks of a kernel are not its energy"
  near "$(awk -F, 'NR > 1 { sum += $4 * ($3 - $2) * 1e-12; if ($2 != end + 0) exit 1; end = $3 } END { printf "%.15g", sum }' \
    "$1/power.csv")" "$whole" 1e-9 || fail "$1: power over time is not the whole"
  for end in low high; do
    near "$(awk -F, -v name="${end}_w" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i }
                                        NR > 1 { sum += $at * ($3 - $2) * 1e-12 } END { printf "%.15g", sum }' "$1/power.csv")" \
      "$(energy "$1" whole "${end}_")" 1e-9 || fail "$1: the $end ends of power over time are not that of the whole"
  done
}

cat >two.launch <<'EOF'
[code relu]
file = relu_scalar.co
[code matmul]
file = matmul_tiled.co
[buffer x]
contents = fill:65536:f32:uniform(-1,1)
[buffer y]
contents = zero:262144
[buffer a]
contents = fill:4096:f32:uniform(-1,1)
[buffer c]
contents = zero:16384
EOF
relu='[dispatch relu_scalar]
code = relu
grid = 65536
block = 64
arg = buf:x
arg = buf:y
arg = u32:65536'
matmul='[dispatch matmul_tiled]
code = matmul
grid = 64, 64
arg = buf:a
arg = buf:a
arg = buf:c
arg = u32:64
arg = u32:64'
for runs in relu matmul; do { cat two.launch; echo "${!runs}"; } >$runs.launch; done
{ cat two.launch; echo "$relu"; echo "$matmul"; } >both.launch

# Kernels that do not share cached data use the same energy in one run as in separate runs. The machine's state before the first
# kernel is the same in both, so the first kernel's energy is equal bit by bit; the second kernel starts with the DRAM queues as
# the first kernel left them. Refresh is disabled, because its phase would differ.
for run in relu matmul both; do
  expect 0 "$LACUNA" launch $run.launch "${machine[@]}" --set cp.cold_dispatch=true --set dram.tREFI=0cycles --out $run
  check $run
done
[[ $(value both/kernels.csv 1 energy_j) == $(value relu/kernels.csv 1 energy_j) ]] || fail "the first kernel differs in turn"
for block in valu vgpr lds; do
  [[ $(value both/kernels.csv 2 energy_${block}_j) == $(value matmul/kernels.csv 1 energy_${block}_j) ]] ||
    fail "the second kernel's $block differs in turn"
done
near "$(value both/kernels.csv 2 energy_j)" "$(value matmul/kernels.csv 1 energy_j)" 0.02 ||
  fail "the second kernel takes $(value both/kernels.csv 2 energy_j) J in turn, $(value matmul/kernels.csv 1 energy_j) J apart"

# Energy accounting does not affect timing or results, and does not depend on the number of threads.
expect 0 "$LACUNA" launch both.launch --config r9nano --set cp.cold_dispatch=true --set dram.tREFI=0cycles --out without
[[ $(run_value both run_hash) == "$(run_value without run_hash)" ]] || fail "the run differs when energy is accounted for"
[[ ! -e without/power.csv ]] || fail "power.csv without energy"
grep -q energy_j without/kernels.csv && fail "columns of energy without energy"
for threads in 1 3; do
  expect 0 "$LACUNA" launch both.launch "${machine[@]}" --set cp.cold_dispatch=true --set dram.tREFI=0cycles --set sim.threads=$threads --out threads$threads
  diff both/power.csv threads$threads/power.csv >&2 || fail "power.csv differs with $threads threads"
  diff <(cut -d, -f1-13,15- both/kernels.csv) <(cut -d, -f1-13,15- threads$threads/kernels.csv) >&2 ||
    fail "kernels.csv differs with $threads threads"
done

# Samples of the data do not depend on the number of threads, either.
for threads in 1 3; do
  expect 0 "$LACUNA" launch both.launch "${machine[@]}" --set energy.toggles=measured --set cp.cold_dispatch=true --set dram.tREFI=0cycles \
    --set sim.threads=$threads --out measured$threads
  check measured$threads
  [[ $(run_value measured$threads run_hash) == "$(run_value both run_hash)" ]] || fail "the run differs when data are sampled"
done
diff measured1/power.csv measured3/power.csv >&2 || fail "samples of data depend on the number of threads"

expect 0 "$LACUNA" launch relu.launch "${machine[@]}" --set energy.model=off --out off
[[ ! -e off/power.csv ]] || fail "power.csv although energy is off"

# Sums also add up with several concurrent queues, and on a GPU that is reset.
expect 0 "$LACUNA" run "$FIRMWARE/determinism.elf" "${machine[@]}" --out queues
check queues
expect 0 "$LACUNA" run "$FIRMWARE/device_reset.elf" --config tiny --config energy/r9nano --out reset
check reset

# The table is printed only on request.
grep -q 'most of it' err.txt && fail "a table of energy that was not requested"
expect 0 "$LACUNA" launch relu.launch "${machine[@]}" --set energy.table=true --out table
complains "most of it"
grep -q '^relu_scalar .* uJ .* W .* W .* Js .* %' err.txt || fail "no line of relu_scalar in the table of energy"
expect 0 "$LACUNA" launch relu.launch --config r9nano --set energy.table=true --out without
complains "energy.table = true: the configuration has no energies"

# Wrong input.
refused() {
  expect 2 "$LACUNA" launch relu.launch --config r9nano "${@:2}" --out refused
  complains "$1"
}
printf '[energy]\nmodel = on\nvgpr_read = -1\n' >negative.cfg
refused "negative.cfg:3: energy.vgpr_read" --config negative.cfg
printf '[energy]\nvgpr_reed = 1\n' >unknown.cfg
refused "energy.vgpr_read" --config unknown.cfg
refused "energy.interval" --config energy/r9nano --set energy.interval=0ns
refused 'energy.published: there is no energy or power "voltage"' --config energy/r9nano --set energy.published=voltage
refused "energy.dram_activate" --config energy/r9nano --set energy.dram_activate=much
refused "no energies are given" --set energy.model=on
# A single nonzero energy per event is sufficient, here that of LDS accesses, which only matmul_tiled performs.
expect 0 "$LACUNA" launch matmul.launch --config r9nano --set energy.model=on --set energy.lds_word=1 --out lds
check lds
near "$(value lds/kernels.csv 1 energy_lds_j)" "$(value lds/kernels.csv 1 energy_j)" 1e-9 || fail "not all energy is the LDS's"
awk -v e="$(value lds/kernels.csv 1 energy_j)" 'BEGIN { exit !(e > 0) }' || fail "the LDS takes no energy"
refused "gpu.timing = functional has none" --config energy/r9nano --set gpu.timing=functional

# Voltage, clock and size of arrays.
# watts FOLDER KIND BLOCK: prints static power of a kind ("clock_watts", "leakage_watts") of a block.
watts() {
  awk -v kind="\"$2\":" -v block="\"$3\":" '$1 == kind { on = 1; next } on && /}/ { exit }
                                              on && $1 == block { gsub(",", "", $2); print $2 }' "$1/statistics.json"
}
expect 0 "$LACUNA" launch relu.launch "${machine[@]}" --out reference
for change in gpu.core_clock=500MHz l2.size=512KiB cu.vgprs_per_simd=128 energy.voltage=0.9; do
  expect 0 "$LACUNA" launch relu.launch "${machine[@]}" --set $change --out "${change%%=*}"
  check "${change%%=*}"
done
times() { near "$(watts "$1" "$2" "$3")" "$(awk -v w="$(watts reference "$2" "$3")" -v by="$4" 'BEGIN { print w * by }')" 1e-4; }
times gpu.core_clock clock_watts clock 0.5 || fail "half the clock: the clock trees take $(watts gpu.core_clock clock_watts clock) W"
times gpu.core_clock leakage_watts cu_leakage 1 || fail "the clock changes leakage"
times l2.size leakage_watts l2 2 || fail "an L2 of twice the size leaks $(watts l2.size leakage_watts l2) W"
times l2.size clock_watts l2 1 || fail "the size changes clock trees"
# Leakage of a compute unit: 0.105 W, 0.02 W for the registers of each of 4 SIMDs, and 0.02 W for the LDS.
times cu.vgprs_per_simd leakage_watts cu_leakage "$(awk 'BEGIN { print (0.105 + 4 * 0.02 / 2 + 0.02) / (0.105 + 4 * 0.02 + 0.02) }')" ||
  fail "compute units with half the registers leak $(watts cu.vgprs_per_simd leakage_watts cu_leakage) W"
times energy.voltage leakage_watts cu_leakage "$(awk 'BEGIN { print 0.9 / 1.1 }')" || fail "leakage at another voltage"
near "$(value energy.voltage/kernels.csv 1 energy_valu_j)" \
  "$(awk -v e="$(value reference/kernels.csv 1 energy_valu_j)" 'BEGIN { print e * (0.9 / 1.1) ^ 2 }')" 1e-4 || fail "energy at another voltage"
near "$(value cu.vgprs_per_simd/kernels.csv 1 energy_valu_j)" "$(value reference/kernels.csv 1 energy_valu_j)" 1e-9 ||
  fail "fewer registers change the ALUs' energy"

# With vector ALUs or DRAM at their peak, power is more than idle power and less than the board's limit. docs/guide/energy.md
# states the numbers.
expect 0 "$LACUNA" launch fma_peak.co -k fma_peak --grid 262144 -a out:1M:f.bin -a u32:4 "${machine[@]}" --out fma_peak
expect 0 "$LACUNA" launch relu_scalar.co -k relu_scalar --grid 1048576 --block 64 -a 'fill:1048576:f32:uniform(-1,1)' \
  -a zero:4M -a u32:1048576 "${machine[@]}" --out relu_scalar
# Static power is the sum of the blocks' constant power.
static=$(awk '/"static_watts": / { on = 1; next } on && /}/ { exit } on { gsub(",", "", $2); sum += $2 } END { print sum }' \
  fma_peak/statistics.json)
grep -q "^| \`fma_peak\` .* | $(printf %.1f "$static") W |\$" "$SOURCE/docs/guide/energy.md" || fail "docs/guide/energy.md has not $static W of static power"
for kernel in fma_peak relu_scalar; do
  documented=($(sed -n "s/^| \`$kernel\` |[^|]*| \([0-9.]*\) W | \([0-9.]*\) W |.*/\1 \2/p" "$SOURCE/docs/guide/energy.md"))
  [[ ${#documented[@]} == 2 ]] || fail "docs/guide/energy.md says nothing of $kernel"
  for column in mean_w peak_w; do
    watts=$(value $kernel/kernels.csv 1 $column)
    awk -v w="$watts" 'BEGIN { exit !(w > 65 && w < 175) }' || fail "$kernel takes $watts W ($column)"
    near "$watts" "${documented[0]}" 0.05 || fail "$kernel: $column is $watts W, docs/guide/energy.md has ${documented[0]}"
    documented=("${documented[@]:1}")
  done
done

# Launches with scratch memory run on the timed units when their time is predicted. What these count is not added to the estimate: the
# instructions of each launch are decoded once.
expect 0 "$LACUNA" launch "$FIRMWARE/kernels/test_kernels.co" --kernel private_array --grid 4096 --block 64 --arg zero:16384 --arg u32:100 \
  --repeat 6 --config tiny --config energy/r9nano --set gpu.timing=sampled --out predicted
awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
  $column["untimed_instructions"] == 0 { timed = $column["energy_decode_j"]; next }
  { ++untimed; off = $column["energy_decode_j"] / timed; bad += off < 0.99 || off > 1.01 }
  END { print untimed " predicted launches, energy of decoding " off " times that of timed ones"; exit untimed == 0 || bad }' predicted/kernels.csv >&2 ||
  fail "energies of predicted launches with scratch memory"
