#!/usr/bin/env bash
# Checks that output that cannot be written is an error with exit code 74.
source "$(dirname "$0")/common.sh"

# lost FILE [OPTION...]: runs a program with FILE of the output folder on a full disk, simulated by /dev/full.
lost() {
  local file=$1
  shift
  mkdir "no-$file"
  touch "no-$file/effective.cfg"
  ln -sf /dev/full "no-$file/$file"
  expect 74 "$LACUNA" run "$FIRMWARE/unhandled_fault.elf" --config tiny --out "no-$file" "$@"
  complains "no-$file/$file: cannot be written: No space left on device"
}
for file in effective.cfg kernels.csv console.txt log.txt statistics.json; do lost $file; done
lost kernels.csv.gz --set output.kernels=gzip
lost kernel_totals.csv --set output.kernels=totals
lost requests.csv --set gpu.request_interval=1us
lost power.csv --config energy/r9nano --set energy.interval=1us
for file in statistics.json kernels.csv console.txt; do [[ -s no-log.txt/$file ]] || fail "$file was not written either"; done

# Tests standard output that is full, is closed, or has no reader.
expect 74 sh -c '"$@" >/dev/full' - "$LACUNA" run "$FIRMWARE/hello.elf" --config tiny --out full
complains "standard output: cannot be written: No space left on device"
[[ $(run_value full exit_code) == 74 && $(run_value full ended_by) == guest ]] || fail "statistics.json does not say it"
expect 74 sh -c '"$@" >/dev/full' - "$LACUNA" run "$FIRMWARE/endless_after_kernels.elf" --config tiny --out ended
complains "the run ends because its output cannot be written"
[[ $(run_value ended exit_code) == 74 && $(run_value ended ended_by) == output ]] || fail "statistics.json does not say it"
expect 74 sh -c '"$@" >&-' - "$LACUNA" run "$FIRMWARE/hello.elf" --config tiny --out closed
complains "standard output: cannot be written: Bad file descriptor"
grep -q "^hello" closed/console.txt || fail "console.txt is not the console's"
expect 74 sh -c '"$@" >/dev/full' - "$LACUNA" hart "$FIRMWARE/hello.elf"
expect 74 bash -c '"$@" | true; exit ${PIPESTATUS[0]}' - "$LACUNA" run "$FIRMWARE/demo.elf" --config tiny --out alone
complains "standard output: cannot be written: Broken pipe"
[[ -s alone/statistics.json ]] || fail "the results are missing"
expect 0 sh -c '"$@" <&-' - "$LACUNA" run "$FIRMWARE/hello.elf" --config tiny --out no_input

# Tests other commands whose output cannot be written.
for command in --help --version --list-params "isa check $FIRMWARE/kernels/vector_add.co" \
               "disasm $FIRMWARE/kernels/vector_add.co"; do
  expect 74 sh -c '"$@" >/dev/full' - "$LACUNA" $command
  complains "standard output: cannot be written"
done
mkdir docs
ln -s /dev/full docs/parameters.md
expect 74 "$LACUNA" docs docs
complains "docs/parameters.md: cannot be written"
expect 2 "$LACUNA" docs nowhere
