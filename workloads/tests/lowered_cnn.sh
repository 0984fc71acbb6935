#!/usr/bin/env bash
# lowered_cnn.sh NETWORK RELEASE [OPTION...]: a training step of the network on matrix units is correct, and bit-identical with and
# without Duplo, also with duplo.release = RELEASE. All hits have the right data. Look-ups are made for products of the forward pass
# and of the gradients with respect to data, but not of the gradients with respect to weights.
source "$SOURCE/tests/rocm/common.sh"
network=$1 release=$2
shift 2

# step FOLDER MODE RELEASE OPTION...: runs a step with duplo.mode = MODE and duplo.release = RELEASE; sets `bits`. One compute unit
# computes all tiles, so that with RELEASE = never, all repeated loads hit, which maximises the hits at other addresses.
step() {
  on_gpu --quiet --config titanv-like --set gpu.shader_arrays=1 --set "duplo.mode=$2" --set duplo.check=on --set duplo.release="$3" \
    --out "$1" -- lowered_cnn --preset small --network "$network" --pass training --method explicit "${@:4}"
  expect 0 "${command[@]}"
  has_results "$1"
  cat out.txt
  bits=$(tail -n 1 out.txt | sed -n 's/^result: workload=lowered_cnn .* bits=\([0-9]*\) check=.*/\1/p')
  [[ -n $bits ]] || fail "no closing line with bits"
}

# sum FOLDER KERNEL COLUMN: prints the sum of a column over the kernels whose names begin with KERNEL. Names may contain commas,
# so columns are counted from the end.
sum() {
  awk -F, -v kernel="$2" -v column="$3" '
    NR == 1 { for (i = 1; i <= NF; ++i) if ($i == column) { at = NF - i; found = 1 } }
    NR > 1 && index($2, kernel) == 1 { sum += $(NF - at) }
    END { printf "%d", found ? sum : -1 }' "$1/kernels.csv"
}

step on on never --check "$@"
tail -n 1 out.txt | grep -q " check=passed" || fail "results differ from the reference"
on=$bits
step off off never "$@"
[[ $bits == "$on" ]] || fail "bits with Duplo are $on, without $bits"
[[ $(sum off convolution_explicit_ duplo_look_ups) == 0 ]] || fail "look-ups with duplo.mode = off"
[[ $(sum on convolution_explicit_ duplo_look_ups) -gt 0 ]] || fail "no look-up"
hits=$(sum on convolution_explicit_ duplo_hits) same=$(sum on convolution_explicit_ duplo_hits_address)
[[ $hits -gt $same && $same -gt 0 ]] || fail "$same of $hits hits are of equal addresses"
[[ $(sum on "" duplo_hits_wrong) == 0 ]] || fail "hits on other data"
[[ $(sum on weights_product_ wavefront_instructions) -gt 0 ]] || fail "no product for the gradient by weights"
[[ $(sum on weights_product_ duplo_look_ups) == 0 ]] || fail "look-ups in the product for the gradient by weights"

step released on "$release" "$@"
[[ $bits == "$on" ]] || fail "bits with duplo.release = $release are $bits, without Duplo $on"
[[ $(sum released "" duplo_hits_wrong) == 0 ]] || fail "duplo.release = $release: hits on other data"
[[ $(sum released convolution_explicit_ duplo_hits) -gt 0 ]] || fail "duplo.release = $release: no hit"

# The output has a line for each pass of each convolution.
for pass in forward backward_weights update; do
  [[ $(grep -c "^layer: [a-z]*[0-9_]* pass=$pass " out.txt) -ge 7 ]] || fail "layers without pass=$pass"
done
