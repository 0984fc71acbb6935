/* Ends at its first trap (ecall, PMP violation, or jump to address 0), because the trap handler's address, 0, is unmapped. */
  .section .text.start, "ax"
  .globl _start
_start:
  csrw mtvec, zero
#if defined(BY_ECALL)
trap:
  ecall
#elif defined(BY_PMP)
  /* A locked PMP entry without permissions, for the 8 bytes from `protected` on. */
  la a0, protected
  srli t0, a0, 2
  csrw pmpaddr0, t0
  li t0, 0x98
  csrw pmpcfg0, t0
trap:
  ld a1, 0(a0)
#elif defined(BY_JUMP)
  jr zero
#endif
1:
  j 1b
  .balign 8
protected:
  .dword 0
