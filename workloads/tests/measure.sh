#!/usr/bin/env bash
# The generated tables of README.md agree with the output of a run, and new rows of a program replace the old ones.
source "$SOURCE/tests/rocm/common.sh"

# relu and nw are measured; README.md already has rows of bfs and of zzz, which does not exist.
cat >README.md <<'END'
| `--option` | another table |
<!-- begin of the tables, written by ./dev workloads -->

| [`bfs`](bfs/bfs.hip) | old | old |
| [`zzz`](zzz/zzz.hip) | other | other |

| `bfs` | small | old |
| `zzz` | default | other |
| `zzz` | small | other |

<!-- end of the tables -->
below
END
expect 0 "$SOURCE/workloads/update_readme.sh" README.md "$LACUNA" "$PROGRAMS" relu nw
sed -i 's/^| `relu` | small .*/| `relu` | small | old |/' README.md
expect 0 "$SOURCE/workloads/update_readme.sh" README.md "$LACUNA" "$PROGRAMS" relu
cut -d'|' -f1-3 README.md | sed 's/ *$//' >rows.txt
diff rows.txt - >&2 <<'END' || fail "README.md has other rows"
| `--option` | another table
<!-- begin of the tables, written by ./dev workloads -->

| program | what it computes
|---|---
| [`bfs`](bfs/bfs.hip) | old
| [`nw`](nw/nw.hip) | Needleman-Wunsch alignment of two sequences
| [`relu`](relu/relu.hip) | Rectified linear unit of a vector
| [`zzz`](zzz/zzz.hip) | other

| program | preset
|---|---
| `bfs` | small
| `nw` | small
| `nw` | default
| `nw` | paper
| `relu` | small
| `relu` | default
| `relu` | paper
| `zzz` | small
| `zzz` | default

<!-- end of the tables -->
below
END
cp README.md out.txt
if grep -q '`relu` .* old' README.md; then fail "an old row has not been replaced"; fi
says "below"

# kernels.csv also has the runtime's copies, which are not counted.
on_gpu --quiet --config r9nano --out results -- nw --preset small
expect 0 "${command[@]}"
cp README.md out.txt
awk -F, 'NR > 1 && $2 ~ /align/ { ++kernels; instructions += $11 } END { print kernels, instructions, NR - 1 }' results/kernels.csv >counts.txt
read -r kernels instructions dispatches <counts.txt
[[ $kernels == 5 && $dispatches -gt 5 ]] || fail "5 kernels and additional copies are expected, not $kernels of $dispatches"
says "| \`nw\` | small | --length 192 --penalty 10 | $kernels | $instructions | "
