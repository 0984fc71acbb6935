#!/usr/bin/env bash
# training_bits.sh: a training step with gradients on the matrix units produces the same bits as on vector ALUs, also where sums
# are split into parts.
source "$SOURCE/tests/rocm/common.sh"

# step FORWARD BACKWARD: sets `bits` to the hash of the step's result
step() {
  on_gpu --quiet --config mi210 --set mfma.extensions=m3xu --set gpu.timing=functional --out results -- training --preset small \
    --network resnet --forward "$1" --backward "$2" --check
  expect 0 "${command[@]}"
  tail -n 1 out.txt | grep -q "^result: workload=training gpu=gfx90a.* check=passed" || fail "no closing line that says so"
  bits=$(grep -o ' bits=[0-9]*' out.txt) || fail "no bits"
}

for forward in simt mfma; do
  step $forward simt
  expected=$bits
  step $forward m3xu
  [[ $bits == "$expected" ]] || fail "--backward m3xu has other bits than simt, forward $forward"
  [[ $bits != "${other:-}" ]] || fail "half precision has the bits of single precision"
  other=$bits
done
