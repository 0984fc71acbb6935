/* Tests every interrupt line of the platform, one source after the other. Each trap is recorded with the state that the handler
 * finds, so that runs with different quanta can be compared. The program also checks conditions that hold in all correct runs.
 *
 * The program exits normally or, with an argument, sleeps forever, so that other programs in the same simulation continue. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "firmware/driver/hsa.h"
#include "include/lacuna/abi/gpu_registers.h"
#include "include/lacuna/abi/memory_map.h"
#include "tests/host/programs/check.h"

unsigned failures;

enum { SOFTWARE = 3, TIMER = 7, EXTERNAL = 11, MARK = 99 };
enum { MIE = 8 }; /* bit of mstatus */

#define REGISTER(type, address) (*(volatile type*)(address))
#define MSIP REGISTER(uint32_t, LACUNA_CLINT_BASE)
#define MTIMECMP REGISTER(uint64_t, LACUNA_CLINT_BASE + 0x4000)
#define MTIME REGISTER(uint64_t, LACUNA_CLINT_BASE + 0xbff8)
#define PRIORITY(source) REGISTER(uint32_t, LACUNA_PLIC_BASE + 4 * (source))
#define PENDING REGISTER(uint32_t, LACUNA_PLIC_BASE + 0x1000)
#define ENABLE REGISTER(uint32_t, LACUNA_PLIC_BASE + 0x2000)
#define THRESHOLD REGISTER(uint32_t, LACUNA_PLIC_BASE + 0x200000)
#define CLAIM REGISTER(uint32_t, LACUNA_PLIC_BASE + 0x200004)
#define UART ((volatile uint8_t*)LACUNA_UART_BASE)
enum { RBR = 0, THR = 0, IER = 1, IIR = 2, FCR = 2, MCR = 4, LSR = 5, MSR = 6, SCR = 7 };
enum { RECEIVED = 1, TRANSMITTED = 2, LINE_STATUS = 4, MODEM = 8 }; /* bits of IER */
enum { LOOPBACK = 16 };                                             /* bit of MCR */
#define GPU(name) REGISTER(uint32_t, LACUNA_GPU_MMIO_BASE + LACUNA_GPU_##name)

/* Recorded traps, which the test reads and compares. */
enum { MOST_TRAPS = 400 };
struct trap_entry {
  uint64_t cause;
  uint64_t pc;
  uint64_t instructions;
  uint64_t cycles;
  uint64_t time;
  uint64_t found;
};
struct trap_entry trap_log[MOST_TRAPS];
uint64_t trap_count;
uint64_t finished;

static volatile uint64_t traps; /* number of traps since the last mark */
static unsigned timer_rounds;
static unsigned timer_period;

static void record(uint64_t cause, uint64_t pc, uint64_t found) {
  if (trap_count == MOST_TRAPS) return;
  trap_log[trap_count++] = (struct trap_entry){cause, pc, CSR_READ(minstret), CSR_READ(mcycle), CSR_READ(time), found};
}

static void mark(unsigned number) {
  record(MARK, number, 0);
  traps = 0;
}

/* Acknowledges the UART's interrupt by the cause in IIR, and returns all data that were read. */
static uint64_t serve_uart(void) {
  const uint8_t identification = UART[IIR] & 15;
  switch (identification) {
    case 0x6:
      return identification | (uint64_t)UART[LSR] << 8;
    case 0x4:
    case 0xc:
      return identification | (uint64_t)UART[RBR] << 8;
    case 0x0:
      return identification | (uint64_t)UART[MSR] << 8;
    default:
      return identification; /* the read has acknowledged it */
  }
}

static uint64_t serve_gpu(void) {
  const uint32_t status = GPU(INTERRUPT_STATUS);
  GPU(INTERRUPT_STATUS) = status;
  return status;
}

static uint64_t serve_external(void) {
  const uint32_t source = CLAIM;
  uint64_t found = (uint64_t)source << 56;
  if (source == LACUNA_IRQ_UART) found |= serve_uart();
  if (source == LACUNA_IRQ_GPU) found |= serve_gpu();
  if (source != 0) CLAIM = source;
  return found;
}

