/* A program to be debugged: calls, a changing global, a loop that only a debugger can end, an ebreak, a float. */
#include <stdint.h>
#include <stdio.h>

volatile uint64_t counter;
/* Placed by the linker at 0x80380000, so that clients without a symbol table can find it. */
extern volatile uint64_t go_on;
volatile uint64_t read_me = 77;
volatile double ratio = 0.5;

__attribute__((noinline)) uint64_t work(uint64_t value) {
  counter = counter + value;
  return counter * 2;
}

__attribute__((noinline)) void wait_for_debugger(void) {
  while (go_on == 0) {
  }
}

int main(void) {
  uint64_t sum = 0;
  for (uint64_t i = 1; i <= 5; ++i) sum += work(i);
  sum += read_me;
  ratio = ratio * 3;
  wait_for_debugger();
  printf("sum %llu counter %llu\n", (unsigned long long)sum, (unsigned long long)counter);
  return (int)go_on;
}
