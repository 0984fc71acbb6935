#!/usr/bin/env bash
# Tests lacuna sweep with a HIP program: environment variables can be axes, and points differ if the user's environment differs
# in a variable that the runtime uses.
source "$(dirname "$0")/common.sh"

# query SQL: prints the result of a query of the database lacuna-results.db.
query() { sqlite3 lacuna-results.db "$1"; }

cp "$PROGRAMS/vector_add" .
cat >hip.sweep <<'END'
[sweep]
command = exec
program = ./vector_add
config = tiny
[set]
gpu.timing = functional
[environment]
HSA_ENABLE_SDMA = {sdma}
[axes]
sdma = 0, 1
[metrics]
dispatches = gpu0.cp.dispatches
copied = gpu0.sdma*.bytes_read
END
expect 0 "$LACUNA" sweep hip.sweep
complains "2 points: 2 done (2 run now)"
expect 0 "$LACUNA" results hip --csv
# HSA_ENABLE_SDMA selects copies by kernels or by copy engines.
awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) { if ($i == "dispatches_mean") d = i; if ($i == "copied_mean") c = i } next }
  $1 == 0 { kernels = $d; none = $c } $1 == 1 { fewer = $d; some = $c } END { exit !(kernels > fewer && none == 0 && some > 0) }' \
  out.txt || fail "HSA_ENABLE_SDMA has not come to the program"
expect 0 "$LACUNA" sweep hip.sweep
complains "(0 run now)"
export HIP_VISIBLE_DEVICES=0
expect 0 "$LACUNA" sweep hip.sweep --dry-run
says "stale, to run: another environment"
says "2 points, 2 to run"
unset HIP_VISIBLE_DEVICES

# Invalid sweeps: a statistic that `lacuna exec` does not have, and a missing program.
sed 's/gpu0/gpu/' hip.sweep >wrong.sweep
expect 2 "$LACUNA" sweep wrong.sweep
complains "no statistic has the path gpu.cp.dispatches; did you mean gpu0.cp.dispatches?"
sed 's/vector_add/vector_ad/' hip.sweep >wrong.sweep
expect 2 "$LACUNA" sweep wrong.sweep
complains "wrong.sweep:3: program = ./vector_ad: no such file; did you mean ./vector_add?"

# A name without a slash is looked up first in the folder of the sweep file, then in PATH.
sed 's,\./vector_add,vector_add,' hip.sweep >name.sweep
(mkdir elsewhere && cd elsewhere && expect 0 "$LACUNA" sweep ../name.sweep --db ../name.db && complains "2 points: 2 done (2 run now)")
sed 's,\./vector_add,vector_ad,' hip.sweep >wrong.sweep
expect 2 "$LACUNA" sweep wrong.sweep
complains "wrong.sweep:3: program = vector_ad: no such program in"
complains "or in PATH; did you mean vector_add?"
chmod -x vector_add
expect 2 "$LACUNA" sweep hip.sweep
complains "hip.sweep:3: program = ./vector_add: is not executable"
chmod +x vector_add
cp vector_add elsewhere/tool
sed 's,\./vector_add,tool,' hip.sweep >path.sweep
expect 0 env PATH="$PWD/elsewhere:$PATH" "$LACUNA" sweep path.sweep
complains "2 points: 2 done"

# The recorded cause of a failed point is the kernel's fault, although the runtime prints more after it. A program that waits
# forever is ended by SIGTERM, and its results so far are kept.
cp "$PROGRAMS/faults" .
printf '%s\n' '[sweep]' 'command = exec' 'program = faults' 'argument = {what}' 'config = tiny' '[axes]' \
  'what = write-far-beyond, null-pointer, trap, illegal-instruction' >faults.sweep
expect 1 "$LACUNA" sweep faults.sweep
complains "4 points: 0 done (4 run now), 4 failed"
# With strict-memory, an option of lacuna exec that takes no value, a write to the page after a buffer is a fault. Without it the
# write goes undetected.
printf '%s\n' '[sweep]' 'command = exec' 'program = faults' 'argument = write-just-beyond' 'config = tiny' '[options]' \
  'strict-memory = {strict}' '[axes]' 'strict = true, false' >strict.sweep
expect 1 "$LACUNA" sweep strict.sweep --db strict.db
complains "2 points: 0 done (2 run now), 2 failed"
sed 's/= true, false/= tru/' strict.sweep >wrong.sweep
expect 2 "$LACUNA" sweep wrong.sweep --db strict.db
complains "strict-memory = tru: must be true or false, as --strict-memory takes no value"
expect 0 sqlite3 strict.db "SELECT axes, cause FROM points JOIN members USING (key)"
grep 'true' out.txt | grep -q "stopped at packet" || fail "strict-memory = true is not a fault"
! grep 'false' out.txt | grep -q "stopped at packet" || fail "the store is a fault without strict-memory"
# cause WHAT PART...: checks that the cause of the point of axis value WHAT contains the parts.
cause() {
  local what=$1 cause part
  cause=$(query "SELECT cause FROM points JOIN members USING (key) WHERE axes LIKE '%\"$what\"%'")
  shift
  for part in "at [0-9.]* us: .*queue [0-9]* stopped at packet" "kernel [^ ]*" "PC 0x" "$@"; do
    grep -q -- "$part" <<<"$cause" || fail "the cause has no $part: $cause"
  done
  [[ $(query "SELECT count(*) FROM points JOIN members USING (key) WHERE axes LIKE '%\"$what\"%' AND log LIKE '%stopped at packet%'") == 1 ]] ||
    fail "$what: the log does not have the line of the fault"
}
cause write-far-beyond write_at "wavefront 0" "lane 5" "4 bytes at 0x2"
cause null-pointer write_at "wavefront 0" "lane 5" "4 bytes at 0x0"
cause trap trap "wavefront 0"
cause illegal-instruction illegal_instruction
expect 0 "$LACUNA" results faults --failed
grep -q '^what=trap: failed, exit code 134, after .* s on .*: at .* us: .*kernel .*trap' out.txt || fail "the cause is not in the line of the point"

cp "$PROGRAMS/exits" .
# A busy machine may need more than a few seconds until the program waits.
ended() { [[ $(query "SELECT log LIKE '%ending by wait-for-signal%' FROM points WHERE state = 'timeout'") == 1 ]]; }
for ((timeout = 4; ; timeout *= 2)); do
  printf '%s\n' '[sweep]' 'command = exec' 'program = exits' 'argument = wait-for-signal' 'argument = endless' 'config = tiny' \
    "timeout = ${timeout}s" >endless.sweep
  expect 1 "$LACUNA" sweep endless.sweep --retry
  complains "timeout: not ended after $timeout s"
  complains "1 points: 0 done (1 run now), 0 failed, 1 timed out, 0 not run"
  ! ended && [[ $timeout -lt 60 ]] || break
done
[[ $(query "SELECT exit_code, log LIKE '%ending by wait-for-signal%',
       (SELECT count(*) > 100 FROM statistics WHERE point = points.id) FROM points WHERE state = 'timeout'") == "143|1|1" ]] ||
  fail "results of the point that timed out are missing"
