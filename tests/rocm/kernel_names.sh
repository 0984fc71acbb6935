#!/usr/bin/env bash
# A C++ kernel has two names: the mangled one (_Z10vector_addPKfS0_Pfi) and that of the source, which reports show. Checks that
# both are accepted wherever a kernel is named.
source "$(dirname "$0")/common.sh"

cp "$PROGRAMS/vector_add" .
cat >names.sweep <<'END'
[sweep]
command = exec
program = ./vector_add
config = tiny
[set]
gpu.timing = functional
[metrics]
source = kernels.vector_add.wavefronts
mangled = kernels._Z10vector_addPKfS0_Pfi.wavefronts
END
expect 0 "$LACUNA" sweep names.sweep
complains "1 points: 1 done"
grep -q "after the first point" err.txt && fail "a name is not found"
expect 0 "$LACUNA" results names --csv
awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
  { exit !($column["source_mean"] > 0 && $column["source_mean"] == $column["mangled_mean"]) }' out.txt || fail "the values differ"
expect 0 "$LACUNA" results names --metric 'kernels.vector_*.wavefronts'
expect 2 "$LACUNA" results names --metric kernels.vector_ad.wavefronts
complains "did you mean kernels.vector_add.wavefronts?"

for name in vector_add _Z10vector_addPKfS0_Pfi; do
  expect 0 "$LACUNA" launch vector_add --kernel $name --grid 64 --block 64 --arg fill:64:f32:iota'(0,1)' --arg fill:64:f32:iota'(0,1)' \
    --arg out:256:sum.bin --arg i32:64 --config tiny --out "launch-$name"
done
expect 2 "$LACUNA" launch vector_add --kernel vector_ad --grid 64 --arg null --config tiny
complains "has no kernel vector_ad; did you mean vector_add?"
