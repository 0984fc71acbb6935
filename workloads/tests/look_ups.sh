#!/usr/bin/env bash
# look_ups.sh [all]: conv2d on machines with Duplo records the events of their load history buffers, and a second implementation,
# replay_look_ups.py, computes the same outcomes from them. All results are correct and bit-identical to those of a run without timing,
# which has no Duplo. Layers of each kind take turns. Without `all`, every value of each parameter is combined with some values of the
# others.
source "$SOURCE/tests/rocm/common.sh"

runs=0
# bits: prints the hash of the last program's result.
bits() { grep -o ' bits=[0-9]*' out.txt || fail "no bits"; }
# expected_bits OPTION...: sets ${products[OPTION...]} to the hash of conv2d's result without timing, computed once per product.
declare -A products
expected_bits() {
  if [[ ! ${products[$*]-} ]]; then
    on_gpu --quiet --config titanv-like --set gpu.shader_arrays=2 --set gpu.timing=functional --out functional -- conv2d "$@"
    expect 0 "${command[@]}"
    products[$*]=$(bits)
  fi
}
# The layers have, in this order: stride 1; stride 2 without padding; inserted zeros; stride 2 with filters of 5 x 5.
layers=(yolo_c4 resnet_c3 gan_tc2 gan_c2)
# replay RELEASE ENTRY ENTRIES WAYS HASH IDS SCOPE LAZY METHOD ROW_ORDER: runs conv2d with these parameters of Duplo, lazy.mode
# and options of conv2d, and replays its look-ups.
replay() {
  # Parameters without an argument change with prime periods, so that they combine with all values of the others.
  local out=run-$((runs += 1)) fragments=$((runs % 7 % 2 ? 2 : 4))
  # duplo.entry = row requires loads of 8 bytes per lane.
  [[ $2 == tile ]] || fragments=2
  local product=(--check --method "$9" --fragments $fragments --rows "${10}" --layer "${layers[runs % 13 % 4]}"
    --shape height=6,width=10,channels=32,filters=64 --batch 2)
  expected_bits "${product[@]}"
  on_gpu --quiet --config titanv-like --set gpu.shader_arrays=2 --set duplo.mode=on --set duplo.trace=true \
    --set duplo.release="$1" --set duplo.entry="$2" --set duplo.entries="$3" --set duplo.ways="$4" --set duplo.hash="$5" \
    --set duplo.ids="$6" --set duplo.scope="$7" --set lazy.mode="$8" \
    --set duplo.latency=$((2 + runs % 17 % 2)) --set duplo.l1=${l1s[runs % 11 % 2]} --set duplo.check=${checks[runs % 19 % 2]} \
    --out "$out" -- conv2d "${product[@]}"
  expect 0 "${command[@]}"
  tail -n 1 out.txt | grep -q " check=passed" || fail "$*: no closing line that says so"
  [[ $(bits) == "${products[${product[*]}]}" ]] || fail "$*: $(bits) in place of${products[${product[*]}]}"
  python3 "$SOURCE/workloads/tests/replay_look_ups.py" "$out" >replay.txt 2>&1 || fail "$*: $(cat replay.txt)"
  # With unlimited entries that are never released, every look-up hits except the first look-up of each tag.
  [[ "$1 $3 $8" != "never 0 eager" ]] || grep -q "kernels_with_all_hits [1-9]" replay.txt || fail "$*: $(cat replay.txt)"
  rm -r "$out"
}

releases=(retire overwrite never)
entry_kinds=(tile row)
sizes=("0 1" "8 1" "16 4" "256 2" "1024 1")
hashes=(low shift xor)
ids=(exact paper address)
scopes=(core simd)
lazies=(eager lazy_zero_otimes)
l1s=(parallel after)
checks=(true false)
methods=(explicit implicit)
orders=(images_outermost images_innermost)
if [[ ${1-} == all ]]; then
  sizes+=("1024 8")
  for hash in "${hashes[@]}"; do for id in "${ids[@]}"; do for scope in "${scopes[@]}"; do for lazy in "${lazies[@]}"; do
    for method in "${methods[@]}"; do for order in "${orders[@]}"; do for release in "${releases[@]}"; do
      for entry in "${entry_kinds[@]}"; do for size in "${sizes[@]}"; do
        # duplo.entry = row requires loads from memory, not from LDS.
        [[ $entry == tile || $method == explicit ]] || continue
        replay "$release" "$entry" $size "$hash" "$id" "$scope" "$lazy" "$method" "$order"
      done; done
    done; done; done
  done; done; done; done
else
  i=0
  for release in "${releases[@]}"; do for entry in "${entry_kinds[@]}"; do for size in "${sizes[@]}"; do
    method=${methods[i / 2 % 2]}
    [[ $entry == tile ]] || method=explicit
    replay "$release" "$entry" $size "${hashes[i % 3]}" "${ids[i / 3 % 3]}" "${scopes[i % 2]}" "${lazies[i / 4 % 2]}" "$method" \
      "${orders[i / 5 % 2]}"
    i=$((i + 1))
  done; done; done
  replay never tile 0 1 xor exact core eager explicit images_outermost
fi
