# Debugger commands for hart_gdb_test, which checks the lines that the commands print.
set pagination off
set confirm off
set architecture riscv:rv64
set remotetimeout 600
target remote :PORT
printf "A pc=%#lx\n", $pc
break work
continue
printf "B a0=%lu counter=%lu\n", $a0, counter
continue
printf "C a0=%lu counter=%lu\n", $a0, counter
print $mstatus != 0
printf "D misa=%#lx priv-registers=%d\n", $misa, $mhartid
set $a0 = 100
delete
watch counter
continue
printf "E counter=%lu\n", counter
delete
hbreak *wait_for_debugger
rwatch read_me
continue
printf "F read=%lu\n", read_me
delete 4
continue
printf "G ratio=%g\n", ratio
x/1i $pc
stepi
stepi
printf "H still-inside=%d\n", $pc > (unsigned long)wait_for_debugger
set $ft0 = 2.5
printf "I ft0=%g\n", $ft0
delete
# The endless loop; the test interrupts it.
continue
printf "J interrupted=%d\n", $pc >= (unsigned long)wait_for_debugger && $pc < (unsigned long)wait_for_debugger + 64
set var go_on = 3
printf "K go_on=%lu\n", go_on
continue
