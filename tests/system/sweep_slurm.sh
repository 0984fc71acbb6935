#!/usr/bin/env bash
# Tests lacuna sweep --on slurm with a real Slurm: the script starts and ends a controller and one node, without munge and for
# this user only. Skipped (exit code 77) if Slurm is not installed.
source "$(dirname "$0")/sweep_common.sh"

for program in slurmctld slurmd sbatch squeue; do
  PATH=$PATH:/usr/sbin command -v "$program" >/dev/null ||
    { echo "SKIPPED: $program is not installed (packages.txt: slurm-wlm)"; exit 77; }
done
PATH=$PATH:/usr/sbin

# The daemons of this test use unused ports.
user=$(id -un) node=$(hostname -s)
port=$((20000 + $$ % 20000))
export SLURM_CONF=$work/slurm.conf
mkdir state spool
cat >slurm.conf <<END
ClusterName=lacuna
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=sched_interval=1,sched_min_interval=0
ReturnToService=2
NodeName=$node NodeAddr=127.0.0.1 CPUs=2 RealMemory=100 State=UNKNOWN
PartitionName=short Nodes=ALL Default=YES MaxTime=5 State=UP
END
slurmctld -D >ctld.txt 2>&1 & controller=$!
slurmd -D -N "$node" >slurmd.txt 2>&1 & daemon=$!
# Files that the daemons have not removed are removed with the folder.
trap 'kill $controller $daemon 2>/dev/null; wait $controller $daemon 2>/dev/null; rm -rf "$work"' EXIT
process=$controller
node_is_up() { sinfo --noheader --format=%T | grep -q idle; }
for ((try = 0; ; ++try)); do
  ! node_is_up 2>/dev/null || break
  [[ $try -lt 600 ]] && kill -0 $controller && kill -0 $daemon ||
    { cat ctld.txt slurmctld.log slurmd.txt slurmd.log >&2; fail "Slurm does not come up"; }
  sleep 0.1
done

relu_launch
cat >relu.sweep <<'END'
[sweep]
command = launch
program = relu.launch
config = tiny
[options]
define = seed={seed}
[axes]
l2.size = 64KiB, 128KiB
[repeat]
seed = 1..4
[metrics]
cycles = kernels.relu_scalar.cycles
[slurm]
partition = short
memory = 10
time = 2
points_per_task = 3
END

# A refusal by sbatch is reported and leaves no files.
expect 2 "$LACUNA" sweep relu.sweep --on slurm --slurm partition=none
complains "sbatch ended with exit code 1"
complains "nvalid partition"
[[ ! -e lacuna-results.db.work ]] || fail "a batch is left that was never submitted"
expect 2 "$LACUNA" sweep relu.sweep --on slurm --slurm partitoin=none
complains "did you mean partition?"

# Points are submitted as arrays of jobs with three points each.
expect 0 "$LACUNA" sweep relu.sweep --on slurm
complains "8 points: 8 done (8 run now)"
[[ $(query "SELECT count(*) FROM points WHERE state = 'done' AND host = '$(hostname)'") == 8 ]] || fail "not 8 points on this host"
[[ ! -e lacuna-results.db.work ]] || fail "a batch is left"
expect 0 "$LACUNA" sweep relu.sweep
complains "8 points: 8 done (0 run now)"

# Points are submitted, and a later command collects them, also after a command was killed while it waited for them.
sed -i 's/^seed = 1..4/seed = 1..6/' relu.sweep
# The drained node takes no jobs until it resumes.
scontrol update NodeName="$node" State=DRAIN Reason=test
expect 1 "$LACUNA" sweep relu.sweep --on slurm --no-wait
[[ $(query "SELECT count(*) FROM points") == 8 ]] || fail "points are there before anybody has collected them"
"$LACUNA" sweep relu.sweep --on slurm -q 2>/dev/null & process=$!
# The command catches SIGINT, the second bit of the mask, only while it waits.
waits() { [[ $(readlink /proc/$process/exe) == "$(readlink -f "$LACUNA")" ]] && grep -q '^SigCgt:.*[2367abef]$' /proc/$process/status; }
await waits
kill -KILL $process
wait $process || true
scontrol update NodeName="$node" State=RESUME
expect 0 "$LACUNA" sweep relu.sweep --on slurm
complains "12 points: 12 done"
[[ $(query "SELECT count(*) FROM points") == 12 ]] || fail "not 12 points"
[[ $(squeue --noheader | wc -l) == 0 ]] || fail "jobs are left"

# Tests a point that fails, a point that exceeds the sweep's time limit, and a job that is cancelled.
failing_sweeps
expect 1 "$LACUNA" sweep bad.sweep --on slurm
complains "2 points: 1 done (2 run now), 1 failed"
expect 0 "$LACUNA" results bad --points --csv
grep -q '^exit_42,failed,42,' out.txt || fail "exit_42 is not a failed point"
expect 1 "$LACUNA" sweep slow.sweep --on slurm
expect 0 "$LACUNA" results slow --points --csv
grep -q '^loop_forever,timeout,130,' out.txt || fail "loop_forever has not been ended"
"$LACUNA" sweep endless.sweep --on slurm --retry >out.txt 2>err.txt & process=$!
runs() { [[ $(squeue --noheader --states=R | wc -l) == 1 ]] && compgen -G 'lacuna-results.db.work/*/points/0/out/effective.cfg' >/dev/null; }
await runs
scancel --user "$user"
code=0
wait $process || code=$?
[[ $code == 1 ]] || fail "a sweep whose job is cancelled ends with $code"
expect 0 "$LACUNA" results endless --points --csv
grep -q '^loop_forever,killed,137,' out.txt || fail "the cancelled point is not a killed one"
expect 0 "$LACUNA" results endless --failed
says "CANCELLED"

# Repetitions are run until the interval is reached. The same repetitions are run as without a batch system, although a later
# command collects the jobs of the first repetitions and submits the next jobs.
cat >until.sweep <<'END'
include = relu.sweep
[repeat]
seed = 1
gpu.start_phase = 0cycles..3765cycles+251cycles
until = 0.5 %
least = 4
END
chosen() { sqlite3 "$1" "SELECT axes, repeats FROM members JOIN sweeps ON sweeps.id = sweep WHERE name = 'until' AND current ORDER BY position"; }
expect 1 "$LACUNA" sweep until.sweep --on slurm --no-wait
complains "8 points: 0 done"
expect 0 "$LACUNA" sweep until.sweep --on slurm
count=$(chosen lacuna-results.db | wc -l)
[[ $count -gt 8 && $count -lt 32 ]] || fail "$count points were run: expected more than the first ones and fewer than all"
complains "$count points: $count done ($count run now), 0 failed, 0 not run; $((32 - count)) more are not needed; "
expect 0 "$LACUNA" sweep until.sweep --db here.db
cmp <(chosen lacuna-results.db) <(chosen here.db) || fail "the batch system has changed which starts are run"
