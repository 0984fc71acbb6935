#!/usr/bin/env bash
# sida_plans.sh PROGRAM: checks that the hart and the build machine generate the same programs for the accelerator, byte by
# byte.
source "$(dirname "$0")/common.sh"

"$1" >expected.txt || fail "the build machine cannot make them"
[[ $(wc -l <expected.txt) == 11 ]] || fail "$(cat expected.txt)"
expect 0 "$LACUNA" hart "$FIRMWARE/sida_plans.elf"
# The console ends lines with carriage returns.
tr -d "\r" <out.txt | diff expected.txt - >&2 || fail "the hart makes other programs"
