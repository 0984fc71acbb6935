#!/usr/bin/env bash
# lowered_cnn_options.sh: lowered_cnn reports unsupported options, with the valid ones.
source "$SOURCE/tests/rocm/common.sh"

wrong() {
  on_gpu --quiet --config "$1" --set gpu.timing=functional --out results -- lowered_cnn "${@:3}"
  expect 2 "${command[@]}"
  complains "$2"
}
wrong r9nano "--method explicit needs matrix units, which gfx90a has" --preset small --method explicit
wrong titanv-like "did you mean resnet18?" --network resnet81
wrong titanv-like "did you mean training?" --pass trainin
wrong titanv-like "--fragments has to be 2 or 4" --method explicit --fragments 3
wrong titanv-like "--loads octets needs --method explicit --lds c --fragments 2" --method explicit --loads octets
wrong titanv-like "--channels has to be 4, 8 or 16" --channels 5
wrong titanv-like "images_outermost alone" --rows images_innermost
wrong titanv-like "--size-divisor 9 leaves an input of 1 x 1 for maxpool5, whose window is 2 x 2" --network yolo --size-divisor 9
wrong titanv-like "--gradients needs --check and --pass training" --check --gradients
