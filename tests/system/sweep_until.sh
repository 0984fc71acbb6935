#!/usr/bin/env bash
# Tests a sweep that adds start phases until the mean of each combination is known with the requested accuracy. The choice of
# start phases depends on results only, not on -j, on interruptions, or on other points of the database. An interval that cannot
# be reached is reported.
source "$(dirname "$0")/sweep_common.sh"

relu_launch
cat >relu.sweep <<'END'
[sweep]
command = launch
program = relu.launch
config = tiny
[options]
define = n={n}
[axes]
n = 256, 1024
[repeat]
gpu.start_phase = 0cycles..3765cycles+251cycles
until = 0.5 %
least = 4
[metrics]
cycles = kernels.relu_scalar.cycles
END
# chosen DATABASE: prints the start phases that the sweep has run for each combination, in the order of the sweep file.
chosen() {
  sqlite3 "$1" "SELECT json_extract(axes, '$.n'), json_extract(repeats, '$.\"gpu.start_phase\"') FROM members
    JOIN sweeps ON sweeps.id = sweep WHERE name = 'relu' AND current ORDER BY position"
}

expect 0 "$LACUNA" sweep relu.sweep --dry-run
says "32 points, 8 to run, 24 only if the interval needs them"


expect 0 "$LACUNA" sweep relu.sweep -j 1
cp out.txt table.txt
chosen lacuna-results.db >wanted.txt
count=$(wc -l <wanted.txt)
[[ $count -gt 8 && $count -lt 32 ]] || fail "$count points were run: expected more than the first ones and fewer than all"
complains "$count points: $count done ($count run now), 0 failed, 0 not run; $((32 - count)) more are not needed; "
says "± is the 95 % confidence interval of the mean by Student's t"
says "samples that ± 0.5 % needs: cycles "
expect 0 "$LACUNA" results relu --interval 0.5% --csv
# The confidence interval computed from the samples, with t for n - 1 degrees of freedom: qt(0.975, n - 1) of R.
samples=$(sqlite3 lacuna-results.db "SELECT json_extract(axes, '$.n') || ' ' || group_concat(value, ' ') FROM members
    JOIN points ON points.key = members.key JOIN statistics ON point = points.id JOIN statistic_names ON statistic_names.id = name
    WHERE current AND path = 'kernels.relu_scalar.cycles' GROUP BY axes" | tr '\n' ';')
awk -F, -v combinations="$samples" '
  BEGIN {
    split("12.7062 4.3027 3.1824 2.7764 2.5706 2.4469 2.3646 2.3060 2.2622 2.2281 2.2010 2.1788 2.1604 2.1448 2.1314", t, " ")
    lines = split(combinations, line, ";") - 1
    for (l = 1; l <= lines; ++l) {
      n = split(line[l], v, " ") - 1
      sum = squares = 0
      for (i = 2; i <= n + 1; ++i) sum += v[i]
      for (i = 2; i <= n + 1; ++i) squares += (v[i] - sum / n) ^ 2
      samples[v[1]] = n
      means[v[1]] = sum / n
      half[v[1]] = t[n - 1] * sqrt(squares / (n - 1)) / sqrt(n)
    }
  }
  NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
  {
    low = means[$1] - half[$1]
    high = means[$1] + half[$1]
    good = $at["cycles_samples"] == samples[$1] && ($at["cycles_low"] - low) ^ 2 < 0.01 && ($at["cycles_high"] - high) ^ 2 < 0.01
    checked += good && half[$1] <= 0.005 * means[$1] && $at["cycles_needed"] <= samples[$1]
  }
  END { exit checked != 2 }' out.txt || fail "the intervals are not those of $samples"

# The sweep runs the same points with any number of parallel runs, and after any interruption.
expect 0 "$LACUNA" sweep relu.sweep -j 3 --db parallel.db
cmp <(chosen parallel.db) wanted.txt || fail "-j has chosen other starts"
cmp out.txt table.txt || fail "-j has given another table"
done_so_far() { [[ $(sqlite3 -cmd '.timeout 60000' killed.db "SELECT count(*) FROM points") -ge $1 ]]; }
for ((try = 0, stored = count; try < 10 && stored == count; ++try)); do
  rm -f killed.db*
  "$LACUNA" sweep relu.sweep -j 1 --db killed.db >out.txt 2>err.txt &
  process=$!
  await done_so_far 6
  kill -KILL $process
  wait $process || true
  stored=$(sqlite3 killed.db "SELECT count(*) FROM points")
done
[[ $stored -lt $count ]] || fail "it was never killed in time"
expect 0 "$LACUNA" sweep relu.sweep --db killed.db
complains "$count points: $count done ($((count - stored)) run now)"
cmp <(chosen killed.db) wanted.txt || fail "an interruption has changed which starts are run"
expect 0 "$LACUNA" sweep relu.sweep --db killed.db
complains "(0 run now)"

# If more repetitions are required than there are start phases, all start phases are run, and the resulting interval is
# reported.
cp relu.sweep until.txt
sed -i 's/^until = .*/until = 0.001 % of cycles/' relu.sweep
expect 1 "$LACUNA" sweep relu.sweep
complains "32 points: 32 done ($((32 - count)) run now)"
grep -qE 'relu.sweep:11: until = 0.001 % of cycles: n=1024: cycles [0-9.,]+ ± [0-9.]+ % after 16 repetitions, which is all that \[repeat\] has; 0.001 % needs about [0-9,]+$' err.txt ||
  fail "the interval that was not reached is not said"
# With the earlier interval again, further points in the database are ignored.
cp until.txt relu.sweep
expect 0 "$LACUNA" sweep relu.sweep
complains "$count points: $count done (0 run now)"
cmp <(chosen lacuna-results.db) wanted.txt || fail "points of before have changed which starts are taken"
cmp out.txt table.txt || fail "points of before have changed the table"

# A failed point is not replaced by others.
cat >bad.sweep <<'END'
[sweep]
command = run
program = {program}.elf
[axes]
program = exit_42, hello
[repeat]
run = 1..4
until = 5 % of time
least = 2
[metrics]
time = run.simulated_ps
END
cp "$FIRMWARE"/{exit_42,hello}.elf .
expect 1 "$LACUNA" sweep bad.sweep
complains "4 points: 2 done (4 run now), 2 failed, 0 not run; 4 more are not needed"
complains "bad.sweep:8: until = 5 % of time: program=exit_42: 2 of 2 repetitions are not done, which is unrelated to the interval"
grep -q '^hello  *2 of 2  *[0-9.,]* ± 0 %$' out.txt || fail "two equal samples have no interval of 0"
expect 1 "$LACUNA" sweep bad.sweep --retry
complains "4 points: 2 done (2 run now), 2 failed"

# Mistakes are reported before anything runs.
mistake() {
  sed "$1" relu.sweep >wrong.sweep
  expect 2 "$LACUNA" sweep wrong.sweep --db wrong.db
  complains "$2"
  [[ ! -e wrong.db ]] || fail "a database was made in spite of: $2"
}
mistake 's/^until = .*/until = 1/' "wrong.sweep:11: until = 1: must be a share of the mean above 0 and below 100 %, such as 1 %"
mistake 's/^until = .*/until = 1 % of cycels/' "wrong.sweep:11: until = 1 % of cycels: [metrics] has no cycels; did you mean cycles?"
mistake 's/^until = /untli = /' "wrong.sweep:11: axis untli is used nowhere"
mistake '/^gpu.start_phase/d' "[repeat] has nothing that could be repeated"
expect 2 "$LACUNA" results relu --interval 1
complains "--interval 1: must be a share of the mean above 0 and below 100 %, such as 1%"
