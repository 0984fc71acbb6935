#!/usr/bin/env bash
# table_layer.sh LAYER [OPTION...]: a layer of Duplo's Table I at full size (the paper's batch of 8), computed by each method of conv2d
# without timing, equals direct convolution on the host. OPTIONs are those of conv2d.
source "$SOURCE/tests/rocm/common.sh"
layer=$1
shift

for method in direct gemm "explicit --lds abc" "explicit --lds ac" "explicit --lds c" "explicit --lds c --loads octets --fragments 2" \
  implicit; do
  start=$SECONDS
  on_gpu --quiet --config titanv-like --set gpu.timing=functional --out results -- conv2d --check --layer "$layer" --batch 8 \
    --method $method "$@"
  expect 0 "${command[@]}"
  tail -n 1 out.txt | grep -q "^result: workload=conv2d gpu=.* layer=$layer .* check=passed" || fail "$method: no closing line that says so"
  echo "$layer, $method: passed in $((SECONDS - start)) s"
done
