#!/usr/bin/env bash
# Measures workloads, by default all, on the R9 Nano in loose timing and prints the two tables of README.md. Descriptions and sizes of the
# presets are from the programs' --describe; the rest is from the runs' output. Programs with kernels in the form of their suite have rows
# for both forms.
# Usage: measure.sh LACUNA PROGRAMS_FOLDER [NAME...]
set -euo pipefail
export LC_ALL=C
lacuna=$(realpath "$1") programs=$(realpath "$2")
shift 2
names=("$@")
if [[ $# == 0 ]]; then
  for file in "$programs"/*; do
    if [[ -f $file && -x $file ]]; then names+=("$(basename "$file")"); fi
  done
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Prints the value of key $2 in the output of program $1 --describe.
about() { "$programs/$1" --describe | sed -n "s/^$2\t//p"; }

# Prints the number of kernels, wavefront instructions and simulated microseconds from the file $1, a kernels.csv, without the runtime's
# own copies and fills, which are recognised by their names.
totals() {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    $column["kernel"] ~ /\(HSA runtime\)$|^__amd_rocclr_/ { next }
    { ++kernels; instructions += $column["wavefront_instructions"]; time += $column["end_ps"] - $column["start_ps"] }
    END { printf "%d | %d | %.1f us", kernels, instructions, time / 1e6 }' "$1"
}

echo '| program | what it computes | from |'
echo '|---|---|---|'
for name in "${names[@]}"; do
  echo "| [\`$name\`]($name/$name.hip) | $(about "$name" summary) | $(about "$name" source) |"
done
echo
echo '| program | preset | sizes | kernels | wavefront instructions | simulated time of the kernels | processor time of the host |'
echo '|---|---|---|--:|--:|--:|--:|'
TIMEFORMAT='%U %S'

# row NAME PRESET SIZES [OPTION...]: prints a line of the second table. Runs of the same sizes are
# measured once.
row() {
  local name=$1 preset=$2 sizes=$3 host
  shift 3
  if [[ -z ${measured[$sizes]-} ]]; then
    rm -rf results
    { time "$lacuna" exec --quiet --config r9nano --out results -- "$programs/$name" --preset "$preset" "$@" >out.txt 2>err.txt; } 2>time.txt || {
      cat out.txt err.txt >&2
      exit 1
    }
    host=$(awk '{ printf "%.1f s", $1 + $2 }' time.txt)
    measured[$sizes]="$(totals results/kernels.csv) | $host"
    echo "measured: $name, $preset${*:+, $*}" >&2
  fi
  echo "| \`$name\` | $preset | $sizes | ${measured[$sizes]} |"
}

for name in "${names[@]}"; do
  declare -A measured=()
  for preset in small default paper; do
    sizes=$(about "$name" "$preset")
    row "$name" "$preset" "$sizes"
    if [[ $sizes == *"--form tuned"* ]]; then row "$name" "$preset" "${sizes/--form tuned/--form suite}" --form suite; fi
  done
done
