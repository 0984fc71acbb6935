# Common functions of the scripts of this folder. A script receives the program, the firmware folder and the source folder in
# the environment variables LACUNA, FIRMWARE and SOURCE. It runs in its own folder, which is empty at the start.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C

fail() {
  echo "FAILED: $*" >&2
  echo "--- stdout" >&2; tail -n 40 out.txt >&2 || true
  echo "--- stderr" >&2; tail -n 40 err.txt >&2 || true
  exit 1
}

# Seconds after which a program is considered hung: more than ten times the run time of any program here, even on a busy
# machine.
time_limit=600

# expect CODE COMMAND...: runs the command, whose exit code must be CODE. The command's output is in out.txt and err.txt.
expect() {
  local wanted=$1 code=0
  shift
  timeout --kill-after=5 "$time_limit" "$@" >out.txt 2>err.txt </dev/null || code=$?
  [[ $code == "$wanted" ]] || fail "$* ended with $code, not $wanted"
}

# await COMMAND...: waits until the command succeeds. Fails if process $process ends before that; after a fifth of the time limit,
# ends the process and fails, because a timeout of the script itself would leave the process running.
await() {
  local end=$((SECONDS + time_limit / 5))
  until "$@" 2>/dev/null; do
    kill -0 "$process" || fail "process $process ended before: $*"
    ((SECONDS < end)) || { kill -KILL "$process"; fail "process $process has not come to: $*"; }
    sleep 0.02
  done
}

# says TEXT: standard output of the last command must contain this line or part of a line.
says() { grep -qF -- "$1" out.txt || fail "stdout does not say: $1"; }
complains() { grep -qF -- "$1" err.txt || fail "stderr does not say: $1"; }

# run_value FOLDER KEY: prints the value of an entry of "run" in FOLDER/statistics.json.
run_value() { sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "$1/statistics.json" | head -n 1; }
