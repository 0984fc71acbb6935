#!/usr/bin/env bash
# lacuna sweep of a HIP program: variables of the environment are axes, and one of the user's own that the runtime listens to
# makes another point.
source "$(dirname "$0")/common.sh"

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
[take]
dispatches = gpu0.cp.dispatches
copied = gpu0.sdma*.bytes_read
END
expect 0 "$LACUNA" sweep hip.sweep
complains "2 points: 2 done (2 run now)"
expect 0 "$LACUNA" results hip --csv
# Copies by kernels or by copy engines.
awk -F, '$1 == 0 { kernels = $4; none = $8 } $1 == 1 { fewer = $4; some = $8 } END { exit !(kernels > fewer && none == 0 && some > 0) }' \
  out.txt || fail "HSA_ENABLE_SDMA has not come to the program"
expect 0 "$LACUNA" sweep hip.sweep
complains "(0 run now)"
export HIP_VISIBLE_DEVICES=0
expect 0 "$LACUNA" sweep hip.sweep --dry-run
says "stale, to run: another environment"
says "2 points, 2 to run"
unset HIP_VISIBLE_DEVICES

# A path of the other door, and a program that is not there.
sed 's/gpu0/gpu/' hip.sweep >wrong.sweep
expect 2 "$LACUNA" sweep wrong.sweep
complains "no statistic has the path gpu.cp.dispatches; did you mean gpu0.cp.dispatches?"
sed 's/vector_add/vector_ad/' hip.sweep >wrong.sweep
expect 2 "$LACUNA" sweep wrong.sweep
complains "./vector_ad: no such program; did you mean ./vector_add?"
