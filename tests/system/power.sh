#!/usr/bin/env bash
# Compares the power of presets with public measurements of products. Bands are two-sided, so too little power also fails:
#   - board of an R9 Nano under load: 175 W (AMD) to 185 W (hardware.fr, 2015) at 850 to 950 MHz; 282 W without a power limit
#   - share of static and constant power: 31 to 70 % on a V100 (AccelWattch, MICRO 2021)
#   - power over data: 257 to 155 W for one kernel (Lucas and Juurlink, "ALUPower", 2016), 40 % (Gregersen et al., SC24 workshops)
#   - four stacks of HBM at 512 GB/s: 14.6 W, 28.5 pJ for a byte (AnandTech, "AMD HBM Deep Dive", 2015), here with as many changing
#     bits as give the averages of O'Connor et al. (MICRO 2017, section 2): 2.54 pJ for a bit, 0.73 of random data
#   - the NoC's share on the near-data machine: 27 %
#   - boards of an MI210: 300 W, of an A100: 250 W (PCIe) to 400 W (SXM)
source "$(dirname "$0")/common.sh"

cp "$FIRMWARE/kernels/relu_scalar.co" "$FMA_PEAK" .

# column FOLDER NAME: prints a field of the only kernel.
column() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i } NR == 2 { print $at }' "$1/kernels.csv"
}
# between NUMBER LOW HIGH WHAT: prints the value of WHAT, and checks that it is in the band [LOW, HIGH].
between() {
  echo "$4: $1, public: $2 to $3"
  awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x >= low && x <= high) }' || fail "$4: $1 is not between $2 and $3"
}
calculated() { awk "BEGIN { printf \"%.4g\", $1 }"; }
static_of() {
  awk '/"static_watts": / { on = 1; next } on && /}/ { exit } on { gsub(",", "", $2); sum += $2 } END { print sum }' \
    "$1/statistics.json"
}
fma() {
  expect 0 "$LACUNA" launch fma_peak.co -k fma_peak --grid 262144 -a out:1M:f.bin -a u32:4 --set energy.interval=1us --out "$@"
}
stream() {
  expect 0 "$LACUNA" launch relu_scalar.co -k relu_scalar --grid 1048576 --block 64 -a 'fill:1048576:f32:uniform(-1,1)' \
    -a zero:4M -a u32:1048576 --set energy.interval=1us --out "$@"
}
# watts FOLDER BLOCK: mean power of a block while the kernel runs.
watts() { calculated "$(column "$1" "energy_$2_j") / $(column "$1" energy_j) * $(column "$1" mean_w)"; }
# end_of FOLDER low|high: mean power with every energy at this end.
end_of() { calculated "$(column "$1" "$2_j") / $(column "$1" energy_j) * $(column "$1" mean_w)"; }

r9nano=(--config r9nano --config energy/r9nano)
under_load=(--set gpu.core_clock=900MHz --set l1v.clock=900MHz --set l1s.clock=900MHz --set l1i.clock=900MHz
            --set l2.clock=900MHz --set noc.clock=900MHz)
fma load "${r9nano[@]}" "${under_load[@]}"
between "$(column load mean_w)" 123 203 "R9 Nano at 900 MHz, within a factor of 0.7 and 1.1 of 175 and 185 W"
between 175 "$(end_of load low)" "$(end_of load high)" "175 W lie within the interval of the inputs"
between 185 "$(end_of load low)" "$(end_of load high)" "185 W lie within the interval of the inputs"

fma fma "${r9nano[@]}"
between "$(column fma mean_w)" 123 282 "R9 Nano at 1 GHz, without a limit"
between "$(calculated "8192 / $(column fma mean_w)")" 29 67 "GFLOPS per watt of 8.19 TFLOPS at 282 W, and at 0.7 of 175 W"
between "$(calculated "100 * $(static_of fma) / $(column fma mean_w)")" 31 70 "static share of fma_peak, %"
stream stream "${r9nano[@]}"
between "$(calculated "100 * $(static_of stream) / $(column stream peak_w)")" 31 70 "static share of a stream's peak, %"

same=(--set energy.toggles_alu=0 --set energy.toggles_arrays=0 --set energy.toggles_links=0 --set energy.toggles_dram=0)
fma same "${r9nano[@]}" "${same[@]}"
[[ $(run_value same run_hash) == "$(run_value fma run_hash)" ]] || fail "energies change the run"
between "$(calculated "$(column fma mean_w) / $(column same mean_w)")" 1.2 1.66 "power with random data over that with constant data"
stream same_stream "${r9nano[@]}" "${same[@]}"
between "$(calculated "$(column stream peak_w) / $(column same_stream peak_w)")" 1.05 1.66 "the same of a stream"

# Data of the program: constant and random inputs.
stream measured "${r9nano[@]}" --set energy.toggles=measured
expect 0 "$LACUNA" launch relu_scalar.co -k relu_scalar --grid 1048576 --block 64 -a zero:4M -a zero:4M -a u32:1048576 \
  --set energy.interval=1us --set energy.toggles=measured "${r9nano[@]}" --out measured_zeros
[[ $(run_value measured run_hash) == "$(run_value stream run_hash)" ]] || fail "measuring data changes the run"
between "$(calculated "$(column measured peak_w) / $(column measured_zeros peak_w)")" 1.05 1.66 \
  "power of a stream of random numbers over that of zeros"
between "$(calculated "$(column measured energy_dram_j) / $(column measured_zeros energy_dram_j)")" 1.1 2 \
  "energy of the DRAM with random numbers over that with zeros"

stream average "${r9nano[@]}" --set energy.toggles_dram=0.52
bytes=$(awk '/"(read|write)_byte": / { on = 1 } on && /"count":/ { gsub(",", "", $2); sum += $2; on = 0 } END { print sum }' \
  average/statistics.json)
dram=$(for block in dram dram_io dram_refresh; do column average energy_${block}_j; done | awk '{ sum += $1 } END { print sum }')
between "$(calculated "$dram * 1e12 / $bytes")" 20 57 \
  "HBM, pJ for a byte: at full rate 28.5, with idle times up to twice that"

stream mesh --config mesh56 --config energy/mesh56
between "$(calculated "100 * ($(watts mesh noc_router) + $(watts mesh noc_link)) / $(column mesh mean_w)")" 20 34 \
  "share of the NoC on the near-data machine, %"

fma mi210 --config mi210 --config energy/mi210 --set gpu.target=gfx803
between "$(column mi210 mean_w)" 150 300 "MI210, f32 multiply-adds"
between 300 "$(end_of mi210 low)" "$(end_of mi210 high)" "300 W lie within the interval of the inputs"
fma a100 --config a100-like --config energy/a100 --set gpu.target=gfx803
between "$(column a100 mean_w)" 125 400 "A100, f32 multiply-adds"
between 250 "$(end_of a100 low)" "$(end_of a100 high)" "250 W lie within the interval of the inputs"
