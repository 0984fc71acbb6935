#!/usr/bin/env bash
# Tests unhandled traps and mistakes that the guest repeats endlessly: the first cause is reported, and the log stays short.
source "$(dirname "$0")/common.sh"

# address PROGRAM SYMBOL: prints the address of the symbol.
address() { printf '0x%x' "0x$(riscv64-unknown-elf-nm "$FIRMWARE/$1.elf" | awk -v symbol="$2" '$3 == symbol {print $1}')"; }

# A run without a trap handler ends with an exit code that no program uses, and reports cause, location and value of the first
# trap.
expect 123 "$LACUNA" hart "$FIRMWARE/trap_loop.elf" --out illegal
complains "illegal instruction (mcause 0x2) at mepc 0x80000004, mtval 0x0: its handler at 0x0 cannot be fetched"
[[ $(run_value illegal ended_by) == "lost trap" ]] || fail "statistics.json does not say how the run ended"
expect 123 "$LACUNA" hart "$FIRMWARE/lost_trap_ecall.elf"
complains "environment call from M-mode (mcause 0xb) at mepc $(address lost_trap_ecall trap), mtval 0x0"
expect 123 "$LACUNA" hart "$FIRMWARE/lost_trap_pmp.elf"
complains "load access fault (mcause 0x5) at mepc $(address lost_trap_pmp trap), mtval $(address lost_trap_pmp protected)"
expect 123 "$LACUNA" run "$FIRMWARE/lost_trap_jump.elf" --config tiny
complains "instruction access fault (mcause 0x1) at mepc 0x0, mtval 0x0"

# A handler that traps on itself does so a million times per millisecond, but the log contains a few of the traps and their
# number.
expect 124 "$LACUNA" hart "$FIRMWARE/handler_faults.elf" --max-time 2ms --out faults
complains "simulated time limit of 2.000 ms reached"
complains "last trap: load access fault (mcause 0x5) at mepc $(address handler_faults handler), mtval 0x0"
grep -qE "mistakes of the guest: 1,999,[0-9]{3} failed accesses of the hart, 1,999,[0-9]{3} unmapped bus accesses" err.txt ||
  fail "no sum of the mistakes"
(($(wc -l <err.txt) < 50)) || fail "the log grows with the mistakes"
(($(wc -l <faults/log.txt) < 50)) || fail "log.txt grows with the mistakes"
grep -qE '"unmapped bus accesses": 1999[0-9]{3}' faults/statistics.json || fail "statistics.json does not count the mistakes"
expect 125 "$LACUNA" hart "$FIRMWARE/handler_faults.elf" --set sim.max_idle=1ms
complains "hung: no progress for 1.000 ms"
complains "last trap: load access fault (mcause 0x5) at mepc $(address handler_faults handler), mtval 0x0"

# Other mistakes of the guest, with and without --quiet, with and without the GPU.
for door in hart "run --config tiny" "run -q --config tiny"; do
  expect 0 "$LACUNA" $door "$FIRMWARE/guest_mistakes.elf"
  for kind in "refused register accesses" "unmapped bus accesses" "unknown finisher commands"; do
    complains "10,000 $kind"
  done
  complains "20,000 failed accesses of the hart"
  (($(wc -l <err.txt) < 100)) || fail "the log grows with the mistakes"
done
