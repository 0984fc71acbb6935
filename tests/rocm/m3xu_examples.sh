#!/usr/bin/env bash
# docs/m3xu.md's examples compile and run as they stand there.
source "$(dirname "$0")/common.sh"

page=$SOURCE/docs/m3xu.md
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$page" | sed '/^```/d'; }
block cpp >product.hip
block c >product.cl
mkdir -p build
ln -s "$(dirname "$FIRMWARE")" build/release
ln -s "$SOURCE/include" .
echo gfx90a >targets
export ROCM_TARGET_LST=$PWD/targets  # hipcc asks for the machine's GPUs otherwise
commands=0
while read -r line; do
  read -ra words <<<"$line"
  expect 0 "${words[@]}"
  commands=$((commands + 1))
  [[ $line != *" exec "* ]] || grep -qx '0 wrong' out.txt || fail "the HIP example is wrong"
done < <(block sh)
[[ $commands == 5 ]] || fail "$commands commands in $page"
# A's row r is 16 r, 16 r + 1, ...: half of its sum is 128 r + 60.
for row in 0 15; do
  got=$(od -An -tf4 -j $((row * 64)) -N 4 d.bin | xargs)
  [[ $got == $((128 * row + 60)) ]] || fail "row $row is $got"
done
