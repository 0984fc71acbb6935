/* Exits through HTIF with exit code CODE. */
  .section .text.start, "ax"
  .globl _start
_start:
  la t0, tohost
  li t1, (CODE << 1) | 1
  sd t1, 0(t0)
1:
  j 1b

  .data
  .balign 8
  .globl tohost
tohost:
  .dword 0
