#!/usr/bin/env bash
# sida_sweep.sh: tests the accelerator's sweep in docs/guide/sweep.md, changes that make its points stale, and errors.
source "$(dirname "$0")/sweep_common.sh"

sed -n '/^## SIDA/,/^## /p' "$SOURCE/docs/guide/sweep.md" | sed -n '/^```ini$/,/^```$/p' | sed '/^```/d' >pr.sweep
expect 0 "$LACUNA" sweep pr.sweep -j 2
complains "4 points: 4 done (4 run now)"
expect 0 "$LACUNA" sweep pr.sweep -j 2
complains "4 points: 4 done (0 run now)"
expect 0 "$LACUNA" results pr --csv
# column NAME MACHINE BUFFER: prints the mean of a metric.
column() {
  awk -F, -v name="$1_mean" -v machine="$2" -v buffer="$3" \
    'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i } $at["machine"] == machine && $at["sida.buffer"] == buffer { print $at[name] }' out.txt
}
awk -v small="$(column speedup sida 64KiB)" -v large="$(column speedup sida 1MiB)" -v same="$(column speedup roofline 1MiB)" \
  'BEGIN { exit !(small > 0 && large > 1 && large > small && same == 1) }' || fail "speedups over the roofline"
awk -v sida="$(column joules sida 1MiB)" -v roofline="$(column joules roofline 1MiB)" 'BEGIN { exit !(sida > 0 && sida < roofline) }' ||
  fail "energies"

# A matrix file is an input: if it changes, points are stale.
expect 0 "$LACUNA" sida generate road:rows=400 --out a.mtx
sed 's/^matrix = .*/matrix = a.mtx/' pr.sweep >file.sweep
expect 0 "$LACUNA" sweep file.sweep -j 2
expect 0 "$LACUNA" sida generate road:rows=900 --out a.mtx
expect 0 "$LACUNA" sweep file.sweep --dry-run
says "4 points, 4 to run"

# refused MESSAGE SED-COMMAND: checks that the sweep, edited by the command, is refused with the message.
refused() {
  sed "$2" pr.sweep >bad.sweep
  expect 2 "$LACUNA" sweep bad.sweep --dry-run
  complains "$1"
}
refused "bad.sweep:3: program = prr: no program of the accelerator; did you mean pr?" 's/^program = pr/program = prr/'
refused "unknown parameter sida.bufer; did you mean sida.buffer?" 's/^sida.buffer/sida.bufer/'
refused "no statistic has the path sida.cycle; did you mean sida.cycles?" 's/{sida.cycles}/{sida.cycle}/'
refused "lacuna sida has no option --matrx for a sweep; did you mean matrix?" 's/^matrix/matrx/'
refused "a program of sida takes no argument" 's/^program.*/&\nargument = x/'
refused "--machine oracel: must be sida, roofline, oracle, cpu or device; did you mean oracle?" 's/^machine = sida, roofline/machine = oracel, roofline/'

# Files of a folder instead of stand-ins: themselves, compressed, and in a folder of their name.
cp -r "$SOURCE/experiments/sida" experiments
mkdir -p files/gyro_m
rows=100
for name in $(sed -n '/^\[files\]/,$ s/^.. = //p' experiments/matrix_files.sweep); do
  expect 0 "$LACUNA" sida generate road:rows=$((rows += 100)) --out files/$name
done
printf '%%%%MatrixMarket matrix coordinate real symmetric\n4 4 3\n2 1 1\n3 2 5\n4 1 2\n' >files/ca-AstroPh.mtx
mv files/gyro_m.mtx files/gyro_m/
gzip files/G2_circuit.mtx
expect 0 "$LACUNA" sweep experiments/storage.paper.sweep --files files --db files.db -j 2
complains "27 points: 27 done (27 run now)"
expect 0 "$LACUNA" results sida_storage_paper_files --db files.db --where 'reordering == "none"' --csv
[[ $(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next } { print $at["matrix"], $at["entries_mean"] }' out.txt | sed -n '1p;$=') == $'ca 3\n9' ]] ||
  fail "Table 4.1 of the files: $(cat out.txt)"
for file in files/gyro_m/gyro_m.mtx files/G2_circuit.mtx.gz files/europe_osm.mtx; do
  grep -q "$PWD/$file" out.txt || fail "$file is not used: $(cat out.txt)"
done
mv files/road_usa.mtx files/roads_usa.mtx
expect 2 "$LACUNA" sweep experiments/storage.paper.sweep --files files --db files.db --dry-run
complains "--files files: no road_usa.mtx, which matrix = ro needs, nor road_usa.mtx.gz; did you mean roads_usa.mtx?"
expect 2 "$LACUNA" sweep experiments/storage.paper.sweep --files nowhere --db files.db --dry-run
complains "--files nowhere: is not a folder"
expect 2 "$LACUNA" sweep pr.sweep --files files --dry-run
complains "pr.sweep: --files files: the sweep takes no files (files_of = AXIS by LABEL in [sweep])"
