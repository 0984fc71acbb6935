#!/usr/bin/env bash
# Tests the process's limits of file size (ulimit -f) and memory (ulimit -v): Lacuna must end with an exit code and a message,
# not by a signal.
source "$(dirname "$0")/common.sh"

# within LIMIT COMMAND...: runs the command under `prlimit LIMIT` and sets `code` to its exit code. The command's standard error
# reaches err.txt through a pipe, to which the limit does not apply.
within() {
  local limit=$1
  shift
  {
    code=0
    timeout --kill-after=5 "$time_limit" prlimit "$limit" -- "$@" 2>&1 >/dev/null </dev/null || code=$?
    echo $code >code.txt
  } | cat >err.txt
  code=$(<code.txt)
}

# each_file COMMAND...: for each file that the command writes to its output folder, runs the command with a size limit below
# that file's size.
each_file() {
  local size file
  rm -rf whole
  expect 0 "$@" --out whole
  find whole -type f -size +0 -printf '%s %f\n' | sort -n >sizes.txt
  while read -r size file; do
    # Files contain host times, which change their size by a few bytes.
    within --fsize=$((size * 9 / 10)) "$@" --out limited
    [[ $code == 74 ]] || fail "$*: code $code when $file must not have its $size bytes"
    grep -q "^lacuna: .*limited/[a-z._-]*: cannot be written: File too large$" err.txt || fail "no file is named"
    [[ -z $(find limited -name '*.part') ]] || fail "an unfinished file is left"
    rm -rf limited
  done <sizes.txt
  within --fsize=100000000 "$@" --out limited
  [[ $code == 0 ]] || fail "$*: code $code with a limit that it meets"
  rm -rf limited
}

kernels=$FIRMWARE/kernels/launch_examples.co
each_file "$LACUNA" run "$FIRMWARE/demo.elf" --config tiny --config energy/r9nano --set energy.interval=1us --set gpu.request_interval=1us
each_file "$LACUNA" launch "$kernels" --config tiny --set output.kernels=gzip -k shape --grid 64 --repeat 50 -a out:64:s.bin
each_file "$LACUNA" launch "$kernels" --config tiny --set output.kernels=totals -k shape --grid 64 --repeat 50 -a out:64:s.bin
each_file "$LACUNA" hart "$FIRMWARE/hello.elf"

# If a launch cannot save a file, which is larger than its reports, the file of an earlier launch is kept.
echo earlier >s.bin
within --fsize=1000000 "$LACUNA" launch "$kernels" --config tiny -k shape --grid 64 -a out:2000000:s.bin
[[ $code == 74 ]] || fail "a result that cannot be saved: code $code"
complains "lacuna: s.bin: cannot be written: File too large"
[[ $(cat s.bin) == earlier && -z $(find . -name '*.part') ]] || fail "s.bin is not the earlier one"
ln -s /dev/full full.bin
expect 74 "$LACUNA" launch "$kernels" --config tiny -k shape --grid 64 -a out:64:full.bin
complains "lacuna: full.bin: cannot be written: No space left on device"

# The limit also applies to the console and the generated pages.
within --fsize=10 sh -c '"$@" >console.txt' - "$LACUNA" hart "$FIRMWARE/hello.elf"
[[ $code == 74 ]] || fail "a console that cannot be written: code $code"
complains "standard output: cannot be written: File too large"
mkdir docs
within --fsize=1000 "$LACUNA" docs docs
[[ $code == 74 ]] || fail "pages that cannot be written: code $code"
complains "docs/parameters.md: cannot be written: File too large"
[[ -z $(ls -A docs) ]] || fail "an unfinished page is left"
# A program started by lacuna exec inherits the signal's original handling, and so does one started by a sweep.
within --fsize=10 "$LACUNA" exec -- sh -c 'echo more than ten bytes >file.txt; echo no signal'
[[ $code == 153 ]] || fail "a program of lacuna exec that exceeds the limit: code $code"

# If memory does not suffice for the loader and for the initialisation of the libraries, the loader reports the error and exits
# with 127, before Lacuna runs.
succeeded=no
for megabytes in 10 25 40 60 100 150 250 400 1500 20000; do
  for door in "hart $FIRMWARE/hello.elf" "run $FIRMWARE/demo.elf --config tiny --set sim.threads=2" \
              "launch $kernels --config tiny -k shape --grid 64 -a out:64:s.bin" "disasm $kernels" "isa check $kernels" "docs docs"; do
    within --as=$((megabytes * 1000000)) "$LACUNA" $door
    case $code in
      0) succeeded=yes ;;
      71 | 127) [[ -s err.txt ]] || fail "$door: code $code without a sentence with $megabytes MB" ;;
      *) fail "$door: code $code with $megabytes MB of memory" ;;
    esac
    [[ $code != 71 ]] || complains "lacuna: the host "
  done
done
[[ $succeeded == yes ]] || fail "no run has ever succeeded"
