#!/usr/bin/env bash
# Tests matrix units with extensions on real kernels: passes, designs, rates, interlocks, energy.
source "$(dirname "$0")/common.sh"

machine=(--config mi210-matrix --set gpu.shader_arrays=1)
# peak FOLDER KERNEL OPTION...: runs 64 rounds of four instructions in each of two wavefronts on every SIMD of two compute
# units.
peak() {
  expect 0 "$LACUNA" launch "$MATRIX_PEAK" -k "$2" --grid 1024 --block 256 -a out:16K:out.bin -a u32:64 \
    "${machine[@]}" --out "$1" "${@:3}"
}
value() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i } NR == 2 { print $at }' "$1/kernels.csv"
}
# near A B: succeeds if A and B differ by at most 1 %.
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= 0.01 * b) }'; }

# 16 wavefronts execute 256 instructions each.
instructions=4096
for kernel in f16:8 tf32:8 fp32:16 minplus:8 minplus_sparse:4; do
  name=${kernel%:*} passes=${kernel#*:}
  peak "$name" "peak_$name"
  near "$(value "$name" matrix_used)" $((instructions * passes * 4)) || fail "$name keeps units for $(value "$name" matrix_used) cycles"
done
[[ $(value fp32 passes_m3xu_fp32) == $((instructions * 16)) ]] || fail "fp32 has $(value fp32 passes_m3xu_fp32) passes"
[[ $(value minplus_sparse passes_simd2_minplus) == $((instructions * 4)) ]] || fail "sparse passes are not those of minplus"
# The units are busy for more than 90 % of the kernel's cycles; the launch and the store take the remaining cycles.
[[ $(value fp32 matrix_used) -gt $(($(value fp32 matrix_peak) * 9 / 10)) ]] || fail "units are not busy at the kernel's peak"
peak report peak_fp32
complains "bounded by matrix units"
complains ", matrix units 9"

# Designs of Table 2.4 of the thesis: fp32-native takes one step instead of two; the cycle time of m3xu is longer by 21 %.
peak native peak_fp32 --config matrix/fp32-native
peak slower peak_fp32 --config matrix/m3xu
near "$(value native matrix_used)" $((instructions * 8 * 4)) || fail "fp32_native takes two steps"
near "$(value slower matrix_used)" $((instructions * 16 * 4 * 121 / 100)) || fail "m3xu has the clock of m3xu_pipelined"
near "$(value slower cycles)" "$(awk -v c="$(value fp32 cycles)" 'BEGIN { print 1.2 * c }')" || fail "m3xu takes $(value slower cycles) cycles, m3xu_pipelined $(value fp32 cycles)"

# A result is available 20 passes after its instruction: the wavefront must wait for the part that the compiler's s_nop does not
# cover.
expect 0 "$LACUNA" launch "$MATRIX_PEAK" -k use_fp32 --grid 64 -a out:1K:use.bin -a u32:100 --config mi210-matrix --out use
complains "matrix"
[[ $(value use cycles_matrix) -gt $((100 * 20)) && $(value use cycles) -gt $((100 * 80)) ]] || fail "results are used too early"
[[ $(value fp32 cycles_matrix) -lt $(value use cycles_matrix) ]] || fail "accumulators are not forwarded"

# Energy of the designs: power times cycle time, from Table 2.4.
joules() { value "$1" energy_mfma_j; }
for design in m3xu-pipelined m3xu fp32-native; do peak "energy-$design" peak_fp32 --config energy/matrix --config "matrix/$design"; done
ratio() { awk -v a="$(joules "energy-$1")" -v b="$(joules energy-m3xu-pipelined)" 'BEGIN { print a / b }'; }
near "$(ratio m3xu)" "$(awk 'BEGIN { print 0.69 * 1.21 / 1.07 }')" || fail "m3xu takes $(ratio m3xu) of m3xu_pipelined's energy"
near "$(ratio fp32-native)" "$(awk 'BEGIN { print 7.97 / 1.07 / 2 }')" || fail "fp32_native takes $(ratio fp32-native) of m3xu_pipelined's energy"

# Without the extensions, the extensions' instructions are refused, and plain instructions are unchanged.
peak plain peak_f16 --set mfma.extensions=none
[[ $(value plain cycles) == $(value f16 cycles) ]] || fail "extensions change the time of plain instructions"
expect 1 "$LACUNA" launch "$MATRIX_PEAK" -k peak_fp32 --grid 1024 --block 256 -a out:16K:out.bin -a u32:64 --config mi210 --out none
complains "m3xu.fp32 needs mfma.extensions = m3xu (or all)"

# The a100-like device executes FP32 at four times the rate of f32 vector instructions (thesis, section 2.3.3), so a pass takes
# 2 cycles.
machine=(--config a100-like --set mfma.extensions=all --set gpu.shader_arrays=2)
peak a100 peak_fp32
near "$(value a100 matrix_used)" $((instructions * 16 * 2)) || fail "a pass of a100-like does not take 2 cycles"
