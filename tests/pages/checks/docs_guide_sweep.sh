#!/usr/bin/env bash
# Checks that the sweep of docs/guide/sweep.md prints the table on the page.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

diff <(shown 'n     cu.wavefronts_per_simd') "$(printed 'lacuna results relu')" >&2 || fail "docs/guide/sweep.md shows another table"
[[ $(wc -l <"$(printed '* --csv')") == 5 ]] || fail "not four combinations from n = 2048 on"

# The sweeps of docs/guide/timing.md take minutes, so only their numbers of points are checked.
lacuna sweep bench/start_phase.sweep --dry-run >dry.txt
grep -qF "16 points, 16 to run" dry.txt || fail "bench/start_phase.sweep: $(<dry.txt)"
lacuna sweep bench/spread.sweep --dry-run >dry.txt
grep -qF "160 points, 160 to run" dry.txt || fail "bench/spread.sweep: $(<dry.txt)"
