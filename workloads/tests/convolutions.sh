#!/usr/bin/env bash
# convolutions.sh: all forms and orders of conv2d --method compute correct results, for shapes that are not multiples of tile sizes,
# and unsupported options are reported.
source "$SOURCE/tests/rocm/common.sh"

# convolve CONFIG TIMING OPTION...: runs conv2d with these options and checks its result.
convolve() {
  on_gpu --quiet --config "$1" --set "gpu.timing=$2" --out results -- conv2d --check --layer resnet_c2 "${@:3}"
  expect 0 "${command[@]}"
  tail -n 1 out.txt | grep -q "^result: workload=conv2d gpu=.* time_us=.* check=passed" || fail "no closing line that says so"
}

# Together the shapes cover sizes that differ by direction, 3 channels padded to 4, 8 or 16, inserted zeros, a K that is split
# into parts, and a last step of half a slab.
flat=height=9,width=14,channels=32,filters=70
uneven=height=11,width=6,channels=3,filters=33,filter_height=2,filter_width=5,stride_y=3,stride_x=2,pad_top=1,pad_left=3,pad_bottom=0,pad_right=2
transposed=height=5,width=3,channels=128,filters=67,filter_height=3,filter_width=2,spacing=2,pad_left=2,pad_bottom=2
for shape in $flat $uneven $transposed; do
  for fragments in 2 4; do
    convolve titanv-like functional --method explicit --lds c --shape $shape --batch 3 --fragments $fragments --k taps
    [[ $fragments == 4 ]] || convolve titanv-like functional --method explicit --loads octets --shape $shape --batch 3 --fragments 2
    convolve titanv-like functional --method explicit --lds ac --shape $shape --batch 3 --fragments $fragments --rows images_innermost
    convolve titanv-like functional --method explicit --lds abc --shape $shape --batch 3 --fragments $fragments
    convolve titanv-like functional --method implicit --shape $shape --batch 3 --fragments $fragments --rows images_innermost --k taps
  done
  convolve r9nano functional --method direct --shape $shape --batch 3
  convolve mi210 functional --method gemm --shape $shape --batch 3 --channels 4
done
for channels in 4 8; do
  convolve titanv-like functional --method explicit --shape $uneven --channels $channels --k taps
  convolve titanv-like functional --method implicit --shape $uneven --channels $channels --fragments 2
done
# Timed execution has hazards that functional execution does not have.
for lds in abc ac c; do convolve titanv-like loose --method explicit --lds $lds --shape $flat; done
convolve titanv-like loose --method implicit --shape $flat
convolve titanv-like loose --method explicit --loads octets --fragments 2 --shape $flat

# The kernels in Duplo's figures use at most 80 registers, so that a SIMD's 256 registers suffice for three workgroups, and
# spill none. 96 KiB of LDS hold one workgroup of form abc, two of ac, three of c, and two of implicit products.
expect 0 "$LACUNA" isa check "$PROGRAMS/conv2d"
takes() {
  local line vgprs agprs lds scratch
  line=$(awk -v kernel="$1:" '/--gfx90a\)/ { gfx90a = 1 } gfx90a && /^kernel / { at = $2 } at == kernel && /^  takes:/' out.txt)
  read -r vgprs agprs lds scratch < <(sed -E 's/^.*: (.*) VGPRs, (.*) AGPRs, .* SGPRs, (.*) bytes of LDS, (.*) bytes of scratch .*$/\1 \2 \3 \4/' <<< "$line")
  ((vgprs > 0 && vgprs + agprs <= 80)) || fail "$1: more than 80 registers:$line"
  ((scratch == 0)) || fail "$1: scratch memory:$line"
  ((lds == $2)) || fail "$1: LDS of other than $2 bytes:$line"
}
for fragments in 2 4; do
  takes convolution_explicit_abc_$fragments $((56 * 1024))
  takes convolution_explicit_ac_$fragments $((48 * 1024))
  takes convolution_explicit_c_$fragments $((32 * 1024))
done
takes convolution_explicit_octets $((32 * 1024))
takes convolution_implicit_2 $((35 * 1024))
takes convolution_implicit_4 $((37 * 1024))

wrong() {
  on_gpu --quiet --config "$1" --set gpu.timing=functional --out results -- conv2d "${@:3}"
  expect 2 "${command[@]}"
  complains "$2"
}
wrong titanv-like "did you mean resnet_c2?" --layer resnet_c22 --method explicit
wrong titanv-like "--layer yolo_c1 needs another --method than f32" --layer yolo_c1
wrong titanv-like "--shape needs another --method than f32" --shape height=3
wrong titanv-like "did you mean direct?" --layer yolo_c1 --method directly
wrong titanv-like "no size 'heigth'; did you mean height?" --layer yolo_c1 --method direct --shape heigth=3
wrong titanv-like "width '0' is not a whole number from 1 to 32768" --layer yolo_c1 --method direct --shape width=0
wrong titanv-like "the input has 131069 rows, of 65535 at most" --layer gan_tc4 --method explicit --shape height=32768,spacing=4
wrong titanv-like "the input has 131069 columns, of 65535 at most" --layer gan_tc4 --method direct --shape width=32768,spacing=4
wrong titanv-like "the filter has more rows (9) than the padded input (7)" --layer yolo_c1 --method direct --shape height=5,filter_height=9
wrong titanv-like "images_outermost alone" --layer resnet_c2 --method gemm --rows images_innermost
wrong titanv-like "--fragments has to be 2 or 4" --layer resnet_c2 --method explicit --fragments 3
wrong titanv-like "--loads octets needs --method explicit --lds c --fragments 2" --layer resnet_c2 --method explicit --loads octets
wrong titanv-like "--channels has to be 4, 8 or 16" --layer resnet_c2 --method explicit --channels 5
wrong titanv-like "--pitch has to be a multiple of 8 and 576 at least" --layer resnet_c2 --method explicit --pitch 568
wrong r9nano "--method explicit needs matrix units, which gfx90a has" --layer resnet_c2 --method explicit --shape height=3,width=3

# The workspace has one row of 144 elements and padding per position.
on_gpu --quiet --config titanv-like --set gpu.timing=functional --set vram.size=16MiB --out results -- conv2d --layer yolo_c1 --batch 1 --method explicit
expect 1 "${command[@]}"
complains "conv2d: error: workspace takes 15.31 MiB of the GPU's memory, of 16 MiB only"
