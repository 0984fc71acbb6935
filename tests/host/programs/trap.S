# Trap entries of the self-test: one handler in C, entered directly or by the vector table. All registers that C code may
# change are saved on a dedicated stack, because user-mode code may trap with any stack pointer.
  .section .text.trap, "ax"
  .globl trap_direct
  .globl trap_vectored
  .globl run_in_user_mode

  .macro enter vector
  csrw mscratch, sp
  la sp, trap_stack_top - 272
  sd t0, 40(sp)
  li t0, \vector
  j trap_common
  .endm

  .balign 4
trap_direct:
  enter -1

  .balign 64
trap_vectored:
  .option push
  .option norvc
  j trap_direct
  j trap_direct
  j trap_direct
  j vector_3
  j trap_direct
  j trap_direct
  j trap_direct
  j vector_7
  j trap_direct
  j trap_direct
  j trap_direct
  j vector_11
  .option pop
vector_3:
  enter 3
vector_7:
  enter 7
vector_11:
  enter 11

trap_common:
  sd ra, 8(sp)
  sd gp, 24(sp)
  sd t1, 48(sp)
  sd t2, 56(sp)
  sd a0, 80(sp)
  sd a1, 88(sp)
  sd a2, 96(sp)
  sd a3, 104(sp)
  sd a4, 112(sp)
  sd a5, 120(sp)
  sd a6, 128(sp)
  sd a7, 136(sp)
  sd t3, 224(sp)
  sd t4, 232(sp)
  sd t5, 240(sp)
  sd t6, 248(sp)
  mv a1, a0
  mv a2, a7
  mv a0, t0
  call trap_handler
  # If trap_handler() returned nonzero, leaves user mode and returns to the caller of run_in_user_mode().
  bnez a0, leave_user_mode
  ld ra, 8(sp)
  ld gp, 24(sp)
  ld t0, 40(sp)
  ld t1, 48(sp)
  ld t2, 56(sp)
  ld a0, 80(sp)
  ld a1, 88(sp)
  ld a2, 96(sp)
  ld a3, 104(sp)
  ld a4, 112(sp)
  ld a5, 120(sp)
  ld a6, 128(sp)
  ld a7, 136(sp)
  ld t3, 224(sp)
  ld t4, 232(sp)
  ld t5, 240(sp)
  ld t6, 248(sp)
  csrr sp, mscratch
  mret

run_in_user_mode:
  addi sp, sp, -112
  sd ra, 0(sp)
  sd s0, 8(sp)
  sd s1, 16(sp)
  sd s2, 24(sp)
  sd s3, 32(sp)
  sd s4, 40(sp)
  sd s5, 48(sp)
  sd s6, 56(sp)
  sd s7, 64(sp)
  sd s8, 72(sp)
  sd s9, 80(sp)
  sd s10, 88(sp)
  sd s11, 96(sp)
  la t0, machine_stack
  sd sp, 0(t0)
  # MPP = U. U mode can be interrupted regardless of mstatus.MIE and MPIE.
  li t1, 3 << 11
  csrc mstatus, t1
  csrw mepc, a0
  mv a0, a1
  la sp, user_stack_top
  la ra, user_return
  mret
user_return:
  li a7, 93
  ecall

leave_user_mode:
  la t0, machine_stack
  ld sp, 0(t0)
  la t0, user_result
  ld a0, 0(t0)
  ld ra, 0(sp)
  ld s0, 8(sp)
  ld s1, 16(sp)
  ld s2, 24(sp)
  ld s3, 32(sp)
  ld s4, 40(sp)
  ld s5, 48(sp)
  ld s6, 56(sp)
  ld s7, 64(sp)
  ld s8, 72(sp)
  ld s9, 80(sp)
  ld s10, 88(sp)
  ld s11, 96(sp)
  addi sp, sp, 112
  # Returns in M mode without mret: the interrupt enable that the trap saved is not restored.
  ret

  .section .bss.trap, "aw", @nobits
  .balign 16
  .space 4096
trap_stack_top:
  .balign 16
  .space 4096
  .globl user_stack_top
user_stack_top:
machine_stack:
  .space 8
