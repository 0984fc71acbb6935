#!/usr/bin/env bash
# matrix_examples.sh: the programs of docs/matrix-unit.md are built and run by the commands that stand there.
source "$SOURCE/tests/rocm/common.sh"

page=$SOURCE/docs/matrix-unit.md
ln -s "$SOURCE/include" include
mkdir -p build
ln -s "$(dirname "$FIRMWARE")" build/release
# block LANGUAGE HEADING: the code after the heading.
block() { sed -n "/^### $2\$/,/^### /p" "$page" | sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" | sed '/^```/d'; }

block cpp 'SIMD2 in HIP' >ring.hip
block c 'SIMD2 in OpenCL C' >widest.cl
commands=0
while read -r line; do
  # As a shell reads it, with its quotes.
  eval "words=($line)"
  case ${words[0]} in
    hipcc) words[0]=$HIPCC ;;
    clang-16) words[0]=$CLANG ;;
    ld.lld-16) words[0]=$LINKER ;;
  esac
  expect 0 "${words[@]}"
  [[ ${words[1]} != exec ]] || says "$(sed -n 's/^It prints `\(.*\)`.$/\1/p' "$page")"
  commands=$((commands + 1))
done < <(block sh 'SIMD2 in HIP' && block sh 'SIMD2 in OpenCL C')
[[ $commands == 5 ]] || fail "$commands commands were found"
# Both factors count from 1: A[i][k] = 32 i + k + 1, B[k][j] = 16 k + j + 1.
awk 'BEGIN {
  for (i = 0; i < 16; ++i) {
    for (j = 0; j < 16; ++j) {
      widest = 0
      for (k = 0; k < 32; ++k) {
        a = 32 * i + k + 1
        b = 16 * k + j + 1
        least = a < b ? a : b
        if (least > widest) widest = least
      }
      print widest
    }
  }
}' >expected.txt
od -An -v -tf4 -w4 d.bin | tr -d ' ' | diff expected.txt - >&2 || fail "the widest paths are others"
