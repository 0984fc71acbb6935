#!/usr/bin/env bash
# Measures workloads, by default all, and puts their rows into the tables of README.md; rows of other workloads stay unchanged.
# Usage: update_readme.sh README LACUNA PROGRAMS_FOLDER [NAME...]
set -euo pipefail
export LC_ALL=C
readme=$1
shift
measured=$(mktemp)
trap 'rm -f "$measured" "$measured.md"' EXIT
"$(dirname "$0")/measure.sh" "$@" >"$measured"

# Prints both tables: measured rows replace README.md's rows of the same program. Rows are in the order of names, presets and forms.
merged() {
  awk -F'`' -v keep="$1" '
    function rank(row) { return (row ~ /\| small \|/ ? 0 : row ~ /\| default \|/ ? 2 : 4) + (row ~ /--form suite/ ? 1 : 0) }
    FNR != NR && /^<!-- (begin|end) of the tables/ { inside = /begin/ }
    FNR != NR && !inside { next }
    !/^\| \[?`/ { if (FNR == NR) heading[++headings] = $0; next }
    FNR == NR { is_new[$2] = 1 }
    FNR != NR && (is_new[$2] || !keep) { next }
    { print ($0 ~ /^\| \[/ ? 1 : 2) "\t" $2 "\t" rank($0) "\t" $0 }
    END { for (i = 1; i <= headings; ++i) print (i <= 2 ? 1 : 2) "\t\t" i "\t" heading[i] }' "$measured" "$readme" |
    sort -t $'\t' -k1,1n -k2,2 -k3,3n | cut -f 4-
}

# If all workloads have been measured, rows of other programs are dropped: those programs do not exist.
merged "$(($# > 2))" >"$measured.md"
awk -v tables="$measured.md" '
  /^<!-- end of the tables -->$/ { inside = 0; print "" }
  !inside { print }
  /^<!-- begin of the tables/ {
    inside = 1
    print ""
    while ((getline line < tables) > 0) print line
  }' "$readme" >"$measured"
cp "$measured" "$readme"
