#!/usr/bin/env bash
# Tests lacuna sweep: points are run once; kill -9 loses only the points that were running; failed points are stored, too;
# rebuilding a workload makes its points stale; mistakes are reported before anything runs.
source "$(dirname "$0")/sweep_common.sh"

relu_launch
cat >relu.sweep <<'END'
[sweep]
command = launch
program = relu.launch
config = tiny
leave_out = n == 512 && l2.size == 64KiB
[options]
define = n={n}
define = seed={seed}
[axes]
n = 256, 512
l2.size = 64KiB, 128KiB
[repeat]
seed = 1..4
[metrics]
cycles = kernels.relu_scalar.cycles
time = run.simulated_ps
misses = gpu.l2_*.read_misses
miss_rate = {gpu.l2_*.read_misses} / ({gpu.l2_*.read_misses} + {gpu.l2_*.read_hits})
END

# Listing the points runs nothing and creates no files.
expect 0 "$LACUNA" sweep relu.sweep --dry-run
says "12 points, 12 to run"
[[ ! -e lacuna-results.db ]] || fail "--dry-run has made a database"
expect 2 "$LACUNA" sweep relu.sweep --dry-run --overnight
complains "relu.sweep: --overnight: no points are marked for a night (overnight = CONDITION in [sweep])"
sed 's/^config = tiny/&\novernight = n < 512/' relu.sweep >night.sweep
expect 0 "$LACUNA" sweep night.sweep --dry-run --overnight
says "8 points, 8 to run"
expect 0 "$LACUNA" sweep night.sweep --dry-run
says "12 points, 12 to run"

# A sweep is killed in the middle, then completed: every point runs once. The test repeats this if the sweep ends before it is
# killed.
done_so_far() { [[ $(query "SELECT count(*) FROM points") -ge $1 ]]; }
for ((try = 0, count = 12; try < 10 && count == 12; ++try)); do
  rm -f lacuna-results.db*
  "$LACUNA" sweep relu.sweep -j 1 >out.txt 2>err.txt &
  process=$!
  await done_so_far 1
  kill -KILL $process
  wait $process || true
  count=$(query "SELECT count(*) FROM points")
done
[[ $count -lt 12 ]] || fail "it was never killed in time"
before=$(query "SELECT group_concat(id || key || date) FROM (SELECT * FROM points ORDER BY id)")
expect 0 "$LACUNA" sweep relu.sweep -j 2
complains "12 points: 12 done ($((12 - count)) run now), 0 failed, 0 not run"
after=$(query "SELECT group_concat(id || key || date) FROM (SELECT * FROM points ORDER BY id LIMIT $count)")
[[ $after == "$before" ]] || fail "points that were done have been run again"
[[ ! -e lacuna-results.db.work ]] || fail "a work folder is left"
expect 0 "$LACUNA" sweep relu.sweep
complains "12 points: 12 done (0 run now)"

# The database contains the values that the runs report.
expect 0 "$LACUNA" launch relu.launch --config tiny --define n=512 --define seed=3 --set l2.size=128KiB --out run
where="FROM members JOIN points ON points.key = members.key WHERE axes LIKE '%512%' AND repeats = '{\"seed\":\"3\"}'"
[[ $(query "SELECT run_hash $where") == "$(run_value run run_hash)" ]] || fail "another run hash than that of lacuna launch"
[[ $(query "SELECT row FROM kernels WHERE point = (SELECT points.id $where)" | cut -d, -f 1-12) == \
  "$(tail -n 1 run/kernels.csv | cut -d, -f 1-12)" ]] || fail "kernels differ"
