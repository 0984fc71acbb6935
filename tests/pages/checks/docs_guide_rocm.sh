#!/usr/bin/env bash
# Checks that the program of docs/guide/rocm.md runs with `lacuna exec`, and without it if LD_LIBRARY_PATH is set.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

for command in '*exec --config r9nano -- ./vector_add' 'LD_LIBRARY_PATH=*'; do
  [[ $(<"$(printed "$command")") == "1000000 sums, 0 wrong" ]] || fail "vector_add computes something else"
done