static void __attribute__((interrupt("machine"), aligned(4))) handler(void) {
  const uint64_t cause = CSR_READ(mcause);
  uint64_t found = ~0ull;
  ++traps;
  switch (cause & 0xff) {
    case SOFTWARE:
      found = MSIP;
      MSIP = 0;
      break;
    case TIMER:
      found = MTIME >= MTIMECMP;
      MTIMECMP = timer_rounds-- > 1 ? MTIMECMP + timer_period : ~0ull;
      break;
    default:
      found = serve_external();
      break;
  }
  record(cause, CSR_READ(mepc), found);
  /* A cause that is not acknowledged must not repeat forever. */
  if (trap_count == MOST_TRAPS) CSR_WRITE(mie, 0);
}

static void spin(unsigned rounds) {
  while (rounds-- != 0) __asm__ volatile("" ::: "memory");
}
static void interrupts_on(void) { CSR_SET(mstatus, MIE); }
static void interrupts_off(void) { CSR_CLEAR(mstatus, MIE); }
static int external_pending(void) { return (CSR_READ(mip) >> EXTERNAL & 1) != 0; }
static int timer_pending(void) { return (CSR_READ(mip) >> TIMER & 1) != 0; }

static void software_interrupts(void) {
  mark(1);
  for (unsigned i = 0; i < 3; ++i) {
    MSIP = 1;
    __asm__ volatile("nop\n nop");
    CHECK_EQUAL(traps, i + 1);
  }
  interrupts_off();
  MSIP = 1;
  CHECK_EQUAL(CSR_READ(mip) & 1 << SOFTWARE, 1 << SOFTWARE);
  MSIP = 0;
  CHECK_EQUAL(CSR_READ(mip) & 1 << SOFTWARE, 0);
  interrupts_on();
  CHECK_EQUAL(traps, 3);
}

static void timer_interrupts(void) {
  /* Timer interrupts while the program computes. They occur between the same two instructions in each run. */
  for (unsigned round = 0; round < 4; ++round) {
    mark(10 + round);
    timer_rounds = 5;
    timer_period = 2 + 3 * round;
    MTIMECMP = MTIME + 3;
    spin(5000);
    CHECK_EQUAL(traps, 5);
  }
  /* Timer interrupts while the program sleeps, and while it polls mip. */
  mark(20);
  timer_rounds = 1;
  MTIMECMP = MTIME + 50;
  __asm__ volatile("wfi");
  CHECK_EQUAL(traps, 1);
  interrupts_off();
  timer_rounds = 1;
  MTIMECMP = MTIME + 7;
  unsigned looks = 0;
  while (!timer_pending()) ++looks;
  record(MARK, looks, MTIME);
  interrupts_on();
  CHECK_EQUAL(traps, 2);
}

static void check_time(void) {
  const uint64_t before = MTIME, time = CSR_READ(time), after = MTIME;
  CHECK_EQUAL(before <= time && time <= after, 1);
}

static void writes_of_mtime(void) {
  static const uint64_t values[] = {0, 5, 0x1000000, 1ull << 40, ~0ull - 1000, 3};
  const uint64_t at_first = MTIME;
  check_time();
  interrupts_off();
  for (unsigned i = 0; i < sizeof values / sizeof values[0]; ++i) {
    mark(30 + i);
    timer_rounds = 1;
    MTIMECMP = ~0ull;
    spin(100 + 37 * i);
    MTIME = values[i];
    CHECK_EQUAL(MTIME - values[i] < 10, 1);
    check_time();
    /* The timer is first far in the future, then due because the program advances the time, then in the future again because
     * the program sets the time back. */
    MTIMECMP = values[i] + 500;
    CHECK_EQUAL(timer_pending(), 0);
    MTIME = values[i] + 500;
    CHECK_EQUAL(timer_pending(), 1);
    interrupts_on();
    interrupts_off();
    CHECK_EQUAL(traps, 1);
    MTIMECMP = values[i] + 500;
    CHECK_EQUAL(timer_pending(), 1);
    MTIME = values[i] + 490;
    CHECK_EQUAL(timer_pending(), 0);
    timer_rounds = 1;
    interrupts_on();
    spin(100);
    CHECK_EQUAL(traps, 1);
    spin(2000);
    CHECK_EQUAL(traps, 2);
    interrupts_off();
  }
  /* Write each half of the time. */
  REGISTER(uint32_t, LACUNA_CLINT_BASE + 0xbffc) = 7;
  CHECK_EQUAL(MTIME >> 32, 7);
  check_time();
  MTIME = at_first;
  check_time();
  interrupts_on();
}

