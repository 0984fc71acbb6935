#!/usr/bin/env bash
# Checks that the disassembly of every code object of the build equals LLVM's, which does not disassemble kernels of version 2.
# The same holds for assembly code in which branches go to labels, symbols share addresses, and data are between instructions.
source "$(dirname "$0")/common.sh"

compared=0
while read -r code_object; do
  llvm-objdump-16 -d "$code_object" >llvm.txt
  expect 0 "$LACUNA" disasm "$code_object"
  diff -u llvm.txt out.txt >&2 || fail "disassembly of $code_object"
  compared=$((compared + 1))
done < <(find "$FIRMWARE" -name '*.co' ! -name '*_v2.co')
[[ $compared -ge 5 ]] || fail "only $compared code objects were found"

cat >labels.s <<'EOF'
	.text
	.globl first
	.type first,@function
first:
loop:
	s_add_u32 s0, s0, 1
	s_cbranch_scc1 loop
inner:
	s_cbranch_scc0 behind
	s_cbranch_scc0 inner
	s_branch 65535
	s_branch 65530
	s_branch 30
	s_branch 65000
behind:
	s_endpgm
	.type both,@function
	.type data,@object
both:
data:
	s_branch 65535
	s_branch 65535
	.type alone,@object
alone:
	.ascii "eight by"
	.long 0x44434241
	.type earlier,@function
	.type later,@function
earlier:
later:
	s_branch 65535
	s_branch 65535
	s_branch 65529
middle:
	.type end,@function
end:
	s_branch 65535
	s_branch 65535
TARGET
absolute = 4
EOF
for target in "gfx803 s_cbranch_i_fork" "gfx90a s_call_b64"; do
  read -r processor instruction <<<"$target"
  sed "s/^TARGET$/\t$instruction s[0:1], end\n\t$instruction s[0:1], middle\n\t$instruction s[0:1], 9/" labels.s |
    clang-16 -x assembler -target amdgcn-amd-amdhsa -mcpu="$processor" -c - -o labels.o
  for file in labels.o labels.co; do
    [[ $file == labels.o ]] || ld.lld-16 -shared labels.o -o labels.co
    llvm-objdump-16 -d $file >llvm.txt
    expect 0 "$LACUNA" disasm $file
    diff -u llvm.txt out.txt >&2 || fail "disassembly of labels for $processor"
    grep -q 's_branch middle' out.txt || fail "no branch to a label"
  done
done
