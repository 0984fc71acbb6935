# Functions that the checks of pages share. A check runs in the folder in which the page's commands ran; PAGE is the path of the
# page, OUTPUT the folder with the commands and their output.
set -euo pipefail
shopt -s nullglob

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# number COMMAND: prints the number of the only executed command that matches the pattern COMMAND; fails if there is not exactly one.
number() {
  local file found=()
  for file in "$OUTPUT"/*.command; do
    # shellcheck disable=SC2053  (a pattern)
    [[ $(<"$file") != $1 ]] || found+=("$(basename "$file" .command)")
  done
  [[ ${#found[@]} == 1 ]] || fail "$PAGE has ${#found[@]} commands like $1"
  echo "${found[0]}"
}

# printed COMMAND, reported COMMAND: print the path of the file with the command's standard output, and standard error, respectively.
printed() { local at; at=$(number "$1") && echo "$OUTPUT/$at.out"; }
reported() { local at; at=$(number "$1") && echo "$OUTPUT/$at.err"; }

# shown TEXT: prints the block of the page whose first line begins with TEXT.
shown() { awk -v text="$1" '/^```/ { inside = 0; first = 1; next } first && index($0, text) == 1 { inside = 1 } { first = 0 } inside' "$PAGE"; }

# run_value FOLDER KEY: prints the first value of KEY in FOLDER/statistics.json.
run_value() { sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "$1/statistics.json" | head -n 1; }
