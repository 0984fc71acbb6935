#!/usr/bin/env bash
# Checks that the run of docs/guide/energy.md writes energies to its files and to its report.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

head -n 1 lacuna-out/run-0001/kernels.csv | grep -q ',energy_j,' || fail "kernels.csv has no energies"
[[ -s lacuna-out/run-0001/power.csv ]] || fail "no power over time"
grep -q '^relu_scalar .* uJ' "$(reported '*')" || fail "the report has no energies"
