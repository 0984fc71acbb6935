#!/usr/bin/env bash
# layers.sh: the lines `layer: NAME pass=PASS first=NUMBER` number the rows of kernels.csv, without the runtime's own kernels.
source "$SOURCE/tests/rocm/common.sh"

# layers PROGRAM OPTION...: writes `NAME PASS KERNEL` to layers.txt for each line `layer: ...` of the output; KERNEL is the
# layer's first kernel.
layers() {
  local program=$1
  on_gpu --quiet --config r9nano --set gpu.timing=functional --out results -- "$@" --preset small
  expect 0 "${command[@]}"
  awk -F, 'NR > 1 && $2 !~ /\(HSA runtime\)$/ && $2 !~ /^__amd_rocclr_/ { print $2 }' results/kernels.csv >kernels.txt
  [[ $(sed -n 's/^result: .* kernels=\([0-9]*\) .*/\1/p' out.txt) == $(wc -l <kernels.txt) ]] || fail "$program counts other kernels"
  awk 'NR == FNR { kernel[NR - 1] = $1; next } /^layer: / { split($4, first, "="); print $2, substr($3, 6), kernel[first[2]] }' \
    kernels.txt out.txt >layers.txt
  [[ -s layers.txt ]] || fail "no layers"
}

# expect_layer LINE: checks that layers.txt contains the line.
expect_layer() {
  grep -qx "$1" layers.txt || fail "no layer '$1'"
}

layers resnet18 --pass training --repeat 2
[[ $(grep -c "^conv5_2_1 forward" layers.txt) == 2 ]] || fail "not each repetition has its layers"
expect_layer "conv1 forward convolution_im2col"
expect_layer "maxpool forward max_pooling"
expect_layer "conv3_1_DS forward convolution_im2col"
expect_layer "fc forward fully_connected"
expect_layer "loss backward softmax_cross_entropy"
expect_layer "avgpool backward average_pooling_backward"
expect_layer "conv5_2_1 backward batch_norm_relu_backward_sums"
expect_layer "conv5_2_1 update gradient_descent"
[[ $(sort -u layers.txt | grep -c " forward ") == 23 ]] || fail "not the layers of ResNet-18"

layers resnet18 --convolution direct --layers conv2_2_2-conv3_1_2
expect_layer "conv2_2_2 forward convolution_direct_forward_3x3_lds"
expect_layer "conv3_1_1 forward convolution_direct_forward_3x3_stride_2_lds"
expect_layer "conv3_1_DS forward convolution_direct_forward_1x1_stride_2_lds"
[[ $(wc -l <layers.txt) == 4 ]] || fail "not the requested layers"

layers lowered_cnn --network gan --pass training
expect_layer "tc1 forward convolution_lower_8"
expect_layer "c2 backward activation_backward"
expect_layer "c2 backward_weights lower_turned"
expect_layer "c2 backward_data turn_weights"
expect_layer "score update gradient_descent"
[[ $(grep -c " backward_weights " layers.txt) == 9 && $(grep -c " backward_data " layers.txt) == 8 ]] || fail "not the layers of the GAN"

layers llama7b --layers 2
expect_layer "layer0_attention_norm decode rms_norm_fp32"
expect_layer "layer1_attention decode attention_decode_fp32"
expect_layer "layer1_w2 decode gemv_fp32"
expect 2 "$LACUNA" exec --quiet --config tiny --out none -- "$PROGRAMS/resnet18" --layers conv6
grep -q "no layer 'conv6'" err.txt || fail "an unknown layer is not named"
