#!/usr/bin/env bash
# Checks that runs under a debugger end like other runs, and that the debugger receives the exit status.
source "$(dirname "$0")/common.sh"

# debug CODE PROGRAM OPTIONS...: continues to the end of the run under GDB; lacuna's exit code must be CODE. GDB's output is in
# out.txt, lacuna's messages in err.txt.
debug() {
  local wanted=$1 program=$2 code=0 port
  shift 2
  rm -f err.txt  # written by the previous run, whose port is closed
  "$LACUNA" hart "$FIRMWARE/$program.elf" --gdb 0 "$@" >/dev/null 2>err.txt </dev/null &
  local simulator=$!
  until port=$(sed -n 's/.*target remote 127.0.0.1:\([0-9]\+\)$/\1/p' err.txt 2>/dev/null) && [[ -n $port ]]; do
    kill -0 $simulator 2>/dev/null || fail "lacuna ended before a debugger came"
    sleep 0.05
  done
  # By default, GDB gives up after two seconds without a response, which is too short for a busy machine.
  timeout "$time_limit" "$GDB" -nx -nh -batch -ex "set remotetimeout $time_limit" -ex "target remote 127.0.0.1:$port" \
    "${commands[@]/#/-ex=}" "$FIRMWARE/$program.elf" >out.txt 2>&1 </dev/null || true
  # If GDB ended first, the simulator would wait for another debugger.
  grep -q "exited with code" out.txt || { kill $simulator; fail "GDB has not seen the end of $program"; }
  wait $simulator || code=$?
  [[ $code == "$wanted" ]] || fail "lacuna hart $program under GDB ended with $code, not $wanted"
}

# GDB prints exit codes in octal.
commands=(continue)
debug 42 exit_42
says "exited with code 052"
debug 1 htif_exit_256
says "exited with code 01]"
debug 124 loop_forever --max-time 1ms
says "lacuna: simulated time limit of 1.000 ms reached"
says "exited with code 0174"
# The hart waits in wfi while a disabled interrupt line changes.
debug 125 masked_timer --set sim.max_idle=1ms
says "hung"
says "exited with code 0175"

# The registers describe the trap that could not be handled.
commands=(continue "printf \"cause %lu epc 0x%lx\\n\", \$mcause, \$mepc" "print/x \$pmpaddr15" continue)
debug 123 lost_trap_ecall
says "SIGSEGV"
says "cause 11 epc 0x80000004"
says "\$1 = 0x0"
says "exited with code 0173"

# If the port is in use, a single line reports this.
"$LACUNA" hart "$FIRMWARE/exit_42.elf" --gdb 0 >/dev/null 2>first.txt </dev/null &
first=$!
until port=$(sed -n 's/.*target remote 127.0.0.1:\([0-9]\+\)$/\1/p' first.txt) && [[ -n $port ]]; do
  kill -0 $first 2>/dev/null || fail "lacuna ended before a debugger came"
  sleep 0.05
done
code=0
"$LACUNA" hart "$FIRMWARE/exit_42.elf" --gdb "$port" >out.txt 2>err.txt </dev/null || code=$?
kill $first
wait $first || true
[[ $code == 2 ]] || fail "a taken port gave $code, not 2"
[[ $(wc -l <err.txt) == 1 ]] || fail "a port in use is not reported in one line"
complains "lacuna: --gdb $port: GDB stub: cannot listen on 127.0.0.1:$port"
