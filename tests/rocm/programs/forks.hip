// Tests a program that forks before it uses the GPU: each child has a separate GPU.
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"

__global__ void square(int* values) { values[threadIdx.x] *= values[threadIdx.x]; }

namespace {

int child(int number) {
  std::vector<int> values(256);
  for (int i = 0; i < 256; ++i) values[i] = i + number;
  const check::DeviceArray<int> array(values);
  square<<<1, 256>>>(array.data());
  EXPECT_EACH(array.download(), [&](size_t i) { return values[i] * values[i]; });
  return check::result();
}

}  // namespace

int main() {
  for (int number = 0; number < 2; ++number) {
    const pid_t process = fork();
    if (process == 0) return child(number);
    EXPECT_TRUE(process > 0);
  }
  for (int number = 0; number < 2; ++number) {
    int status = 0;
    EXPECT_TRUE(wait(&status) > 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  return check::result();
}
