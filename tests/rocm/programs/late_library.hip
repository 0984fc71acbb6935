// late_library FILE first|later|uninitialised: loads a library of kernels at run time, before or after its first HIP call, and
// runs a kernel of the library; "uninitialised" uses no GPU at all.
#include <dlfcn.h>

#include "../check.h"

int main(int, char** argv) {
  const std::string order = argv[2];
  int* value = nullptr;
  if (order == "later") HIP_CHECK(hipMalloc(reinterpret_cast<void**>(&value), sizeof(int)));
  void* const library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    return 3;
  }
  if (order == "uninitialised") return 0;
  const auto answer = reinterpret_cast<int (*)()>(dlsym(library, "answer"));
  EXPECT_EQ(answer(), 42);
  HIP_CHECK(hipFree(value));
  return check::result();
}
