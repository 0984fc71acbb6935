#!/usr/bin/env bash
# README.md lists every program, with the description and preset sizes of its --describe.
source "$SOURCE/tests/rocm/common.sh"

readme=$SOURCE/workloads/README.md
listed() { grep -qF -- "$1" "$readme" || fail "README.md does not say '$1': run ./dev workloads"; }

count=0
for program in "$PROGRAMS"/*; do
  [[ -f $program && -x $program ]] || continue
  name=$(basename "$program")
  expect 0 "$program" --describe
  about() { sed -n "s/^$1\t//p" out.txt; }
  listed "| [\`$name\`]($name/$name.hip) | $(about summary) | $(about source) |"
  for preset in small default paper; do
    listed "| \`$name\` | $preset | $(about $preset) |"
  done
  count=$((count + 1))
done
[[ $count -gt 0 ]] || fail "no programs"
# The two tables list no other programs.
[[ $(grep -c '^| \[`' "$readme") == "$count" ]] || fail "README.md lists programs that do not exist"
