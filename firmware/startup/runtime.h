/* Program exit and traps. */
#ifndef FIRMWARE_STARTUP_RUNTIME_H
#define FIRMWARE_STARTUP_RUNTIME_H

#include <stdint.h>

/* Ends the simulation: code 0 = pass. Writes the test finisher, then HTIF's tohost. Does not return. */
void machine_finish(int code);

/* Exit code of a program that an unexpected trap has ended. */
#define MACHINE_TRAP_EXIT_CODE 119

/* Called by the trap entry with mcause, mepc, mtval and the saved argument registers (a0 first); returns the pc to resume at.
 */
uint64_t trap_handle(uint64_t cause, uint64_t pc, uint64_t value, uint64_t* argument_registers);

/* Prints an unexpected trap and ends the program. */
void trap_fatal(uint64_t cause, uint64_t pc, uint64_t value);

/* RISC-V semihosting call; -1 if no simulator or debugger handles it. */
long semihosting_call(long operation, const void* parameters);

/* Copies the command line given to the simulator (semihosting SYS_GET_CMDLINE) to `buffer`; empty if there is none. */
void machine_command_line(char* buffer, uint64_t size);

#endif
