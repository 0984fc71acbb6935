/* The first instruction of the trap handler faults, so the hart traps forever. */
  .section .text.start, "ax"
  .globl _start
_start:
  la t0, handler
  csrw mtvec, t0
  .balign 4
handler:
  lw a0, 0(zero)
