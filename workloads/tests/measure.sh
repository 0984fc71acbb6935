#!/usr/bin/env bash
# The generated tables of README.md agree with the output of a run, and new rows of a program replace the old ones.
source "$SOURCE/tests/rocm/common.sh"

# relu and gtc are measured; README.md already has rows of bfs and of zzz, which does not exist.
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
expect 0 "$SOURCE/workloads/update_readme.sh" README.md "$LACUNA" "$PROGRAMS" relu gtc
sed -i 's/^| `relu` | small .*/| `relu` | small | old |/' README.md
expect 0 "$SOURCE/workloads/update_readme.sh" README.md "$LACUNA" "$PROGRAMS" relu
cut -d'|' -f1-3 README.md | sed 's/ *$//' >rows.txt
diff rows.txt - >&2 <<'END' || fail "README.md has other rows"
| `--option` | another table
<!-- begin of the tables, written by ./dev workloads -->

| program | what it computes
|---|---
| [`bfs`](bfs/bfs.hip) | old
| [`gtc`](gtc/gtc.hip) | Transitive closure of a directed graph
| [`relu`](relu/relu.hip) | Rectified linear unit of a vector
| [`zzz`](zzz/zzz.hip) | other

| program | preset
|---|---
| `bfs` | small
| `gtc` | small
| `gtc` | default
| `gtc` | paper
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
on_gpu --quiet --config r9nano --out results -- gtc --preset small
expect 0 "${command[@]}"
cp README.md out.txt
awk -F, 'NR > 1 && $2 ~ /close_/ { ++kernels; instructions += $11 } END { print kernels, instructions, NR - 1 }' results/kernels.csv >counts.txt
read -r kernels instructions dispatches <counts.txt
[[ $kernels == 4 && $dispatches -gt 4 ]] || fail "4 kernels and additional copies are expected, not $kernels of $dispatches"
says "| \`gtc\` | small | --vertices 100 --graph random --density 0.05 --algorithm baseline --convergence on --slices 1 | $kernels | $instructions | "
