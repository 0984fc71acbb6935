#!/usr/bin/env bash
# Tests the file size limit (ulimit -f) of a process with a virtual GPU: if Lacuna's files exceed the limit, the program
# continues and ends with exit code 74; if one of the program's own files exceeds it, SIGXFSZ ends the program as usual.
source "$(dirname "$0")/common.sh"

# within BYTES COMMAND...: runs the command with this limit and sets `code` to its exit code. The command's output passes
# through pipes, to which the limit does not apply.
within() {
  local limit=$1
  shift
  {
    {
      code=0
      timeout --kill-after=5 "$time_limit" prlimit --fsize="$limit" -- "$@" </dev/null 2>&3 || code=$?
      echo $code >code.txt
    } | cat >out.txt
  } 3>&1 | cat >err.txt
  code=$(<code.txt)
}

# Runs a program on the HSA runtime without HIP, because HIP's compiler writes files of several megabytes.
for run in "gfx803 dispatches" "gfx90a gzip"; do
  read -r target table <<<"$run"
  program=(hsa_runtime "$FIRMWARE/kernels/test_kernels$([[ $target == gfx803 ]] || echo "_$target").co" errors)
  options=(--config tiny --set gpu.target=$target --set output.kernels=$table)
  on_gpu "${options[@]}" --out whole -- "${program[@]}"
  expect 0 "${command[@]}"
  find whole -type f -size +0c -printf '%s %f\n' | sort -n >sizes.txt
  on_gpu "${options[@]}" --out limited -- "${program[@]}"
  while read -r size file; do
    # Files contain host times, which change their size by a few bytes.
    within $((size * 9 / 10)) "${command[@]}"
    [[ $code == 74 ]] || fail "code $code when $file must not have its $size bytes"
    [[ $(grep -c "limited/[a-z._-]*: cannot be written: File too large" err.txt) == 1 ]] || fail "it is not said once"
    # lacuna exec itself writes the folder's lock before the program begins.
    [[ $file == .lacuna-lock ]] || says "passed"
    [[ -z $(find limited -name '*.part') ]] || fail "an unfinished file is left"
    rm -rf limited
  done <sizes.txt
  rm -rf whole
done

# SIGXFSZ still ends a program whose own file exceeds the limit (exit code 153).
within 10 "$LACUNA" exec --config tiny -- sh -c 'echo more than ten bytes >file.txt; echo goes on'
[[ $code == 153 ]] || fail "a program that exceeds the limit ended with $code"
