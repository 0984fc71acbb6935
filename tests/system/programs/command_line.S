/* Prints the command line that semihosting returns (SYS_GET_CMDLINE, then SYS_WRITE0), and exits (SYS_EXIT). */
  .macro semihost operation, argument
  li a0, \operation
  la a1, \argument
  .option push
  .option norvc
  .balign 16
  slli x0, x0, 0x1f
  ebreak
  srai x0, x0, 7
  .option pop
  .endm

  .section .text.start, "ax"
  .globl _start
_start:
  semihost 0x15, block
  semihost 0x04, buffer
  semihost 0x18, reason
1:
  j 1b

  .data
  .balign 8
reason:
  .dword 0x20026 /* ADP_Stopped_ApplicationExit */
  .dword 0       /* exit code */
block:
  .dword buffer
  .dword 200
buffer:
  .zero 201
