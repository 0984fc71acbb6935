#!/usr/bin/env bash
# Checks that the three launches of docs/guide/lazygpu.md (baseline, everything, lazy cores), and the product with half of its
# operands zero, have the documented results.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

reports=("$(reported '*-lazygpu-baseline')" "$(reported '* r9nano-lazygpu')" "$(reported '*request_interval=1us')")
runs=(lacuna-out/run-0001 lacuna-out/run-0002 lacuna-out/run-0003)
if grep -q "% of transactions" "${reports[0]}"; then fail "held loads of the baseline"; fi
if grep -q "registers" "${reports[0]}"; then fail "wavefronts of the baseline wait for lazy registers"; fi
grep -q "^relu_scalar *100 *32,768 *57 *43 *- *-$" "${reports[1]}" || fail "not all of relu's loads are held, and those of zeros eliminated"
grep -q "^relu_scalar .* 5,820 " "${reports[0]}" || fail "the baseline takes another time than the page says"
grep -q "^relu_scalar .* 4,750 " "${reports[1]}" || fail "LazyGPU takes another time than the page says"
grep -q "^relu_scalar *100 .* *100 * - * - *-$" "${reports[2]}" || fail "not all of relu's loads are held and sent"
for run in 1 2; do
  grep -q "lazy_hardware" "${runs[run]}/statistics.json" || fail "no cost of hardware in run $run"
  if grep -q "^warning: " "${reports[run]}"; then fail "memory has changed in run $run"; fi
done
grep -q "^multiply_words .* 15,801 " "$(reported '* r9nano-lazygpu -- *')" || fail "the product takes another time than the page says"
if grep -q "lazy_hardware" "${runs[0]}/statistics.json"; then fail "the baseline costs lazy hardware"; fi
[[ -s ${runs[2]}/requests.csv && ! -e ${runs[1]}/requests.csv ]] || fail "requests over time are not where they are wanted"
# The storage of a compute unit must equal the published numbers: 8 KiB of busy bits, 4.375 KiB of upper bits.
grep -A 2 '"busy_bits": {' "${runs[1]}/statistics.json" | grep -q '"value": 65536' || fail "not 8 KiB of busy bits"
grep -A 2 '"upper_bits": {' "${runs[1]}/statistics.json" | grep -q '"value": 35840' || fail "not 4.375 KiB of upper bits"
