// Tests floating-point atomics of gfx90a on fine-grained memory: they are always reported, and performed or dropped according
// to the wavefront's setting. Lanes in coarse-grained memory and in the LDS, and other instructions, are unaffected.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/isa/memory/deferred_access.h"
#include "models/isa/memory/store_buffer.h"
#include "tests/isa/scalar/scalar_machine.h"

namespace lacuna::isa::test {
namespace {

constexpr std::uint64_t kHalf = 4096;  // bytes of coarse-grained memory at kBase, and of fine-grained memory after it
constexpr std::uint64_t kSharedAperture = 0x1000000000000;
constexpr std::uint64_t kFineLanes = 0xaaaaaaaaaaaaaaaa;

struct Atomic {
  const char* text;
  unsigned bytes;
  std::uint64_t old;
  std::uint64_t data;
  std::uint64_t sum;
};

std::uint64_t f64(double value) { return std::bit_cast<std::uint64_t>(value); }
std::uint64_t f32(float value) { return std::bit_cast<std::uint32_t>(value); }

const Atomic kAdd32{"atomic_add_f32", 4, f32(10), f32(1.5F), f32(11.5F)};
const Atomic kPacked{"atomic_pk_add_f16", 4, 0x42003800, 0x3c004000, 0x44004100};
const Atomic kAdd64{"atomic_add_f64", 8, f64(10), f64(1.5), f64(11.5)};
const Atomic kMin64{"atomic_min_f64", 8, f64(10), f64(1.5), f64(1.5)};
const Atomic kMax64{"atomic_max_f64", 8, f64(1.5), f64(10), f64(10)};

enum class Path : std::uint8_t { flat, global, buffer };

struct Case {
  Path path;
  Atomic atomic;
  FineGrainedFloatAtomics policy;
  bool returns;
  bool deferred;
};

/// Machine whose odd lanes address fine-grained memory and whose even lanes address coarse-grained memory.
struct FineGrainedMachine : Machine {
  std::byte* coarse;
  std::byte* fine;
  FineGrainedMachine() {
    coarse = memory.map(kBase, kHalf, Access::read_write);
    fine = memory.map(kBase + kHalf, kHalf, Access::read_write, Sharing::other_threads, Grain::fine);
    wave.target = Target::gfx90a;
    wave.shared_aperture = kSharedAperture;
    wave.mode.bits = 0xf0;
    wave.write64(4, kBase);  // the buffer contains both kinds of memory
    wave.sgpr[6] = 2 * kHalf;
    wave.sgpr[7] = 0;
  }
  static std::uint64_t offset(unsigned lane) { return (lane % 2 != 0 ? kHalf : 0) + std::uint64_t{lane} * 8; }
  std::byte* at(unsigned lane) { return (lane % 2 != 0 ? fine : coarse) + std::uint64_t{lane} * 8; }
  void set_address(unsigned lane, std::uint64_t address) {
    v(0, lane) = static_cast<std::uint32_t>(address);
    v(1, lane) = static_cast<std::uint32_t>(address >> 32);
  }
  void set(const Case& c) {
    wave.fine_grained_float_atomics = c.policy;
    for (unsigned l = 0; l < kLanes; ++l) {
      set_address(l, c.path == Path::buffer ? offset(l) : kBase + offset(l));
      v(2, l) = static_cast<std::uint32_t>(c.atomic.data);
      v(3, l) = static_cast<std::uint32_t>(c.atomic.data >> 32);
      v(4, l) = v(5, l) = 0x5555;
      write<std::uint64_t>(at(l), c.atomic.old);
    }
  }
};

/// Assembly text of a case. The returned value is in v[4:5]; buffer atomics return it in the data registers.
std::string text(const Case& c) {
  const std::string data = c.atomic.bytes == 8 ? "v[2:3]" : "v2";
  const std::string result = !c.returns || c.path == Path::buffer ? "" : c.atomic.bytes == 8 ? "v[4:5], " : "v4, ";
  const std::string glc = c.returns ? " glc" : "";
  switch (c.path) {
    case Path::flat:
      return std::string("flat_") + c.atomic.text + ' ' + result + "v[0:1], " + data + glc;
    case Path::global:
      return std::string("global_") + c.atomic.text + ' ' + result + "v[0:1], " + data + ", off" + glc;
    case Path::buffer:
      return std::string("buffer_") + c.atomic.text + ' ' + data + ", v0, s[4:7], 0 offen" + glc;
  }
  return {};
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Path path : {Path::flat, Path::global, Path::buffer}) {
    for (const Atomic& atomic : {kAdd32, kPacked, kAdd64, kMin64, kMax64}) {
      if (path == Path::flat && atomic.bytes == 4) continue;  // gfx90a has no 32-bit FLAT float atomics
      for (const auto policy : {FineGrainedFloatAtomics::apply, FineGrainedFloatAtomics::drop}) {
        for (const bool returns : {false, true})
          for (const bool deferred : {false, true}) all.push_back({path, atomic, policy, returns, deferred});
      }
    }
  }
  return all;
}

/// Words of a case's instruction. The instructions of all cases are assembled in one call.
const std::vector<std::uint32_t>& assembled(const std::string& line) {
  static const std::map<std::string, std::vector<std::uint32_t>> all = [] {
    std::set<std::string> lines;
    for (const Case& c : cases()) lines.insert(text(c));
    const std::vector<std::string> ordered(lines.begin(), lines.end());
    const auto words = assemble_by_llvm(ordered, Target::gfx90a);
    std::map<std::string, std::vector<std::uint32_t>> made;
    for (std::size_t i = 0; i < ordered.size(); ++i) made[ordered[i]] = words.at(i);
    return made;
  }();
  return all.at(line);
}

class FineGrained : public testing::TestWithParam<Case> {};

TEST_P(FineGrained, IsReportedAndPerformedOrDropped) {
  const Case& c = GetParam();
  FineGrainedMachine m;
  m.set(c);
  const std::vector<std::uint32_t>& words = assembled(text(c));
  const DecodeResult decoded = decode(words.data(), words.size(), Target::gfx90a);
  ASSERT_TRUE(decoded.ok) << text(c);
  StoreBuffer stores;
  if (c.deferred) m.wave.stores = &stores;
  m.step(words);
  ASSERT_EQ(m.wave.event, Event::fine_grained_float_atomic) << text(c);
  EXPECT_EQ(m.wave.event_value, 32U);
  EXPECT_EQ(m.wave.fault.lane, 1U);
  EXPECT_EQ(m.wave.fault.address, kBase + kHalf + 8);
  EXPECT_EQ(m.wave.fault.bytes, c.atomic.bytes);
  EXPECT_EQ(m.wave.access.deferred, c.deferred);
  if (c.deferred) {
    EXPECT_EQ(read<std::uint64_t>(m.at(0)), c.atomic.old) << "nothing has moved yet";
    DeferredAccess access;
    DeferredAccessPerformer performer;
    access.capture(decoded.instruction, m.wave);
    performer.perform(access);
  }
  const bool in_data = c.path == Path::buffer;
  for (unsigned l = 0; l < kLanes; ++l) {
    const bool lost = c.policy == FineGrainedFloatAtomics::drop && (kFineLanes >> l & 1) != 0;
    const std::uint64_t mask = c.atomic.bytes == 8 ? ~std::uint64_t{0} : 0xffffffff;
    EXPECT_EQ(read<std::uint64_t>(m.at(l)) & mask, lost ? c.atomic.old : c.atomic.sum) << text(c) << " lane " << l;
    if (!c.returns) continue;
    const unsigned r = in_data ? 2 : 4;
    const std::uint64_t returned = m.v(r, l) | (c.atomic.bytes == 8 ? std::uint64_t{m.v(r + 1, l)} << 32 : 0);
    EXPECT_EQ(returned, lost ? 0 : c.atomic.old) << text(c) << " lane " << l;
  }
}

INSTANTIATE_TEST_SUITE_P(All, FineGrained, testing::ValuesIn(cases()));

TEST(FineGrainedMemory, OtherLanesAndInstructionsAreUnaffected) {
  FineGrainedMachine m;
  m.set({Path::flat, kAdd64, FineGrainedFloatAtomics::drop, false, false});
  // Integer atomics, exchange and compare-and-swap are performed outside of L2 as well.
  const std::vector<std::string> lines{"global_atomic_add v[0:1], v2, off",         "global_atomic_add_x2 v[0:1], v[2:3], off",
                                       "global_atomic_umax v[0:1], v2, off",        "global_atomic_swap v[0:1], v2, off",
                                       "global_atomic_cmpswap v[0:1], v[2:3], off", "flat_atomic_xor v[0:1], v2",
                                       "buffer_atomic_inc v2, v0, s[4:7], 0 offen"};
  const auto words = assemble_by_llvm(lines, Target::gfx90a);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i][0] == 'b')
      for (unsigned l = 0; l < kLanes; ++l) m.set_address(l, m.offset(l));
    m.step(words.at(i));
    EXPECT_EQ(m.wave.event, Event::none) << lines[i];
  }
  // FLAT with odd lanes in the LDS, except for one in fine-grained memory, which is inactive.
  for (unsigned l = 0; l < kLanes; ++l) m.set_address(l, l % 2 != 0 ? kSharedAperture + l * 8 : kBase + m.offset(l));
  m.set_address(7, kBase + m.offset(7));
  m.wave.set_exec(~(std::uint64_t{1} << 7));
  m.run({"flat_atomic_add_f64 v[0:1], v[2:3]"});
  EXPECT_EQ(m.wave.event, Event::none);
  EXPECT_EQ(m.lds_at<double>(8), 1.5);
  // Lanes outside the buffer access no memory.
  m.wave.set_exec(~std::uint64_t{0});
  m.wave.sgpr[6] = kHalf;
  for (unsigned l = 0; l < kLanes; ++l) m.set_address(l, m.offset(l));
  m.run({"buffer_atomic_add_f64 v[2:3], v0, s[4:7], 0 offen"});
  EXPECT_EQ(m.wave.event, Event::none);
}

}  // namespace
}  // namespace lacuna::isa::test
