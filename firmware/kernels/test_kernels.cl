// Small kernels for the test programs in firmware/apps.

// data[i] = data[i] * factor + addend. The order of several launches affects the result.
kernel void affine(global uint* data, uint factor, uint addend) {
  const size_t i = get_global_id(0);
  data[i] = data[i] * factor + addend;
}

// Computes for a time that depends on `iterations`, then stores its result.
kernel void spin(global uint* out, uint iterations) {
  uint value = get_global_id(0) + 1;
  for (uint i = 0; i < iterations; ++i) value = value * 1664525u + 1013904223u;
  out[get_global_id(0)] = value;
}

kernel void count_up(global uint* counter) { atomic_inc(counter); }

kernel void store_to(global uint* address, uint value) { *address = value; }

kernel void load_from(global const uint* address, global uint* out) { *out = *address; }

kernel void illegal(global uint* out) {
  // Encoding 0x7f of format SOPP is not assigned on any generation.
  __asm__ volatile(".long 0xbfff0000");
  *out = 1;
}

kernel void trap(global uint* out) {
  if (*out == 0) __builtin_trap();
  *out = 1;
}

kernel void trap_7(global uint* out) {
  __asm__ volatile("s_trap 7");
  *out = 1;
}

// A private array, which is in scratch memory because its indices are known only at run time.
#define PRIVATE_WORDS 24
kernel void private_array(global uint* out, uint rounds) {
  uint words[PRIVATE_WORDS];
  const uint item = get_global_id(0);
  for (uint i = 0; i < PRIVATE_WORDS; ++i) words[i] = item + i;
  uint at = item % PRIVATE_WORDS;
  for (uint i = 0; i < rounds; ++i) {
    words[at] += i;
    at = (at + words[at]) % PRIVATE_WORDS;
  }
  uint sum = 0;
  for (uint i = 0; i < PRIVATE_WORDS; ++i) sum = sum * 31 + words[i];
  out[item] = sum;
}

// 24 KiB of LDS for a workgroup of 64: two workgroups fit into a compute unit. The workgroup writes all words, then sums them
// up with each word read by another work-item.
#define LDS_WORDS 6144
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void much_lds(global uint* out) {
  local uint words[LDS_WORDS];
  const uint item = get_local_id(0);
  for (uint i = item; i < LDS_WORDS; i += 64) words[i] = get_group_id(0) * LDS_WORDS + i;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint sum = 0;
  for (uint i = item; i < LDS_WORDS; i += 64) sum += words[LDS_WORDS - 1 - i];
  out[get_global_id(0)] = sum;
}

// More than 128 live vector registers: one wavefront fits on a SIMD with 256 registers.
#define LIVE_VALUES 160
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void many_vgprs(global const uint* in, global uint* out) {
  const uint item = get_global_id(0);
  uint values[LIVE_VALUES];
#pragma unroll
  for (uint i = 0; i < LIVE_VALUES; ++i) values[i] = in[item + i * 64];
  barrier(CLK_LOCAL_MEM_FENCE);
  uint sum = 0;
#pragma unroll
  for (uint i = 0; i < LIVE_VALUES; ++i) sum = sum * 3 + (values[i] ^ values[LIVE_VALUES - 1 - i]);
  out[item] = sum;
}

// Reverses each workgroup's values in LDS whose size the dispatch packet determines.
kernel void reverse(global uint* data, local uint* words) {
  const uint item = get_local_id(0);
  words[item] = data[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  data[get_global_id(0)] = words[get_local_size(0) - 1 - item];
}

// Stores three-dimensional ids, obtained as the code object's version provides them.
kernel void ids(global uint* out) {
  const uint x = get_global_id(0);
  const uint y = get_global_id(1);
  const uint z = get_global_id(2);
  const uint at = (z * get_global_size(1) + y) * get_global_size(0) + x;
  out[at] = get_local_id(0) | get_local_id(1) << 4 | get_local_id(2) << 8 | get_group_id(0) << 12 | get_group_id(1) << 16 |
            get_group_id(2) << 20 | get_num_groups(0) << 24;
}
