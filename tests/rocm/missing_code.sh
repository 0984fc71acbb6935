#!/usr/bin/env bash
# Checks that `lacuna exec` reports, before a program starts, for which GPUs the program and its libraries have code if the
# configured GPU is not among them.
source "$(dirname "$0")/common.sh"

silent() { ! grep -q "lacuna: exec:" err.txt || fail "a message about a program whose requirements are met"; }

on_gpu --config tiny --set gpu.target=gfx90a --out out -- allocation
expect 134 "${command[@]}"
complains "allocation has code for gfx803 and none for gfx90a, so that HIP will end it: --set gpu.target=gfx803 fits"
on_gpu --config tiny --set rocm.gpus=gfx803,gfx90a --out out -- allocation
expect 134 "${command[@]}"
complains "none for gfx90a, so that HIP will end it: --set rocm.gpus=gfx803 fits"

for target in gfx803 gfx90a; do
  on_gpu --config tiny --set gpu.target=$target --out out -- vector_add
  expect 0 "${command[@]}"
  silent
done

# A library's bundle is reported like the program's own. Programs without any bundle are not HIP programs and are not reported.
le64() { local n=$1 i; for ((i = 0; i < 8; ++i)); do printf "\\x$(printf %02x $((n >> 8 * i & 255)))"; done; }
bundle() { # bundle PROCESSOR...: prints a bundle with eight bytes of code for each
  local ids=(host-x86_64-unknown-linux-gnu "${@/#/hipv4-amdgcn-amd-amdhsa--}") i
  printf __CLANG_OFFLOAD_BUNDLE__
  le64 ${#ids[@]}
  for ((i = 0; i < ${#ids[@]}; ++i)); do le64 4096; le64 $((i > 0 ? 8 : 0)); le64 ${#ids[i]}; printf %s "${ids[i]}"; done
}
bundles() { # bundles FILE: stores standard input as the bundles of FILE
  cat >section.bin
  objcopy --remove-section .hip_fatbin "$1"
  objcopy --add-section .hip_fatbin=section.bin --set-section-flags .hip_fatbin=contents,alloc,readonly,data "$1" 2>/dev/null
}
mkdir libraries
printf 'int answer() { return 7; }' | c++ -x c++ -shared -fPIC - -o libraries/libanswer.so
printf 'int answer(); int main() { return answer(); }' | c++ -x c++ - -o host -Llibraries -lanswer '-Wl,-rpath,$ORIGIN/libraries'
expect 7 "$LACUNA" exec --config tiny -- ./host
silent
bundle gfx906 gfx803 >one.bin
truncate -s 8192 one.bin
{ cat one.bin; bundle gfx803; } >two.bin
truncate -s 16384 two.bin
bundles libraries/libanswer.so <two.bin
expect 7 "$LACUNA" exec --config tiny -- ./host
silent
expect 7 "$LACUNA" exec --config tiny --set gpu.target=gfx90a -- ./host
complains "libanswer.so has code for gfx803 and none for gfx90a"
bundle gfx906 >one.bin
truncate -s 8192 one.bin
bundles host <one.bin
PATH=$PWD:$PATH expect 7 "$LACUNA" exec --config tiny -- host
complains "host has code for gfx906 and none for gfx803, so that HIP will end it: compile it with --offload-arch=gfx803"

# Files that are not ELF, or have a truncated bundle, are ignored.
expect 0 "$LACUNA" exec --config tiny -- sh -c 'exit 0'
silent
head -c 60 one.bin | bundles host
expect 7 "$LACUNA" exec --config tiny -- ./host
silent
