#!/usr/bin/env bash
# Tests programs that use the hart only: exit codes, console, arguments, faults, and detection of every hang.
source "$(dirname "$0")/common.sh"

expect 0 "$LACUNA" hart "$FIRMWARE/hello.elf"
says "hello from RV64GC: 2.50"
[[ $(wc -l <out.txt) == 1 && ! -s err.txt ]] || fail "lacuna hart printed more than the program did"
[[ $(ls) == $'err.txt\nout.txt' ]] || fail "lacuna hart wrote files without --out"

expect 42 "$LACUNA" hart "$FIRMWARE/exit_42.elf"
expect 0 "$LACUNA" hart "$FIRMWARE/command_line.elf" -- --first second
says "program --first second"
# The name and folder of the file and the environment have no effect on the simulation.
long=$(printf 'x%.0s' {1..200})
mkdir "$long"
cp "$FIRMWARE/command_line.elf" p
cp p "$long/$long.elf"
for command in "hart" "run --config tiny"; do
  expect 0 "$LACUNA" $command p --out one -- --first
  expect 0 "$LACUNA" $command "$long/$long.elf" --out two -- --first
  expect 0 env -C "$long" SOME_VARIABLE="$long" "$LACUNA" $command "$PWD/p" --out ../three -- --first
  for other in two three; do
    [[ $(run_value one run_hash) == "$(run_value $other run_hash)" ]] || fail "the run hash of lacuna $command depends on the file's name"
  done
  expect 0 "$LACUNA" $command p --out two -- --first second
  [[ $(run_value one run_hash) != "$(run_value two run_hash)" ]] || fail "the run hash of lacuna $command does not notice an argument"
done
rm -r one two three p "$long"

# The guest can handle the fault; the log contains the faulting address.
expect 7 "$LACUNA" hart "$FIRMWARE/unmapped.elf"
complains "0x40000000"

# Waiting for an event that occurs is no hang, however long it takes in simulated time.
expect 0 "$LACUNA" hart "$FIRMWARE/sleep_one_second.elf" --set sim.max_idle=1ms --out slept
says_time=$(run_value slept simulated_ps)
[[ ${#says_time} == 13 && $says_time == 1000* ]] || fail "slept for $says_time ps"

# All other waits end the run.
expect 125 "$LACUNA" hart "$FIRMWARE/wait_forever.elf"
complains "no event is left, and all that runs waits for another part"
complains "hart: waits for an interrupt at pc 0x8000000"
expect 124 "$LACUNA" hart "$FIRMWARE/loop_forever.elf" --max-time 1ms
complains "simulated time limit of 1.000 ms reached"
# A disabled interrupt line changes while the hart sleeps.
expect 125 "$LACUNA" hart "$FIRMWARE/masked_timer.elf"
complains "no event is left, and all that runs waits for another part"
complains "interrupt lines: timer 1, software 0"

# Only exit code 0 may be reported as 0.
expect 1 "$LACUNA" hart "$FIRMWARE/htif_exit_256.elf"
expect 1 "$LACUNA" hart "$FIRMWARE/htif_exit_2e32.elf"
