/* The smallest program: shows that start-up, standard output, the heap, floating point and the exit code work. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  double* values = malloc(4 * sizeof *values);
  if (values == NULL || errno != 0) return 1;
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += values[i] = 0.25 * (i + 1);
  printf("hello from RV64GC: %.2f\n", sum);
  free(values);
  return sum == 2.5 ? 0 : 2;
}
