// Random replacement by a generator that is seeded at construction.
#include "models/cache/replacement/policy.h"

namespace lacuna {
namespace {

class RandomReplacement final : public ReplacementState {
 public:
  RandomReplacement(unsigned ways, std::uint64_t seed) : ways_(ways), seed_(seed) {}
  void touch(std::uint32_t /*set*/, unsigned /*way*/) override {}
  unsigned victim(std::uint32_t /*set*/) override {
    // Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    std::uint64_t z = seed_ + ++victims_ * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<unsigned>((z ^ (z >> 31)) % ways_);
  }
  void reset() override { restart(); }
  void reset(std::uint32_t /*set*/) override {}
  void restart() override { victims_ = 0; }

 private:
  const unsigned ways_;
  const std::uint64_t seed_;
  std::uint64_t victims_ = 0;  // number of victims chosen
};

}  // namespace

constinit const ReplacementPolicy ReplacementPolicy::random{
    "random", "any line, by a generator with a fixed seed",
    [](std::uint32_t, unsigned ways, std::uint64_t seed) -> std::unique_ptr<ReplacementState> {
      return std::make_unique<RandomReplacement>(ways, seed);
    }};

}  // namespace lacuna
