#!/usr/bin/env bash
# Limits of a process with a virtual GPU (ulimit -f): the program goes on, as far as the limit is not its own affair, and ends with 74.
source "$(dirname "$0")/common.sh"

# within BYTES COMMAND...: its exit code is in `code`; what it says passes through pipes, for which the limit does not count.
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

for target in gfx803 gfx90a; do
  for table in dispatches gzip totals; do
    options=(--config tiny --set gpu.target=$target --set output.kernels=$table)
    on_gpu "${options[@]}" --out whole -- vector_add
    expect 0 "${command[@]}"
    # With a limit of a few bytes the program's runtime fails at files of its own.
    find whole -type f -size +1023c -printf '%s %f\n' | sort -n >sizes.txt
    on_gpu "${options[@]}" --out limited -- vector_add
    while read -r size file; do
      # Times of the host make a file a few bytes longer or shorter.
      within $((size * 9 / 10)) "${command[@]}"
      [[ $code == 74 ]] || fail "code $code when $file must not have its $size bytes"
      [[ $(grep -c "limited/[a-z._-]*: cannot be written: File too large" err.txt) == 1 ]] || fail "it is not said once"
      says "checks passed"
      [[ -z $(find limited -name '*.part') ]] || fail "an unfinished file is left"
      rm -rf limited
    done <sizes.txt
    rm -rf whole
  done
done

# The signal stays the program's own.
within 10 "$LACUNA" exec --config tiny -- sh -c 'echo more than ten bytes >file.txt; echo goes on'
[[ $code == 153 ]] || fail "a program that exceeds the limit ended with $code"