static void uart_transmitter(void) {
  mark(40);
  UART[IER] = TRANSMITTED; /* the transmitter is empty: one interrupt */
  spin(10);
  CHECK_EQUAL(traps, 1);
  UART[THR] = '.';
  spin(10);
  CHECK_EQUAL(traps, 2);
  spin(2000);
  CHECK_EQUAL(traps, 2);
  UART[IER] = 0;
  /* Polling: a read of IIR withdraws the request, and the gateway must not latch it again at completion. */
  interrupts_off();
  for (unsigned between = 0; between < 4; ++between) {
    mark(41 + between);
    UART[IER] = TRANSMITTED;
    CHECK_EQUAL(external_pending(), 1);
    CHECK_EQUAL(CLAIM, LACUNA_IRQ_UART);
    CHECK_EQUAL(external_pending(), 0);
    CHECK_EQUAL(UART[IIR] & 15, 2);
    if (between & 1) UART[SCR] = 0x55;
    if (between & 2) spin(3000);
    CLAIM = LACUNA_IRQ_UART;
    CHECK_EQUAL(PENDING, 0);
    CHECK_EQUAL(CLAIM, 0);
    CHECK_EQUAL(external_pending(), 0);
    UART[IER] = 0;
  }
  /* A claim lowers the hart's interrupt line before the next instruction. */
  mark(45);
  UART[IER] = TRANSMITTED;
  CHECK_EQUAL(CLAIM, LACUNA_IRQ_UART);
  interrupts_on();
  __asm__ volatile("nop\n nop\n nop");
  CHECK_EQUAL(traps, 0);
  UART[IER] = 0;
  CLAIM = LACUNA_IRQ_UART;
  spin(10);
  CHECK_EQUAL(traps, 0);
}

static void uart_receiver(void) {
  /* Input from the console becomes available when the UART polls it. */
  mark(50);
  UART[IER] = RECEIVED;
  for (unsigned i = 0; i < 400000 && traps < 4; ++i) __asm__ volatile("" ::: "memory");
  UART[IER] = 0;
  CHECK_EQUAL(traps, 4);
  /* Loopback mode without FIFO: the second character overruns the first. */
  mark(51);
  UART[MCR] = LOOPBACK;
  UART[IER] = RECEIVED | LINE_STATUS;
  UART[THR] = 'a';
  spin(10);
  CHECK_EQUAL(traps, 1);
  interrupts_off();
  UART[THR] = 'b';
  UART[THR] = 'c';
  CHECK_EQUAL(external_pending(), 1);
  interrupts_on(); /* line status first, then the character */
  spin(10);
  CHECK_EQUAL(traps, 3);
  /* Reads that deassert the line: LSR, RBR, MSR. */
  interrupts_off();
  UART[IER] = LINE_STATUS;
  UART[THR] = 'd';
  UART[THR] = 'e';
  THRESHOLD = 7; /* no interrupt of the hart, but a pending source */
  CHECK_EQUAL(CLAIM, LACUNA_IRQ_UART);
  (void)UART[LSR];
  CLAIM = LACUNA_IRQ_UART;
  CHECK_EQUAL(CLAIM, 0);
  UART[IER] = RECEIVED;
  CHECK_EQUAL(CLAIM, LACUNA_IRQ_UART);
  CHECK_EQUAL(UART[RBR], 'e');
  CLAIM = LACUNA_IRQ_UART;
  CHECK_EQUAL(CLAIM, 0);
  UART[IER] = MODEM;
  UART[MCR] = LOOPBACK | 2;
  CHECK_EQUAL(CLAIM, LACUNA_IRQ_UART);
  (void)UART[MSR];
  CLAIM = LACUNA_IRQ_UART;
  CHECK_EQUAL(CLAIM, 0);
  THRESHOLD = 0;
  interrupts_on();
  CHECK_EQUAL(traps, 3);
  /* Modem lines, with interrupts. */
  mark(52);
  UART[MCR] = LOOPBACK;
  spin(10);
  CHECK_EQUAL(traps, 1);
  UART[IER] = 0;
  UART[MCR] = 0;
  (void)UART[MSR];
}

