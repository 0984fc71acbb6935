#!/usr/bin/env bash
# The disassembly of every code object that the build makes is LLVM's; of version 2 LLVM disassembles no kernels.
source "$(dirname "$0")/common.sh"

compared=0
while read -r code_object; do
  llvm-objdump-16 -d "$code_object" >llvm.txt
  expect 0 "$LACUNA" disasm "$code_object"
  diff -u llvm.txt out.txt >&2 || fail "disassembly of $code_object"
  compared=$((compared + 1))
done < <(find "$FIRMWARE" -name '*.co' ! -name '*_v2.co')
[[ $compared -ge 5 ]] || fail "only $compared code objects were found"
