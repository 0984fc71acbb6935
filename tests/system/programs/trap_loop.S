/* An illegal instruction without a trap handler: the hart traps to address 0, which is unmapped, and traps there forever. */
  .section .text.start, "ax"
  .globl _start
_start:
  csrw mtvec, zero
  .half 0, 0
