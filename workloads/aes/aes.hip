// AES-256 of independent blocks (ECB), one block per work-item, as in Hetero-Mark's AES. The default length is MGPUSim's.
//
//   tuned   rounds 1 to 13 look up T, a table of 256 words that combines SubBytes and MixColumns (Daemen and Rijmen, The Design
//           of Rijndael, section 4.2) and is copied to LDS by each workgroup; the other three tables of that section are
//           rotations of T. The round keys are the same for all lanes and are read by scalar loads
//   suite   the kernel of Hetero-Mark: each byte looks up the S-box in memory, and MixColumns is computed. As in MGPUSim's code
//           object, blocks and round keys are read by vector loads of 16 bytes
#include <hip/hip_runtime.h>

#include <algorithm>
#include <array>

#include "workloads/aes/reference.h"
#include "workloads/common/program.h"
#include "workloads/suite/operands.h"

constexpr unsigned group_size = 256;

__device__ inline unsigned rotate_left(unsigned value, unsigned bits) { return value << bits | value >> (32 - bits); }

// Column c of the state is a little-endian word: byte r is row r.
__global__ void __launch_bounds__(group_size) encrypt(uint4* __restrict__ blocks, const unsigned* __restrict__ round_keys,
                                                      const unsigned* __restrict__ table, unsigned count) {
  __shared__ unsigned t[256];
  t[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i >= count) return;
  const uint4 in = blocks[i];
  unsigned state[4] = {in.x ^ round_keys[0], in.y ^ round_keys[1], in.z ^ round_keys[2], in.w ^ round_keys[3]};
  for (unsigned round = 1; round < aes::rounds; ++round) {
    unsigned next[4];
#pragma unroll
    for (unsigned c = 0; c < 4; ++c) {
      next[c] = t[state[c] & 255] ^ rotate_left(t[state[(c + 1) % 4] >> 8 & 255], 8) ^
                rotate_left(t[state[(c + 2) % 4] >> 16 & 255], 16) ^ rotate_left(t[state[(c + 3) % 4] >> 24], 24) ^
                round_keys[round * 4 + c];
    }
#pragma unroll
    for (unsigned c = 0; c < 4; ++c) state[c] = next[c];
  }
  // The last round has no MixColumns. A word of T is (2 s, s, s, 3 s): byte 1 is the S-box.
  unsigned out[4];
#pragma unroll
  for (unsigned c = 0; c < 4; ++c) {
    out[c] = (t[state[c] & 255] >> 8 & 255) ^ (t[state[(c + 1) % 4] >> 8 & 255] & 0xff00) ^
             (t[state[(c + 2) % 4] >> 16 & 255] << 8 & 0xff0000) ^ (t[state[(c + 3) % 4] >> 24] << 16 & 0xff000000) ^
             round_keys[aes::rounds * 4 + c];
  }
  blocks[i] = make_uint4(out[0], out[1], out[2], out[3]);
}

// Returns 2 b in GF(2^8), of a byte b.
__device__ inline unsigned doubled(unsigned byte) { return (byte << 1 ^ (byte >> 7) * 0x1b) & 255; }

// Byte 4 c + r of the state, a register each, is column c and row r.
__device__ inline void add_round_key(unsigned state[16], uint4 key) {
  const unsigned words[4] = {key.x, key.y, key.z, key.w};
#pragma unroll
  for (unsigned i = 0; i < 16; ++i) state[i] ^= words[i / 4] >> i % 4 * 8 & 255;
}

// SubBytes and ShiftRows.
__device__ inline void substitute(unsigned state[16], const unsigned char* __restrict__ sbox) {
  unsigned shifted[16];
#pragma unroll
  for (unsigned i = 0; i < 16; ++i) shifted[i] = sbox[state[(i + i % 4 * 4) % 16]];
#pragma unroll
  for (unsigned i = 0; i < 16; ++i) state[i] = shifted[i];
}

