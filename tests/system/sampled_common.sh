# Sourced by tests of sampled timing: NAME.sh KERNELS OPTION... runs NAME.launch with the kernels of sampled_cases.cl, whose code
# object is named KERNELS.
. "$(dirname "$0")/common.sh"
name=$(basename "$0" .sh)
kernels=$1
shift
cp "$SOURCE/tests/system/launch/$name.launch" .
cp "$FIRMWARE/kernels/$kernels.co" sampled_cases.co

# launch FOLDER OPTION...: runs the launch file, with FOLDER as its output folder.
launch() {
  local folder=$1
  shift
  "$LACUNA" launch "$name.launch" --quiet --out "$folder" "$@" || fail "$folder: exit code $?"
}
hash_of() { grep -o '"run_hash": *"[0-9a-f]*"' "$1/statistics.json"; }
# columns FOLDER NAME...: prints these columns of kernels.csv.
columns() {
  awk -F, -v names="${*:2}" 'NR == 1 { n = split(names, name, " "); for (i = 1; i <= NF; ++i) column[$i] = i; next }
    { line = ""; for (i = 1; i <= n; ++i) line = line $column[name[i]] " "; print line }' "$1/kernels.csv"
}
