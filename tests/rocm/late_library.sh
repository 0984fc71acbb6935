#!/usr/bin/env bash
# A program loads a library while it runs: if the library has no code for the GPU, HIP ends the program. Checks that Lacuna then
# reports the file, the targets for which it has code, and the missing target, and that it reports nothing if programs end for
# other reasons.
source "$(dirname "$0")/common.sh"

# load CODE LIBRARY first|later|uninitialised [OPTION...]: checks that a program that loads the library ends with exit code
# CODE.
load() {
  on_gpu --config tiny "${@:4}" --out out -- late_library "$2" "$3"
  expect "$1" "${command[@]}"
}
silent() { ! grep -q "none for" err.txt || fail "a message about a library whose requirements are met"; }
answer=$PROGRAMS/answer
other=$PROGRAMS/answer_gfx906

for order in first later; do
  load 0 "$answer" $order
  says "checks passed"
  silent
  load 134 "$other" $order
  complains "hipErrorNoBinaryForGpu"
  complains "lacuna: $other has code for gfx906 and none for gfx803, so HIP aborts: compile it with --offload-arch=gfx803 as well"
  [[ $(grep -c "none for" err.txt) == 1 ]] || fail "more than one line"
done
has_results out
load 134 "$other" later --set gpu.target=gfx90a
complains "has code for gfx906 and none for gfx90a, so HIP aborts: compile it with --offload-arch=gfx90a as well"
# HIP does not examine the library before a GPU is used.
load 0 "$other" uninitialised
silent

# Without `lacuna exec`, the program's own code, too, is examined only when the program uses a GPU.
expect 134 env LD_LIBRARY_PATH="$library_folder" LACUNA_CONFIG="tiny;gpu.target=gfx90a" LACUNA_OUT=none "$PROGRAMS/allocation"
complains "allocation has code for gfx803 and none for gfx90a, so HIP aborts: compile it with --offload-arch=gfx90a as well, or choose --set gpu.target=gfx803"

# Nothing is reported about a program that ends by the same signal for another reason.
on_gpu --config tiny --out aborted -- exits abort nothing
expect 134 "${command[@]}"
silent
