/* Entry of every firmware program, and the trap entry.
 *
 * The hart starts in M mode with interrupts off. Hart 0 runs the program; any other hart parks. */
  .section .text.start, "ax"
  .globl _start
_start:
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  csrr t0, mhartid
  bnez t0, park

  la t0, trap_stack_top
  csrw mscratch, t0
  la t0, trap_entry
  csrw mtvec, t0
  csrw mie, zero

  /* Floating point: mstatus.FS = initial, rounding to nearest, no flags. */
  li t0, 0x2000
  csrs mstatus, t0
  csrw fcsr, zero

  la sp, __stack_top
  la tp, __tls_base

  la t0, __bss_start
  la t1, __bss_end
1:
  bgeu t0, t1, 2f
  sd zero, 0(t0)
  addi t0, t0, 8
  j 1b
2:
  li a0, 0
  li a1, 0
  call main
  call exit

park:
  wfi
  j park

/* Saves the registers that a C function may change, calls trap_handle(cause, epc, value, registers) and resumes at the pc
 * that it returns. Floating-point registers are saved too: handlers are ordinary C. Traps use a separate stack, so that a bad stack
 * pointer can still be reported: mscratch holds the top of that stack outside of the handler, and 0 inside. */
  .macro integer_registers op
  \op ra, 0(sp)
  \op t0, 8(sp)
  \op t1, 16(sp)
  \op t2, 24(sp)
  \op a0, 32(sp)
  \op a1, 40(sp)
  \op a2, 48(sp)
  \op a3, 56(sp)
  \op a4, 64(sp)
  \op a5, 72(sp)
  \op a6, 80(sp)
  \op a7, 88(sp)
  \op t3, 96(sp)
  \op t4, 104(sp)
  \op t5, 112(sp)
  \op t6, 120(sp)
  .endm
  .macro float_registers op
  \op ft0, 128(sp)
  \op ft1, 136(sp)
  \op ft2, 144(sp)
  \op ft3, 152(sp)
  \op ft4, 160(sp)
  \op ft5, 168(sp)
  \op ft6, 176(sp)
  \op ft7, 184(sp)
  \op fa0, 192(sp)
  \op fa1, 200(sp)
  \op fa2, 208(sp)
  \op fa3, 216(sp)
  \op fa4, 224(sp)
  \op fa5, 232(sp)
  \op fa6, 240(sp)
  \op fa7, 248(sp)
  \op ft8, 256(sp)
  \op ft9, 264(sp)
  \op ft10, 272(sp)
  \op ft11, 280(sp)
  .endm

  .text
  .globl trap_entry
  .balign 4
trap_entry:
  csrrw sp, mscratch, sp
  beqz sp, trap_in_handler
  addi sp, sp, -304
  integer_registers sd
  float_registers fsd
  frcsr t0
  sd t0, 288(sp)
  csrr t0, mscratch
  sd t0, 296(sp)
  csrw mscratch, zero
  csrr a0, mcause
  csrr a1, mepc
  csrr a2, mtval
  addi a3, sp, 32
  call trap_handle
  csrw mepc, a0
  ld t0, 296(sp)
  csrw mscratch, t0
  ld t0, 288(sp)
  fscsr t0
  float_registers fld
  integer_registers ld
  addi sp, sp, 304
  csrrw sp, mscratch, sp
  mret

trap_in_handler:
  la sp, trap_stack_top
  csrr a0, mcause
  csrr a1, mepc
  csrr a2, mtval
  call trap_fatal

  .section .bss.trap_stack, "aw", @nobits
  .balign 16
trap_stack:
  .zero 8192
trap_stack_top:

  .text

/* long semihosting_call(long operation, const void* parameters): the three-instruction sequence of the RISC-V semihosting
 * specification. Without semihosting, ebreak traps; trap_handle knows the address and makes the call return -1. */
  .globl semihosting_call
  .globl semihosting_ebreak
  .balign 16
semihosting_call:
  .option push
  .option norvc
  slli x0, x0, 0x1f
semihosting_ebreak:
  ebreak
  srai x0, x0, 7
  .option pop
  ret
