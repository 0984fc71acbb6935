#!/usr/bin/env bash
# Checks that standard output contains only the bytes of the guest's console.
source "$(dirname "$0")/common.sh"

printf '\x00\n\r\xff\x1bA' >wanted
for door in hart "hart -q" "run --config tiny" "run --quiet --config tiny"; do
  expect 0 "$LACUNA" $door "$FIRMWARE/binary_output.elf"
  cmp wanted out.txt || fail "lacuna $door changed the console's bytes in a file"
  "$LACUNA" $door "$FIRMWARE/binary_output.elf" 2>err.txt </dev/null | cmp wanted - || fail "lacuna $door changed the console's bytes in a pipe"
done
expect 0 "$LACUNA" run --config tiny "$FIRMWARE/binary_output.elf" --out folder
cmp wanted folder/console.txt || fail "console.txt differs from the console"

# On a terminal, each message starts on a new line.
code=0
script -qec "'$LACUNA' run --config tiny '$FIRMWARE/binary_output.elf'" typescript >/dev/null 2>&1 </dev/null || code=$?
[[ $code == 0 ]] || fail "the run on a terminal ended with $code"
! grep -qa 'A.*simulated time' typescript || fail "the report continues the console's line"
grep -qa '^simulated time' typescript || fail "no report on the terminal"
