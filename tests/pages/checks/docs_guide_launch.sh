#!/usr/bin/env bash
# Checks that the launch file of docs/guide/launch.md prints the rows of the table on the page, which shows no host times.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

report=$(reported 'lacuna launch paths.launch')
for row in floyd_warshall relax 'all kernels'; do
  wanted=$(shown '                             simulated' | grep "^$row " | sed -E 's/ +/ /g')
  [[ -n $wanted ]] || fail "docs/guide/launch.md shows no row $row"
  sed -E 's/ +/ /g' "$report" | grep -qF -- "$wanted" || fail "docs/guide/launch.md shows another row than $(grep "^$row " "$report")"
done
