#!/usr/bin/env bash
# Tests the effect of output.kernels on the table of kernels: it contains the same lines in compressed form, or totals; all
# other files are the same.
source "$(dirname "$0")/common.sh"

cat >two.launch <<END
[code]
file = $FIRMWARE/kernels/launch_examples.co
[buffer values]
contents = zero:4K
[dispatch shape]
grid = 256
block = 64
arg = buf:values
repeat = 30
[dispatch shape]
grid = 64
block = 64
arg = buf:values
repeat = 20
[dispatch recursion]
grid = 64
arg = buf:values
arg = i32:10
stack = 16K
END
for table in dispatches gzip totals; do
  expect 0 "$LACUNA" launch two.launch --config tiny --set output.kernels=$table --out $table
done
for table in gzip totals; do
  [[ $(run_value $table run_hash) == "$(run_value dispatches run_hash)" ]] || fail "$table has changed the run"
  [[ ! -e $table/kernels.csv ]] || fail "$table has kernels.csv, too"
done
[[ $(wc -l <dispatches/kernels.csv) == 52 ]] || fail "not 51 dispatches"
# Compares all columns except host times.
cmp <(cut -d, -f1-13,15- dispatches/kernels.csv) <(zcat gzip/kernels.csv.gz | cut -d, -f1-13,15-) || fail "not the same lines"
[[ $(stat -c %s gzip/kernels.csv.gz) -lt $(($(stat -c %s dispatches/kernels.csv) / 5)) ]] || fail "compression has not made it smaller"
python3 - <<'PYTHON' || fail "the totals are not those of the dispatches"
import csv
rows = list(csv.DictReader(open("dispatches/kernels.csv")))
totals = list(csv.DictReader(open("totals/kernel_totals.csv")))
assert [t["kernel"] for t in totals] == ["shape", "recursion"]
assert [t["dispatches"] for t in totals] == ["50", "1"]
summed = [c for c in rows[0] if c in totals[0] and c not in ("kernel", "wall_seconds")]
assert len(summed) == len(rows[0]) - 8, "a column is missing"
for total in totals:
    mine = [row for row in rows if row["kernel"] == total["kernel"]]
    for column in summed:
        assert int(total[column]) == sum(int(row[column]) for row in mine), column
    times = [int(row["end_ps"]) - int(row["start_ps"]) for row in mine]
    for name, values in (("time", times), ("cycles", [int(row["cycles"]) for row in mine])):
        of = "_" + name + ("_ps" if name == "time" else "")
        assert int(total["least" + of]) == min(values) and int(total["most" + of]) == max(values), name
        assert abs(float(total["mean" + of]) - sum(values) / len(values)) <= 0.05, name
    assert int(total["time_ps"]) == sum(times)
PYTHON

# While the run continues, and after it was killed, the compressed table can be read.
"$LACUNA" run "$FIRMWARE/endless_after_kernels.elf" --config tiny --set output.kernels=gzip --out killed >out.txt 2>err.txt &
process=$!
is_there() { zcat killed/kernels.csv.gz | grep -q "^1,store_to,"; }
await is_there
kill -KILL $process
wait $process || true
[[ $(zcat killed/kernels.csv.gz | wc -l) == 3 ]] || fail "a line is missing"

# In sweeps, the setting does not change values, and the database contains the lines of the selected table.
cat >tables.sweep <<END
[sweep]
command = launch
program = two.launch
config = tiny
[axes]
output.kernels = dispatches, gzip, totals
[metrics]
cycles = kernels.shape.cycles
least = kernels.shape.least_cycles
END
expect 0 "$LACUNA" sweep tables.sweep
expect 0 "$LACUNA" results tables --csv
[[ $(sed -n '2,$p' out.txt | cut -d, -f4- | sort -u | wc -l) == 1 ]] || fail "the values differ: $(cat out.txt)"
[[ $(sqlite3 lacuna-results.db "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM kernels GROUP BY point ORDER BY n)") == 2,51,51 ]] ||
  fail "the database does not have the tables"
[[ $(sqlite3 lacuna-results.db "SELECT count(*) FROM kernel_columns WHERE text LIKE 'kernel,dispatches,%'") == 1 ]] || fail "no columns of totals"

expect 2 "$LACUNA" hart "$FIRMWARE/hello.elf" --set output.kernels=gzip
complains "parameter output.kernels is not used here: lacuna hart has no GPU"
expect 2 "$LACUNA" launch two.launch --config tiny --set output.kernels=zip
complains "output.kernels"
complains "dispatches"
