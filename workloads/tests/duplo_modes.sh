#!/usr/bin/env bash
# duplo_modes.sh PROGRAM OPTION...: a program with convolutions computes the same bits without Duplo and with Duplo, with each
# combination of IDs, entries, release rule, and lazy core. Results without Duplo are correct; only printed IDs may find wrong data.
source "$SOURCE/tests/rocm/common.sh"
program=$1
shift

# compute FOLDER OPTION...: runs the program on a GPU with these options, and sets `bits` to the hash of its result.
compute() {
  on_gpu --quiet --config titanv-like --set gpu.shader_arrays=2 --out "$1" "${@:2}" -- "$program" "${arguments[@]}"
  expect 0 "${command[@]}"
  bits=$(tail -n 1 out.txt | sed -n "s/^result: workload=$program .* bits=\([0-9]*\) check=.*/\1/p")
  [[ -n $bits ]] || fail "$1: no closing line with bits"
}
# sum FOLDER COLUMN: prints the sum of a column over all kernels. Names may contain commas, so columns are counted from the end.
sum() {
  awk -F, -v column="$2" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == column) at = NF - i }
                          NR > 1 { sum += $(NF - at) } END { printf "%d", sum }' "$1/kernels.csv"
}

arguments=("$@" --check)
compute off
tail -n 1 out.txt | grep -q " check=passed" || fail "results differ from the reference"
expected=$bits
arguments=("$@")
for lazy in eager eager_zero lazy lazy_zero lazy_zero_otimes; do
  for ids in exact paper address; do
    for entry in tile row; do
      for release in retire overwrite never; do
        mode="lazy.mode=$lazy, duplo.ids=$ids, duplo.entry=$entry, duplo.release=$release"
        compute on --set lazy.mode=$lazy --set duplo.mode=on --set duplo.ids=$ids --set duplo.entry=$entry --set duplo.release=$release
        [[ $bits == "$expected" ]] || fail "$mode: bits are $bits, without Duplo $expected"
        [[ $ids == paper || $(sum on duplo_hits_wrong) == 0 ]] || fail "$mode: $(sum on duplo_hits_wrong) hits on other data"
        # Only loads of 8 bytes from memory have row entries.
        [[ $entry == row || $(sum on duplo_look_ups) -gt 0 ]] || fail "$mode: no look-up"
        rm -r on
        echo "$mode: passed"
      done
    done
  done
done
