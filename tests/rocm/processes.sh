#!/usr/bin/env bash
# Tests several processes that run at the same time, each with its own GPU.
source "$(dirname "$0")/common.sh"

touch out.txt err.txt
for i in 1 2 3; do
  on_gpu --config tiny --out "folder-$i" -- algorithms
  "${command[@]}" >"out-$i.txt" 2>"err-$i.txt" &
  processes[i]=$!
done
for i in 1 2 3; do
  wait "${processes[i]}" || { cat "err-$i.txt" >&2; fail "process $i of three failed"; }
  grep -q "checks passed" "out-$i.txt" || fail "process $i of three does not say that its checks passed"
  has_results "folder-$i"
  # Columns: kernel, grid, workgroup, thread instructions. Kernels of the runtime are omitted: their work depends on addresses.
  cut -d, -f2,4,5,12 "folder-$i/kernels.csv" | grep -v '(HSA runtime)' >"kernels-$i.txt"
  cmp kernels-1.txt "kernels-$i.txt" || fail "process $i ran other kernels than the first"
done

# A program starts other programs: each of them that uses the GPU has a separate output folder.
expect 0 "$LACUNA" exec --config tiny --out shared -- sh -c "'$PROGRAMS/vector_add' && '$PROGRAMS/lds'"
has_results shared
[[ $(find shared -name statistics.json | wc -l) == 2 ]] || fail "not two results: $(find shared)"

# If two runs have the same output folder, the second is refused before its program starts. Without lacuna exec, the second
# program runs but writes no results.
on_gpu --config tiny --out busy -- exits wait-for-signal endless
"${command[@]}" >out.txt 2>err.txt &
process=$!
await grep -q "ending by wait-for-signal" out.txt
on_gpu --config tiny --out busy -- vector_add
expect 2 "${command[@]}"
complains "busy: in use by a run that has not ended: process $process; nothing was written"
[[ ! -s out.txt ]] || fail "the program was started"
expect 74 env LD_LIBRARY_PATH="$library_folder" LACUNA_CONFIG=tiny LACUNA_OUT=busy "$PROGRAMS/vector_add"
says "checks passed"
complains "no results will be written: --out busy: in use by a run that has not ended: process $process"
kill -KILL $process
wait $process || true
[[ ! -e busy/statistics.json && ! -e busy/process-$process ]] || fail "not the folder of a run that was killed: $(find busy)"
expect 0 "${command[@]}"
has_results busy

# Two runs started at the same moment, when neither has used a GPU.
for i in 1 2; do
  "${command[@]}" >"out-$i.txt" 2>"err-$i.txt" &
  processes[i]=$!
done
refused=0
for i in 1 2; do
  code=0
  wait "${processes[i]}" || code=$?
  [[ $code == 0 || $code == 2 ]] || { cat "err-$i.txt" >&2; fail "run $i of two ended with $code"; }
  [[ $code == 0 ]] || refused=$((refused + 1))
done
[[ $refused -le 1 ]] || fail "both runs were refused"
has_results busy

# Without lacuna exec, processes with the same output folder do not fail.
for i in 1 2; do
  LD_LIBRARY_PATH="$library_folder" LACUNA_CONFIG=tiny LACUNA_OUT=alike "$PROGRAMS/vector_add" >"out-$i.txt" 2>"err-$i.txt" &
  processes[i]=$!
done
for i in 1 2; do wait "${processes[i]}" || { cat "err-$i.txt" >&2; fail "process $i of two failed"; }; done
has_results alike

# lacuna exec makes addresses and the length of the environment equal in all runs, if the host allows it.
if setarch -R true; then
  for _ in 1 2; do
    expect 0 "$LACUNA" exec --config tiny -- sh -c 'echo ${#LACUNA_RUN}; grep -F "[stack]" /proc/self/maps'
    cat out.txt >>addresses.txt
  done
  [[ $(sort -u addresses.txt | wc -l) == 2 ]] || fail "addresses differ from run to run: $(cat addresses.txt)"
fi