static void masks_of_the_plic(void) {
  mark(60);
  ENABLE = 0;
  UART[IER] = TRANSMITTED;
  spin(10);
  CHECK_EQUAL(traps, 0);
  THRESHOLD = 7;
  ENABLE = 1 << LACUNA_IRQ_UART;
  CHECK_EQUAL(traps, 0);
  THRESHOLD = 0;
  __asm__ volatile("nop");
  CHECK_EQUAL(traps, 1);
  UART[IER] = 0;
}

static volatile struct {
  hsa_queue queue __attribute__((aligned(4096)));
  uint8_t ring[8][HSA_PACKET_BYTES] __attribute__((aligned(4096)));
  hsa_signal signal __attribute__((aligned(4096)));
  uint64_t mailbox;
}* const shared = (volatile void*)LACUNA_VRAM_BASE;
enum { SHARED_GPU_ADDRESS = 0x100000 };
#define GPU_ADDRESS(member) (SHARED_GPU_ADDRESS + offsetof(__typeof__(*shared), member))

static void ring(uint64_t index) { REGISTER(uint64_t, LACUNA_GPU_MMIO_BASE + LACUNA_DOORBELL_OFFSET) = index; }

static void gpu_interrupts(void) {
  mark(70);
  CHECK_EQUAL(GPU(MAGIC), LACUNA_GPU_MAGIC_VALUE);
  GPU(VM_VA_LO) = SHARED_GPU_ADDRESS;
  GPU(VM_PA_LO) = (uint32_t)LACUNA_VRAM_BASE;
  GPU(VM_PA_HI) = (uint32_t)(LACUNA_VRAM_BASE >> 32);
  GPU(VM_SIZE_LO) = 0x10000;
  GPU(VM_FLAGS) = LACUNA_VM_READ | LACUNA_VM_WRITE;
  GPU(VM_COMMAND) = LACUNA_VM_MAP;
  CHECK_EQUAL(GPU(VM_STATUS), LACUNA_VM_OK);
  shared->queue.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
  shared->queue.base_address = GPU_ADDRESS(ring);
  shared->queue.size = 8;
  shared->queue.read_dispatch_id_field_base_byte_offset = offsetof(hsa_queue, read_dispatch_id);
  shared->queue.queue_properties = 2;
  for (unsigned i = 0; i < 8; ++i) *(volatile uint16_t*)shared->ring[i] = HSA_PACKET_INVALID;
  shared->signal.kind = HSA_SIGNAL_KIND_USER;
  shared->signal.event_mailbox = GPU_ADDRESS(mailbox);
  shared->signal.event_id = 1;
  GPU(QUEUE_SELECT) = 0;
  GPU(QUEUE_AQL_LO) = GPU_ADDRESS(queue);
  GPU(QUEUE_COMMAND) = LACUNA_QUEUE_CREATE;
  CHECK_EQUAL(GPU(QUEUE_STATUS), LACUNA_QUEUE_ACTIVE);
  GPU(INTERRUPT_ENABLE) = LACUNA_INTERRUPT_SIGNAL | LACUNA_INTERRUPT_QUEUE_ERROR;

  /* Barrier packets with a signal, which complete while the program sleeps, while it computes, and while it polls. */
  for (unsigned i = 0; i < 6; ++i) {
    mark(71 + i);
    interrupts_off();
    shared->signal.value = 1;
    volatile hsa_barrier_packet* packet = (volatile hsa_barrier_packet*)shared->ring[i];
    packet->completion_signal = GPU_ADDRESS(signal);
    packet->header = HSA_HEADER(HSA_PACKET_BARRIER_AND, 0, 0, 0);
    shared->queue.write_dispatch_id = i + 1;
    ring(i);
    switch (i % 3) {
      case 0:
        __asm__ volatile("wfi");
        break;
      case 1:
        /* Effects of the GPU become visible at the end of the hart's quantum, which may be much longer. */
        do spin(5000);
        while (!external_pending());
        break;
      default:
        while (shared->signal.value != 0 || !external_pending()) {
        }
        break;
    }
    CHECK_EQUAL(shared->signal.value, 0);
    CHECK_EQUAL(external_pending(), 1);
    /* The device's mask deasserts and reasserts its line; the request in the gateway remains. */
    GPU(INTERRUPT_ENABLE) = 0;
    CHECK_EQUAL(GPU(INTERRUPT_STATUS), LACUNA_INTERRUPT_SIGNAL);
    CHECK_EQUAL(CLAIM, LACUNA_IRQ_GPU);
    CLAIM = LACUNA_IRQ_GPU;
    CHECK_EQUAL(external_pending(), 0);
    GPU(INTERRUPT_ENABLE) = LACUNA_INTERRUPT_SIGNAL | LACUNA_INTERRUPT_QUEUE_ERROR;
    CHECK_EQUAL(external_pending(), 1);
    interrupts_on();
    __asm__ volatile("nop");
    CHECK_EQUAL(traps, 1);
  }
  /* Two simultaneous sources: the higher priority is served first. */
  for (unsigned uart_first = 0; uart_first < 2; ++uart_first) {
    mark(80 + uart_first);
    interrupts_off();
    PRIORITY(LACUNA_IRQ_UART) = 1 + uart_first;
    PRIORITY(LACUNA_IRQ_GPU) = 2 - uart_first;
    *(volatile uint16_t*)shared->ring[6] = 0x3f; /* invalid packet type */
    shared->queue.write_dispatch_id = 7;
    ring(6);
    __asm__ volatile("wfi");
    UART[IER] = TRANSMITTED;
    interrupts_on();
    spin(10);
    CHECK_EQUAL(traps, 2);
    UART[IER] = 0;
    if (uart_first) break;
    /* Replace the failed queue by a new queue that begins at the same packet. */
    GPU(QUEUE_COMMAND) = LACUNA_QUEUE_DESTROY;
    shared->queue.read_dispatch_id = 6;
    shared->queue.write_dispatch_id = 6;
    GPU(QUEUE_COMMAND) = LACUNA_QUEUE_CREATE;
    CHECK_EQUAL(GPU(QUEUE_STATUS), LACUNA_QUEUE_ACTIVE);
  }
}

