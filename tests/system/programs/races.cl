// Work-items that race for the same words in many ways. The results depend on the order of their accesses.
kernel void races(global volatile uint* words, uint mask, uint rounds, global uint* out) {
  global volatile uchar* bytes = (global volatile uchar*)words;
  global volatile ulong* pairs = (global volatile ulong*)words;
  uint value = get_global_id(0) * 2654435761u + 1;
  for (uint round = 0; round < rounds; ++round) {
    const uint at = value >> 12 & mask;
    const uint seen = words[at];
    words[(at * 5 + round) & mask] = seen + value;
    bytes[(at * 7 + seen) & mask] = (uchar)value;
    value ^= atomic_add(words + ((at + seen) & mask), value);
    value += words[(at + seen) & mask];  // a line on which an atomic operation is in flight
    words[(at + seen) & mask] = value;
    value ^= atomic_cmpxchg(words + at, seen, value);
    pairs[value >> 13 & mask >> 1] = (ulong)value << 32 | seen;
    value = value * 1664525u + 1013904223u + (uint)pairs[value >> 14 & mask >> 1];
  }
  out[get_global_id(0)] = value;
}
