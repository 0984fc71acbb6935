// Tests calls that cannot be inlined: function pointers in device memory, virtual functions, a different target in each lane.
// Also tests placement new, templates, lambdas, and structures passed by value.
#include "../check.h"

namespace {

using Operation = int (*)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ int select(int a, int b) { return a > b ? a : b; }
__device__ Operation operations[4] = {add, subtract, multiply, select};

__global__ void by_pointer(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = operations[i % 4](i, 7);
}

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float length) : side(length) {}
  __device__ float area() const override { return side * side; }
};
struct Triangle : Shape {
  float base, height;
  __device__ Triangle(float b, float h) : base(b), height(h) {}
  __device__ float area() const override { return 0.5f * base * height; }
};

union AnyShape {
  __device__ AnyShape() {}
  __device__ ~AnyShape() {}
  Square square;
  Triangle triangle;
};

__global__ void by_virtual(float* out) {
  AnyShape memory;
  const float size = static_cast<float>(threadIdx.x);
  Shape* shape = nullptr;
  if (threadIdx.x % 2 == 0) {
    shape = new (&memory.square) Square(size);
  } else {
    shape = new (&memory.triangle) Triangle(size, 3.0f);
  }
  out[threadIdx.x] = shape->area();
}

template <typename Function>
__global__ void apply(int* out, Function function) {
  out[threadIdx.x] = function(static_cast<int>(threadIdx.x));
}

struct Large {
  int values[500];
};

__global__ void by_value(Large a, char tag, Large b, int* out) {
  for (int i = threadIdx.x; i < 500; i += 64) out[i] = a.values[i] - b.values[499 - i] + tag;
}

}  // namespace

int main() {
  const check::DeviceArray<int> out(64);
  by_pointer<<<1, 64>>>(out.data());
  HIP_CHECK(hipGetLastError());
  EXPECT_EACH(out.download(), [](size_t n) {
    const int i = static_cast<int>(n);
    return i % 4 == 0 ? i + 7 : i % 4 == 1 ? i - 7 : i % 4 == 2 ? i * 7 : i > 7 ? i : 7;
  });

  const check::DeviceArray<float> areas(64);
  by_virtual<<<1, 64>>>(areas.data());
  HIP_CHECK(hipGetLastError());
  EXPECT_EACH(areas.download(), [](size_t i) {
    const float size = static_cast<float>(i);
    return i % 2 == 0 ? size * size : 0.5f * size * 3.0f;
  });

  int offset = 900;
  offset += 100;
  apply<<<1, 64>>>(out.data(), [offset] __device__(int i) { return i * i + offset; });
  EXPECT_EACH(out.download(), [](size_t i) { return i * i + 1000; });

  Large a, b;
  for (int i = 0; i < 500; ++i) a.values[i] = i * 3, b.values[i] = i * i;
  const check::DeviceArray<int> differences(500);
  by_value<<<1, 64>>>(a, 'x', b, differences.data());
  EXPECT_EACH(differences.download(), [&](size_t i) { return a.values[i] - b.values[499 - i] + 'x'; });
  return check::result();
}