int main(int argc, char** argv) {
  (void)argv;
  CSR_WRITE(mtvec, (uint64_t)handler);
  CSR_WRITE(mie, 1 << SOFTWARE | 1 << TIMER | 1 << EXTERNAL);
  PRIORITY(LACUNA_IRQ_UART) = 1;
  PRIORITY(LACUNA_IRQ_GPU) = 1;
  ENABLE = 1 << LACUNA_IRQ_UART | 1 << LACUNA_IRQ_GPU;
  THRESHOLD = 0;
  interrupts_on();
  software_interrupts();
  timer_interrupts();
  writes_of_mtime();
  uart_transmitter();
  uart_receiver();
  masks_of_the_plic();
  ENABLE = 1 << LACUNA_IRQ_UART | 1 << LACUNA_IRQ_GPU;
  gpu_interrupts();
  mark(90);
  finished = failures == 0;
  if (argc < 2) {
    for (uint64_t i = 0; i < trap_count; ++i)
      printf("%3llu cause %llx pc %llx instructions %llu cycles %llu found %llx\n", (unsigned long long)i,
             (unsigned long long)trap_log[i].cause, (unsigned long long)trap_log[i].pc,
             (unsigned long long)trap_log[i].instructions, (unsigned long long)trap_log[i].cycles,
             (unsigned long long)trap_log[i].found);
    return failures != 0;
  }
  CSR_WRITE(mie, 0);
  for (;;) __asm__ volatile("wfi");
}
