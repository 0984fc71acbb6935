// Calls that the compiler may not inline: return addresses and locals are in scratch memory, and lanes return from different
// depths.

__attribute__((noinline)) uint ackermann(uint m, uint n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

__attribute__((noinline)) uint fibonacci(uint n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

// Lanes have different arguments, so that calls occur under many different EXEC masks.
kernel void recursion(global uint* out) {
  const uint item = get_global_id(0);
  out[2 * item] = fibonacci(item % 11);
  out[2 * item + 1] = ackermann(item % 3, item / 3 % 4);
}
