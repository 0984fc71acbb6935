#!/usr/bin/env bash
# docs/lazygpu.md: its commands run and do what it says.
source "$(dirname "$0")/common.sh"

mkdir -p build
ln -s "$(dirname "$FIRMWARE")" build/release
commands=0
while read -r line; do
  # As a shell reads it, with its quotes.
  eval "words=($line)"
  expect 0 "${words[@]}" --out run$commands
  mv err.txt report$commands.txt
  commands=$((commands + 1))
done < <(sed -n '/^```sh$/,/^```$/p' "$SOURCE/docs/lazygpu.md" | grep '^build/release/bin/lacuna')
[[ $commands == 3 ]] || fail "$commands commands were found"
touch err.txt

# Baseline, everything, lazy cores.
grep -q "% of transactions" report0.txt && fail "held loads of the baseline"
grep -q "registers" report0.txt && fail "wavefronts of the baseline wait for lazy registers"
for run in 1 2; do
  grep -q "^relu_scalar *100 .* *100 * - * - *-$" report$run.txt || fail "not all of relu's loads are held and sent in run $run"
  grep -q "lazy_hardware" run$run/statistics.json || fail "no cost of hardware in run $run"
  grep -q "^warning: " report$run.txt && fail "memory has changed in run $run"
done
grep -q "lazy_hardware" run0/statistics.json && fail "the baseline costs lazy hardware"
[[ -s run2/requests.csv && ! -e run1/requests.csv ]] || fail "requests over time are not where they are wanted"
# The published storage of a compute unit: 8 KiB of busy bits, 4.375 KiB of upper bits.
grep -A 2 '"busy_bits": {' run1/statistics.json | grep -q '"value": 65536' || fail "not 8 KiB of busy bits"
grep -A 2 '"upper_bits": {' run1/statistics.json | grep -q '"value": 35840' || fail "not 4.375 KiB of upper bits"

for link in $(grep -o '](.*\.md[^)]*)' "$SOURCE/docs/lazygpu.md" | grep -o '[a-zA-Z-]*\.md'); do
  [[ -e $SOURCE/docs/$link ]] || fail "docs/lazygpu.md names $link, which does not exist"
done
