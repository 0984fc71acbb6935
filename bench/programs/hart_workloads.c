/* Workloads of hart_bench. Each prints "begin <name>" and "end <name>", between which the host measures, and checks its result.
 */
#include <semihost.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void begin(const char* name) {
  sys_semihost_write0("begin ");
  sys_semihost_write0(name);
}
static void end(const char* name, int correct) {
  sys_semihost_write0("end ");
  sys_semihost_write0(name);
  if (!correct) exit(1);
}

/* Branches and byte stores. */
static unsigned sieve(void) {
  static uint8_t composite[65536];
  unsigned primes = 0;
  memset(composite, 0, sizeof composite);
  for (unsigned i = 2; i < sizeof composite; ++i) {
    if (composite[i]) continue;
    ++primes;
    for (unsigned j = 2 * i; j < sizeof composite; j += i) composite[j] = 1;
  }
  return primes;
}

/* Loads, stores, data-dependent branches. */
static int shell_sort(void) {
  static uint32_t keys[8192];
  const int count = sizeof keys / sizeof keys[0];
  uint32_t random = 1;
  for (int i = 0; i < count; ++i) keys[i] = random = random * 1664525 + 1013904223;
  for (int gap = count / 2; gap > 0; gap /= 2) {
    for (int i = gap; i < count; ++i) {
      const uint32_t key = keys[i];
      int j = i;
      for (; j >= gap && keys[j - gap] > key; j -= gap) keys[j] = keys[j - gap];
      keys[j] = key;
    }
  }
  for (int i = 1; i < count; ++i) {
    if (keys[i - 1] > keys[i]) return 0;
  }
  return 1;
}

/* Calls and returns. */
static __attribute__((noinline)) unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

/* Typical operations of system programs: records, strings, switches, division. */
struct record {
  struct record* next;
  int kind;
  int value;
  char name[32];
};

static __attribute__((noinline)) int classify(const struct record* r) {
  switch (r->kind) {
    case 0:
      return r->value + 1;
    case 1:
      return r->value * 3;
    case 2:
      return r->value / 7;
    case 3:
      return r->value % 5;
    default:
      return -1;
  }
}

static int records(void) {
  static struct record pool[64];
  static const char template_name[] = "A STRING IN A RECORD, 00";
  int sum = 0;
  for (int round = 0; round < 2000; ++round) {
    struct record* head = NULL;
    for (int i = 0; i < 64; ++i) {
      struct record* r = &pool[i];
      strcpy(r->name, template_name);
      r->name[22] = (char)('0' + i / 10 % 10);
      r->name[23] = (char)('0' + i % 10);
      r->kind = i % 5;
      r->value = round + i;
      r->next = head;
      head = r;
    }
    for (const struct record* r = head; r != NULL; r = r->next) {
      sum += classify(r);
      if (r->next != NULL && strcmp(r->name, r->next->name) <= 0) return 0;
    }
  }
  return sum;
}

/* Double precision with fused multiply-add. */
static double matrix(void) {
  static double a[48][48], b[48][48], c[48][48];
  for (int i = 0; i < 48; ++i) {
    for (int j = 0; j < 48; ++j) {
      a[i][j] = i + j;
      b[i][j] = i - j;
      c[i][j] = 0;
    }
  }
  for (int i = 0; i < 48; ++i) {
    for (int j = 0; j < 48; ++j) {
      for (int k = 0; k < 48; ++k) c[i][j] = __builtin_fma(a[i][k], b[k][j], c[i][j]);
    }
  }
  return c[47][0];
}

int main(void) {
  int correct = 1;
  begin("sieve");
  for (int i = 0; i < 120; ++i) correct &= sieve() == 6542;
  end("sieve", correct);
  begin("sort");
  for (int i = 0; i < 40; ++i) correct &= shell_sort();
  end("sort", correct);
  begin("calls");
  correct &= fibonacci(32) == 2178309;
  end("calls", correct);
  begin("records");
  for (int i = 0; i < 5; ++i) correct &= records() != 0;
  end("records", correct);
  begin("matrix");
  for (int i = 0; i < 30; ++i) correct &= matrix() == 88736.0;
  end("matrix", correct);
  return 0;
}
