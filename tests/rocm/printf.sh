#!/usr/bin/env bash
# printf.sh TARGET: checks that all output of printf in kernels arrives exactly once.
source "$(dirname "$0")/common.sh"

target=$1
{
  number=-42 real=3.14159265
  echo "no arguments"
  printf 'd %d %5d %-5d| %05d %+d\n' $number $number $number $number $number
  printf 'u %u x %x X %X o %o c %s\n' 4000000000 0xbeef 0xbeef 8 z
  printf 'ld %d lu %u llx %x\n' -1234567890123 9876543210987 0xfedcba9876543210
  printf 'f %f .3f %.3f e %e g %g\n' $real $real $real $real
  printf 's <%s> <%10s>\n' literal right
  printf 's <%s> <%-10s>\n' literal left
  printf 'given '
  for ((i = 0; i < 250; ++i)); do printf "\\x$(printf %x $((97 + i % 26)))"; done
  echo
  echo "100%"
  echo "many 1 2 3 4 5 6 7 8 9 10 11 12"
  for block in 0 1 2; do
    for ((thread = 1; thread < 128; thread += 2)); do printf 'block %2d thread %3d\n' $block $thread; done
  done
  for thread in 1 2 4 5; do
    for ((i = 0; i < thread % 3; ++i)); do echo "loop $i of thread $thread"; done
  done
} | sort >wanted.txt
on_gpu --config tiny --set gpu.target="$target" -- device_printf
expect 0 "${command[@]}"
sort out.txt >got.txt
diff wanted.txt got.txt >difference.txt || fail "printed text differs (< wanted, > got): $(head -20 difference.txt)"