__global__ void __launch_bounds__(group_size) encrypt_bytes(uint4* __restrict__ blocks, const uint4* __restrict__ round_keys,
                                                            const unsigned char* __restrict__ sbox, unsigned count) {
  const unsigned i = blockIdx.x * group_size + threadIdx.x;
  if (i >= count) return;
  unsigned state[16] = {};
  add_round_key(state, blocks[i]);
  add_round_key(state, round_keys[0]);
#pragma unroll 1
  for (unsigned round = 1; round < aes::rounds; ++round) {
    substitute(state, sbox);
    // MixColumns: 2 a + 3 b + c + d = a + (a + b + c + d) + 2 (a + b).
#pragma unroll
    for (unsigned c = 0; c < 16; c += 4) {
      const unsigned column[4] = {state[c], state[c + 1], state[c + 2], state[c + 3]};
      const unsigned sum = column[0] ^ column[1] ^ column[2] ^ column[3];
#pragma unroll
      for (unsigned r = 0; r < 4; ++r) state[c + r] ^= sum ^ doubled(column[r] ^ column[(r + 1) % 4]);
    }
    add_round_key(state, round_keys[workload::unknown(round)]);
  }
  substitute(state, sbox);
  add_round_key(state, round_keys[workload::unknown(aes::rounds)]);
  unsigned out[4] = {};
#pragma unroll
  for (unsigned b = 0; b < 16; ++b) out[b / 4] |= state[b] << b % 4 * 8;
  blocks[i] = make_uint4(out[0], out[1], out[2], out[3]);
}

static std::vector<unsigned> words(const std::vector<unsigned char>& bytes) {
  std::vector<unsigned> result(bytes.size() / 4);
  for (size_t i = 0; i < bytes.size(); ++i) result[i / 4] |= unsigned{bytes[i]} << i % 4 * 8;
  return result;
}

int main(int argc, char** argv) {
  workload::Program program("aes", "AES-256 encryption of independent blocks",
                            "LazyGPU (ISCA '25), Table 3: AES of Hetero-Mark");
  int length = 0;
  program.size(length, "length", "bytes; the last block is filled up with zeros", {100'000, 65536, 1 << 22}, 1, 1 << 30);
  std::string form;
  program.choice(form, "form", "the kernels", {"tuned", "suite"}, std::string("tuned"));
  program.takes_sparsity("the bytes");
  return program.run(argc, argv, [&] {
    std::vector<unsigned char> plain(length);
    // Bytes are never 0, except with --sparsity.
    for (unsigned char& byte : plain) byte = static_cast<unsigned char>(1 + program.random().below(255));
    plain = program.sparsified(std::move(plain));
    plain.resize((plain.size() + 15) / 16 * 16);
    std::vector<unsigned char> key(32);
    for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<unsigned char>(i);
    const aes::Reference reference(key);

    std::vector<unsigned> table(256);
    for (unsigned i = 0; i < 256; ++i) {
      const unsigned s = reference.sbox()[i], twice = aes::times(2, static_cast<unsigned char>(s));
      table[i] = twice | s << 8 | s << 16 | (twice ^ s) << 24;
    }
    const workload::DeviceArray<unsigned> device_keys("the round keys", words(reference.round_keys())),
        device_table("T", table);
    const workload::DeviceArray<unsigned char> device_blocks("the data", plain.size()),
        device_sbox("the S-box", std::vector<unsigned char>(reference.sbox().begin(), reference.sbox().end()));
    const unsigned blocks = workload::groups(plain.size(), 16);
    program.measure([&] { device_blocks.upload(plain); },
                    [&] {
                      const unsigned groups = workload::groups(blocks, group_size);
                      auto* const data = reinterpret_cast<uint4*>(device_blocks.data());
                      if (form == "suite") {
                        encrypt_bytes<<<groups, group_size>>>(data, reinterpret_cast<const uint4*>(device_keys.data()),
                                                              device_sbox.data(), blocks);
                      } else {
                        encrypt<<<groups, group_size>>>(data, device_keys.data(), device_table.data(), blocks);
                      }
                    });
    if (!program.checks()) return;
    program.check_true("the host's reference with FIPS 197, appendix C.3,", aes::reference_is_right());
    std::vector<unsigned char> expected(plain);
    for (size_t i = 0; i < expected.size(); i += 16) reference.encrypt(&expected[i]);
    program.check_equal("the cipher", device_blocks.download(), expected);
  });
}
