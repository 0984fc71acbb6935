// Tests printf in kernels. printf.sh compares the output after sorting, because wavefronts print in any order.
#include "../check.h"

__global__ void formats(int number, double real, const char* text) {
  if (threadIdx.x != 0) return;
  printf("no arguments\n");
  printf("d %d %5d %-5d| %05d %+d\n", number, number, number, number, number);
  printf("u %u x %x X %X o %o c %c\n", 4000000000u, 0xbeefu, 0xbeefu, 8u, 'z');
  printf("ld %ld lu %lu llx %llx\n", -1234567890123l, 9876543210987ul, 0xfedcba9876543210ull);
  printf("f %f .3f %.3f e %e g %g\n", real, real, real, real);
  // HIP 5.2.3 loses the text after a padded string, so a padded string must be the last argument.
  printf("s <%s> <%10s>\n", "literal", "right");
  printf("s <%s> <%-10s>\n", "literal", "left");
  printf("given %s\n", text);
  printf("100%%\n");
  printf("many %d %d %d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
}

__global__ void every_lane() {
  if (threadIdx.x % 2 == 1) printf("block %2d thread %3d\n", static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x));
}

__global__ void in_loop(int* returned) {
  for (int i = 0; i < static_cast<int>(threadIdx.x % 3); ++i)
    *returned = printf("loop %d of thread %d\n", i, static_cast<int>(threadIdx.x));
}

int main() {
  char* text = nullptr;
  HIP_CHECK(hipHostMalloc(reinterpret_cast<void**>(&text), 300));
  for (int i = 0; i < 250; ++i) text[i] = static_cast<char>('a' + i % 26);
  text[250] = 0;
  formats<<<1, 64>>>(-42, 3.14159265, text);
  HIP_CHECK(hipDeviceSynchronize());
  every_lane<<<3, 128>>>();
  HIP_CHECK(hipDeviceSynchronize());
  const check::DeviceArray<int> returned(1);
  in_loop<<<1, 6>>>(returned.data());
  HIP_CHECK(hipDeviceSynchronize());
  EXPECT_TRUE(returned.download()[0] >= 0);
  HIP_CHECK(hipHostFree(text));
  return check::failures() != 0;
}
