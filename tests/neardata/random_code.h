// Random code that contains chains, scheduled as compilers schedule loops: loads early, arithmetic in between, and waits with
// the largest possible counts where data are used.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "models/isa/target.h"

namespace lacuna::test {

/// Generates lines for translated(). Registers:
///   v[0:1], v[20:21]  addresses of the lane's words, in lane order and scattered
///   v[2:7]            addresses of accesses; v18 and v19: high halves of offsets; v16 and v17: addresses of results
///   v8 to v15         data
///   s[4:5], s[6:7]    offsets that are added to addresses; the second may make them unaligned
///   s[8:9]            address of 32 bytes for scalar loads to s12 and s13
///   s3, s10           uniform operands
///   s[14:15]          EXEC with all of the wavefront's lanes; s[16:17]: a subset
/// The code accesses memory at one of the first two addresses plus an offset, and finally writes data register v(8 + i) to
/// v[0:1] + 0x4000 + 0x100 * i.
class RandomCode {
 public:
  static constexpr unsigned kFirstData = 8;
  static constexpr unsigned kDataRegisters = 8;
  static constexpr unsigned kUsedVgprs = 22;

  RandomCode(std::uint32_t seed, isa::Target target) : random_(seed), gfx8_(target == isa::Target::gfx803) {}

  std::vector<std::string> lines();

 private:
  struct Operation {
    std::vector<std::string> registers;  ///< registers that the operation writes when it completes
    bool vm = false;
    bool lgkm = false;
  };
  /// Bytes that a lane accesses.
  struct Element {
    const char* load;
    const char* store;
  };

  unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
  std::string data();
  std::string uniform();
  void need(const std::vector<std::string>& registers);
  void statement();
  std::string address();
  void load(const std::string& to, const char* name = "LOAD");
  void store(const std::string& what, const char* name = "STORE");
  void load_scalar();
  void compare();
  void operate();
  void mask();
  void chain();
  void gap();

  std::mt19937 random_;
  bool gfx8_;
  std::vector<std::string> lines_;
  std::vector<Operation> outstanding_;
};

/// The machine code of each program, followed by s_endpgm.
std::vector<std::vector<std::uint32_t>> assembled(const std::vector<std::vector<std::string>>& programs, isa::Target target);

}  // namespace lacuna::test
