#!/usr/bin/env bash
# Checks that only one run at a time writes to an output folder, and that files of an earlier run are not mistaken for those of
# a later one.
source "$(dirname "$0")/common.sh"

# is_whole FOLDER: checks that all files of the folder belong to one run that has ended.
is_whole() {
  python3 - "$1" <<'PYTHON' || fail "$1 is not the folder of one run"
import csv, json, sys
folder = sys.argv[1]
run = json.load(open(folder + "/statistics.json"))
rows = list(csv.reader(open(folder + "/kernels.csv")))
assert len({len(row) for row in rows}) == 1, "torn rows"
assert [int(row[0]) for row in rows[1:]] == [kernel["index"] for kernel in run["kernels"]], "rows of another run"
PYTHON
}

"$LACUNA" run "$FIRMWARE/endless_after_kernels.elf" --config tiny --out busy >out.txt 2>err.txt &
process=$!
await grep -q "^0,store_to,.*,1,1," busy/kernels.csv
cp busy/kernels.csv before.csv
for door in "run $FIRMWARE/hello.elf --config tiny" "hart $FIRMWARE/hello.elf" "exec --config tiny -- true" \
            "launch $FIRMWARE/kernels/launch_examples.co --config tiny -k shape --grid 64 -a out:64:s.bin"; do
  words=($door)
  expect 2 "$LACUNA" "${words[0]}" --out busy "${words[@]:1}"
  complains "lacuna: --out"
  complains "busy: in use by a run that has not ended: process $process; nothing was written"
done
[[ ! -e s.bin ]] || fail "the launch that was refused has written its result"
cmp busy/kernels.csv before.csv || fail "a run that was refused has written"
kill -KILL $process
wait $process || true
[[ ! -e busy/statistics.json ]] || fail "a run that was killed claims to be whole"
# A killed run leaves no lock, and the next run removes those of its files that it does not write itself.
expect 0 "$LACUNA" run "$FIRMWARE/hello.elf" --config tiny --set gpu.request_interval=1us --out busy
[[ -e busy/requests.csv && -e busy/statistics.json ]] || fail "the results are missing"
expect 0 "$LACUNA" hart "$FIRMWARE/hello.elf" --out busy
[[ -e busy/statistics.json && ! -e busy/requests.csv ]] || fail "a file of the earlier run is left"

# The next run is killed: the statistics of the previous run have been removed.
"$LACUNA" run "$FIRMWARE/endless_after_kernels.elf" --config tiny --out busy >out.txt 2>err.txt &
process=$!
await grep -q "^0,store_to,.*,1,1," busy/kernels.csv
kill -KILL $process
wait $process || true
[[ ! -e busy/statistics.json ]] || fail "the statistics are an earlier run's"

# Of concurrent runs into one folder, those that are refused report this, and all others write complete files.
for try in 1 2 3; do
  processes=()
  for i in 1 2 3 4; do
    "$LACUNA" run "$FIRMWARE/demo.elf" --config tiny --quiet --out same >/dev/null 2>"err-$i.txt" &
    processes+=($!)
  done
  succeeded=0
  for i in 1 2 3 4; do
    code=0
    wait "${processes[i - 1]}" || code=$?
    case $code in
      0) succeeded=$((succeeded + 1)) ;;
      2) grep -q "same: in use by a run that has not ended: process " "err-$i.txt" || fail "refused without a reason: $(cat "err-$i.txt")" ;;
      *) fail "ended with $code: $(cat "err-$i.txt")" ;;
    esac
  done
  [[ $succeeded -ge 1 ]] || fail "no run has got the folder"
  is_whole same
done

# Numbered folders.
processes=()
for i in 1 2 3 4; do
  "$LACUNA" run "$FIRMWARE/hello.elf" --config tiny --quiet >/dev/null 2>"err-$i.txt" &
  processes+=($!)
done
for i in 1 2 3 4; do wait "${processes[i - 1]}" || fail "run $i: $(cat "err-$i.txt")"; done
[[ $(ls lacuna-out | tr '\n' ' ') == "run-0001 run-0002 run-0003 run-0004 " ]] || fail "not four folders: $(ls lacuna-out)"
for folder in lacuna-out/*; do is_whole "$folder"; done
