/* Without a trap handler (mtvec 0, where nothing is) the first trap is the last: by ecall, by PMP, or by a jump to nowhere. */
  .section .text.start, "ax"
  .globl _start
_start:
  csrw mtvec, zero
#if defined(BY_ECALL)
trap:
  ecall
#elif defined(BY_PMP)
  /* Locked, 8 bytes from `protected` on, no rights. */
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
