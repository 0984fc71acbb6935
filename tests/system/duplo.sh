#!/usr/bin/env bash
# duplo.sh: runs an OpenCL C kernel, whose parameter block is an initialised variable, by `lacuna launch`. Its loads must be
# looked up, many must hit, and its results must equal those without Duplo and those of a direct convolution.
source "$(dirname "$0")/common.sh"

cp "$FIRMWARE/kernels/lowered_convolution.co" .
cat >convolve.launch <<'END'
[code]
file = lowered_convolution.co
[buffer numbers]
contents = fill:4096:i16:uniform(-8,8):1
[buffer filter_numbers]
contents = fill:9216:i16:uniform(-4,4):2
[buffer input]
contents = zero:8192
[buffer filters]
contents = zero:18432
[buffer output]
contents = zero:65536
save = output.bin
[buffer expected]
contents = zero:65536
save = expected.bin
[dispatch to_half]
grid = 4096
arg = buf:numbers
arg = buf:input
[dispatch to_half]
grid = 9216
arg = buf:filter_numbers
arg = buf:filters
[dispatch lower]
grid = 256 * 144
arg = buf:input
[dispatch convolve]
blocks = 16
block = 256
arg = buf:filters
arg = buf:output
[dispatch direct]
grid = 256 * 64
arg = buf:input
arg = buf:filters
arg = buf:expected
END
# convolve MODE [OPTION...]: runs the launch, and sets `look_ups` and `hits` to those of its kernel.
convolve() {
  expect 0 "$LACUNA" launch convolve.launch --config titanv-like --set gpu.shader_arrays=1 --set "duplo.mode=$1" --out "$1" "${@:2}"
  [[ $(od -An -v -tf4 -w4 expected.bin | sort -u | wc -l) -gt 100 ]] || fail "the direct convolution has hardly any values"
  cmp -s output.bin expected.bin || fail "duplo.mode = $1: the product is not the convolution"
  look_ups=$(column "$1" duplo_look_ups) hits=$(column "$1" duplo_hits)
}
# column FOLDER NAME: prints a column of kernels.csv for kernel convolve.
column() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i } NR > 1 && $2 == "convolve" { print $at }' "$1/kernels.csv"
}

convolve off
[[ $look_ups == 0 ]] || fail "$look_ups look-ups without Duplo"
# Look-ups: 16 x 9 tiles, each read by the four wavefronts of a workgroup.
convolve on
[[ $look_ups == 576 ]] || fail "$look_ups look-ups, not 576"
((hits >= 144)) || fail "$hits hits"
convolve on --set duplo.release=never --set duplo.entries=0
((hits >= 3 * 144)) || fail "$hits hits, though nothing is forgotten"
complains "looked up"

# Functional mode, which has no look-ups, is refused.
expect 2 "$LACUNA" launch convolve.launch --config titanv-like --set duplo.mode=on --set gpu.timing=functional --out functional
complains "duplo.mode"
