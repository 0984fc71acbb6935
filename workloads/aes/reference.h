// AES-256 as defined in FIPS 197: byte by byte, with a computed S-box instead of a table.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

namespace aes {

constexpr unsigned rounds = 14;

/// The product in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 (section 4.2).
inline unsigned char times(unsigned a, unsigned char b) {
  unsigned product = 0;
  for (unsigned power = b; a != 0; a >>= 1) {
    if (a & 1) product ^= power;
    power = power << 1 ^ (power & 0x80 ? 0x11b : 0);
  }
  return static_cast<unsigned char>(product);
}

class Reference {
 public:
  /// `key` has 32 bytes.
  explicit Reference(const std::vector<unsigned char>& key) {
    // Multiplicative inverse x^254, followed by the affine transformation of section 5.1.1.
    for (unsigned x = 0; x < 256; ++x) {
      unsigned char inverse = 1;
      for (unsigned i = 0; i < 254; ++i) inverse = times(inverse, static_cast<unsigned char>(x));
      const unsigned doubled = inverse | inverse << 8;
      sbox_[x] = static_cast<unsigned char>(inverse ^ doubled >> 7 ^ doubled >> 6 ^ doubled >> 5 ^ doubled >> 4 ^ 0x63);
    }
    expand(key);
  }

  const std::array<unsigned char, 256>& sbox() const { return sbox_; }
  const std::vector<unsigned char>& round_keys() const { return round_keys_; }

  /// Encrypts a block of 16 bytes in place; bytes are ordered column by column.
  void encrypt(unsigned char* block) const {
    add_round_key(block, 0);
    for (unsigned round = 1; round <= rounds; ++round) {
      for (unsigned i = 0; i < 16; ++i) block[i] = sbox_[block[i]];
      unsigned char shifted[16];
      for (unsigned i = 0; i < 16; ++i) shifted[i] = block[(i + i % 4 * 4) % 16];
      for (unsigned c = 0; c < 16; c += 4) {
        for (unsigned r = 0; r < 4; ++r) {
          const unsigned char *s = shifted + c, last = s[r];
          block[c + r] =
              round == rounds
                  ? last
                  : static_cast<unsigned char>(times(2, s[r]) ^ times(3, s[(r + 1) % 4]) ^ s[(r + 2) % 4] ^ s[(r + 3) % 4]);
        }
      }
      add_round_key(block, round);
    }
  }

 private:
  void add_round_key(unsigned char* block, unsigned round) const {
    for (unsigned i = 0; i < 16; ++i) block[i] ^= round_keys_[round * 16 + i];
  }

  // Key expansion of section 5.2, one word of 4 bytes at a time.
  void expand(const std::vector<unsigned char>& key) {
    round_keys_ = key;
    unsigned char constant = 1;
    while (round_keys_.size() < 16 * (rounds + 1)) {
      const size_t word = round_keys_.size() / 4;
      std::array<unsigned char, 4> last;
      std::copy(round_keys_.end() - 4, round_keys_.end(), last.begin());
      if (word % 8 == 0) std::rotate(last.begin(), last.begin() + 1, last.end());
      if (word % 4 == 0) {
        for (unsigned char& byte : last) byte = sbox_[byte];
      }
      if (word % 8 == 0) {
        last[0] ^= constant;
        constant = times(2, constant);
      }
      for (size_t i = 0; i < 4; ++i) round_keys_.push_back(last[i] ^ round_keys_[word * 4 - 32 + i]);
    }
  }

  std::array<unsigned char, 256> sbox_{};
  std::vector<unsigned char> round_keys_;
};

/// Checks the implementation with the example of FIPS 197, appendix C.3.
inline bool reference_is_right() {
  std::vector<unsigned char> key(32), block(16);
  for (unsigned i = 0; i < 32; ++i) key[i] = static_cast<unsigned char>(i);
  for (unsigned i = 0; i < 16; ++i) block[i] = static_cast<unsigned char>(i * 0x11);
  Reference(key).encrypt(block.data());
  return block == std::vector<unsigned char>{0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf,
                                             0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89};
}

}  // namespace aes
