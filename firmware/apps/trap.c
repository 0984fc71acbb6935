/* Loads from an unmapped address: the trap handler must print cause, pc and address and end with MACHINE_TRAP_EXIT_CODE. With
 * the argument "stack", stores through an invalid stack pointer instead. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "startup/runtime.h"

int main(void) {
  char line[256];
  machine_command_line(line, sizeof line);
  printf("about to trap\n");
  if (strstr(line, " stack") != NULL) __asm__ volatile("li sp, 16\n\tsd ra, 0(sp)");
  return (int)*(volatile uint32_t*)0x40000000u;
}