# Not `query | grep -q`: grep -q closes the pipe before all output is written.
configuration=$(query "SELECT configurations.text FROM configurations JOIN points ON points.configuration = configurations.id
  WHERE points.id = (SELECT points.id $where)")
grep -q '^size = 128KiB' <<<"$configuration" || fail "the effective configuration is not there"
expect 0 "$LACUNA" results relu --where 'n == 256 && l2.size == 64KiB' --csv
[[ $(wc -l <out.txt) == 2 ]] || fail "--where has not chosen one combination"
[[ $(cut -d, -f 1-4 out.txt | tail -n 1) == 256,64KiB,4,4 ]] || fail "the CSV is wrong"
expect 0 "$LACUNA" results
says "relu"
expect 0 "$LACUNA" results relu --compare relu
says "0 of 12 values have changed"

# If values are added, only their points are run. If a file that the workload reads has changed, all points are run.
sed -i 's/^seed = 1..4$/seed = 1..5/' relu.sweep
expect 0 "$LACUNA" sweep relu.sweep
complains "15 points: 15 done (3 run now)"
sed -i 's/uniform(-1,1)/uniform(-2,2)/' relu.launch
expect 0 "$LACUNA" sweep relu.sweep --dry-run
says "stale, to run: another file relu.launch"
says "15 points, 15 to run"
expect 0 "$LACUNA" sweep relu.sweep
complains "15 points are stale, run before with another file relu.launch"
complains "15 done (15 run now)"
[[ $(query "SELECT count(*) FROM points") == 30 ]] || fail "the earlier points are not kept"

# Points that fail or take too long are stored with their logs, and the others are run. These entries are kept until --retry.
failing_sweeps
expect 1 "$LACUNA" sweep bad.sweep
complains "2 points: 1 done (2 run now), 1 failed, 0 not run"
expect 1 "$LACUNA" sweep slow.sweep
complains "loop_forever: timeout: not ended after 1 s; at "
complains "1 points: 0 done (1 run now), 0 failed, 1 timed out, 0 not run"
expect 0 "$LACUNA" results bad --points
grep -q '^exit_42  *failed  *42 ' out.txt || fail "exit_42 is not a failed point"
expect 0 "$LACUNA" results slow --points
grep -q '^loop_forever  *timeout  *130 ' out.txt || fail "loop_forever has not been ended"
# SIGTERM was sent before SIGKILL: partial results are stored, but are not used as values of the sweep.
[[ $(query "SELECT count(*) > 100 FROM statistics JOIN points ON points.id = point WHERE state = 'timeout'") == 1 ]] ||
  fail "no statistics of the point that took too long"
expect 0 "$LACUNA" results slow --csv --metric run.simulated_ps
[[ $(tail -n 1 out.txt) == loop_forever,1,0,,,,0,,,,, ]] || fail "a part of a result is taken for a result"
expect 0 "$LACUNA" results bad --failed
grep -q '^program=exit_42: failed, exit code 42, after .*: ended with exit code 42$' out.txt || fail "the cause is not in the line of the point"
says "exit_42.elf"
expect 0 "$LACUNA" results slow --failed
grep -q '^program=loop_forever: timeout, exit code 130, after .*: not ended after 1 s' out.txt || fail "the time-out is not the cause"
expect 1 "$LACUNA" sweep bad.sweep
complains "(0 run now), 1 failed"
expect 1 "$LACUNA" sweep bad.sweep --retry
complains "(1 run now), 1 failed"

# Two sweeps write into one database concurrently.
sed 's/^seed = .*/seed = 11..14/' relu.sweep >a.sweep
sed 's/^seed = .*/seed = 13..16/' relu.sweep >b.sweep
"$LACUNA" sweep a.sweep -q -j 1 2>a.txt & first=$!
"$LACUNA" sweep b.sweep -q -j 1 2>b.txt & second=$!
wait $first || fail "the first of two sweeps: $(cat a.txt)"
wait $second || fail "the second of two sweeps: $(cat b.txt)"
[[ $(query "SELECT count(DISTINCT key) FROM members JOIN sweeps ON sweeps.id = sweep WHERE sweeps.name IN ('a', 'b')") == 18 ]] ||
  fail "not 18 points of two sweeps"

# If a workload changes while its sweep runs, the sweep ends with an error.
sed -e 's/^seed = .*/seed = 21..60/' relu.sweep >changes.sweep
"$LACUNA" sweep changes.sweep -j 1 >out.txt 2>err.txt &
process=$!
total=$(query "SELECT count(*) FROM points")
await done_so_far $((total + 2))
sed 's/uniform(-2,2)/uniform(-3,3)/' relu.launch >new.launch
mv new.launch relu.launch
code=0
wait $process || code=$?
[[ $code == 2 ]] || fail "a sweep whose workload changes ends with $code"
complains "relu.launch has changed while the sweep was running"

# Mistakes are reported before anything runs, with their location.
mistake() {
  sed "$1" relu.sweep >wrong.sweep
  expect 2 "$LACUNA" sweep wrong.sweep --db wrong.db
  complains "$2"
  [[ ! -e wrong.db ]] || fail "a database was made in spite of: $2"
}
mistake 's/^program = .*/program = none.launch/' "wrong.sweep:3: program = none.launch: no such file"
mistake 's/^program = .*/program = rel.launch/' "wrong.sweep:3: program = rel.launch: no such file; did you mean relu.launch?"
mistake 's/^misses = .*/misses = {{gpu.l2_0.read_misses}}/' \
  "wrong.sweep:17: misses = {{gpu.l2_0.read_misses}}: a { inside { }"
mistake 's/^config = .*/config = tinny/' "--config tinny: no such file; presets:"
mistake 's/^define = n=/define = m=/' "relu.launch has no such constant"
mistake 's/l2.size/l2.sise/g' "wrong.sweep:11: unknown parameter l2.sise; did you mean l2.size?"
mistake 's/read_misses$/read_mises/' "no statistic has the path gpu.l2_*.read_mises"
mistake 's/cycles$/cykles/' "wrong.sweep:15: cycles = kernels.relu_scalar.cykles: no statistic has the path \
kernels.relu_scalar.cykles; did you mean kernels.relu_scalar.cycles?"
mistake 's/^n = 256, 512$/n = 256, x/' "point "
# Names of kernels are known only after the first run: a wrong name is then reported once, with the names that exist.
sed 's/kernels.relu_scalar.cycles/kernels.relu_scaler.cycles/; s/^seed = .*/seed = 1/' relu.sweep >typo.sweep
expect 0 "$LACUNA" sweep typo.sweep --db typo.db -j 1
complains "after the first point (n=256 l2.size=64KiB seed=1): cycles = kernels.relu_scaler.cycles: no statistic of the run has the path \
kernels.relu_scaler.cycles; its kernels are relu_scalar; did you mean kernels.relu_scalar.cycles?"
[[ $(grep -c "after the first point" err.txt) == 1 ]] || fail "it is said more than once"
# A statistic of a part that only a later machine of the sweep has is no mistake.
sed 's/^config = tiny/config = {machine}/; s/^l2.size = .*/machine = r9nano, r9nano-lazygpu/; s/^seed = .*/seed = 1/
  s/^n = .*/n = 256/; /^leave_out/d; s/^misses = .*/masks = gpu.l1z*.reads/' relu.sweep >machines.sweep
expect 0 "$LACUNA" sweep machines.sweep --db machines.db -j 1
complains "2 points: 2 done (2 run now), 0 failed, 0 not run"
! grep -q "after the first point" err.txt || fail "a part of another machine is reported as missing"
expect 2 "$LACUNA" sweep none.sweep
complains "none.sweep: no such sweep file"
expect 2 "$LACUNA" results relux
complains "has no sweep relux; did you mean relu?"
expect 2 "$LACUNA" results relu --metric kernels.relu_scalar.cycle
complains "did you mean kernels.relu_scalar.cycles?"
expect 2 "$LACUNA" results relu --where 'm == 1'
complains "unknown name m"

# A failed write ends the sweep with the name of the file and exit code 74; stored points are kept, and the sweep can be
# continued.
# limited BLOCKS: runs relu.sweep into small.db with a file size limit of BLOCKS blocks of 1024 bytes, also for files of the
# points.
limited() { expect 74 bash -c 'ulimit -f "$1"; shift; exec "$@"' - "$1" "$LACUNA" sweep relu.sweep --db small.db -j 1; }
expect 2 "$LACUNA" sweep relu.sweep --db nowhere/small.db
limited 4
complains "small.db: cannot be written"
limited 64
complains "small.db: cannot be written: disk I/O error"
rm -f small.db*
expect 0 "$LACUNA" sweep relu.sweep --db small.db
size=$(($(stat -c %s small.db) / 1024))
rm -f small.db*
# SQLite first writes the log small.db-wal, which grows to about three times the size of the database.
limited $((size * 3 / 2))
complains "small.db: cannot be written: disk I/O error"
complains " of 15 points have been stored, the same command runs the others"
stored=$(sqlite3 small.db "SELECT count(*) FROM points WHERE state = 'done'")
[[ $stored -gt 0 && $stored -lt 15 && $(sqlite3 small.db "SELECT count(*) FROM points") == "$stored" ]] ||
  fail "$stored points are stored by the sweep that could not go on"
[[ ! -e small.db.work ]] || fail "a work folder is left"
expect 0 "$LACUNA" sweep relu.sweep --db small.db
complains "15 points: 15 done ($((15 - stored)) run now)"
# The limit applies to the log in a point's folder.
printf '%s\n' '[sweep]' 'command = exec' 'program = talk' 'database = talk.db' >talk.sweep
printf '%s\n' '#!/bin/sh' 'exec head -c 300000 /dev/zero' >talk
chmod +x talk
expect 74 bash -c 'ulimit -f 200; exec "$@"' - "$LACUNA" sweep talk.sweep
complains "/log.txt: cannot be written: File too large, the limit is 204800 bytes (ulimit -f)"
[[ $(sqlite3 talk.db 'SELECT count(*) FROM points') == 0 ]] || fail "a point that the host did not let write is stored"
# Tests a full disk, if this user may mount one.
if unshare --mount --map-root-user true 2>/dev/null; then
  mkdir disk
  rm -f small.db*
  expect 74 unshare --mount --map-root-user bash -c 'mount -t tmpfs -o size=700k none disk && "$@"; code=$?; cp disk/small.db* .; exit $code' \
    - "$LACUNA" sweep relu.sweep --db disk/small.db -j 1
  # Either the database or a file of a point fails first.
  grep -qE 'disk/small.db(: cannot be written: database or disk is full|.*: No space left on device); [0-9]+ of 15 points' err.txt ||
    fail "the file that could not be written is not named"
  stored=$(sqlite3 small.db "SELECT count(*) FROM points WHERE state = 'done'")
  [[ $stored -gt 0 && $stored -lt 15 ]] || fail "$stored points are stored by the sweep whose disk was full"
  expect 0 "$LACUNA" sweep relu.sweep --db small.db
  complains "15 points: 15 done ($((15 - stored)) run now)"
fi

# A database that is damaged or of a newer version is not changed.
printf 'x%.0s' {1..5000} >broken.db
cp broken.db copy
expect 2 "$LACUNA" sweep relu.sweep --db broken.db
complains "broken.db"
cmp broken.db copy || fail "wrote to a file that is not a database"
sqlite3 newer.db 'PRAGMA application_id = 1279345486; PRAGMA user_version = 7; CREATE TABLE points(a)'
cp newer.db copy
expect 2 "$LACUNA" sweep relu.sweep --db newer.db
complains "is of version 7"
cmp newer.db copy || fail "a database of a newer version was written to"
sqlite3 lacuna-results.db "UPDATE members SET axes = '{'"
expect 2 "$LACUNA" results relu
grep -q 'lacuna-results.db: is damaged: row [0-9]* of members: axes is not a JSON object of strings' err.txt || fail "the damage is not named"
