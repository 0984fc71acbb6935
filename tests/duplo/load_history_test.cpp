// Tests the load history buffer: the paper's example, index and tag, release, and random calls compared with a second
// implementation that keeps all entries in a list.
#include "models/duplo/load_history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <list>
#include <random>
#include <vector>

#include "models/duplo/shared_registers.h"
#include "tests/duplo/layers.h"

namespace lacuna {
namespace {

LoadTag tag(std::uint32_t element, std::uint32_t image = 0, std::uint8_t convolution = 0) {
  return {.convolution = convolution, .tile = {.form = {}, .first = {.image = image, .element = element}}};
}
TileRegisters pair(std::uint16_t number) { return {.simd = 0, .first = number}; }

// Table II: four loads of one element each are processed by IDs, a buffer of four entries without a hash, and renaming. A pair
// has one element. The load of B lies outside of the workspace and is not looked up.
TEST(LoadHistory, FollowsTheExampleOfTableII) {
  LoweredConvolution c;  // convolution of Figures 5 and 6
  c.height = c.width = 4;
  c.channels = 1;
  c.filter_height = c.filter_width = 3;
  c.pitch = 9;
  const std::uint64_t places = c.rows() * c.pitch;
  enum class Status { passes_by, miss, hit, conflict };
  struct Instruction {
    std::uint64_t place;  ///< array_idx
    unsigned logical;     ///< destination
    unsigned id;
    LoadHistory::Handle entry;
    Status status;
  };
  constexpr std::uint64_t kOfB = 1000;
  constexpr std::array<Instruction, 4> kTable{{{2, 4, 2, 2, Status::miss},
                                               {kOfB, 2, 0, LoadHistory::kNone, Status::passes_by},
                                               {10, 3, 2, 2, Status::hit},
                                               {28, 8, 6, 2, Status::conflict}}};
  for (const DatumIds ids : {DatumIds::paper, DatumIds::exact}) {
    const IdGenerator generator(c, ids);
    LoadHistory history({.entries = 4, .ways = 1, .hash = HistoryHash::low, .keep = HistoryKeep::until_overwritten});
    SharedRegisters registers(16);
    const unsigned wavefront = registers.begin(9);
    std::uint64_t at = 0;
    for (const Instruction& load : kTable) {
      SCOPED_TRACE(load.place);
      ++at;
      if (load.place >= places) {
        EXPECT_EQ(load.status, Status::passes_by);
        continue;
      }
      const DatumId id = generator.id(load.place / c.pitch, static_cast<unsigned>(load.place % c.pitch));
      EXPECT_EQ(id, (DatumId{0, load.id}));
      const LoadTag looked = tag(id.element, id.image);
      const LoadHistory::Handle found = history.find(looked, 0, Tick{at});
      if (load.status == Status::hit) {
        ASSERT_EQ(found, load.entry);
        registers.share(wavefront, load.logical, history.registers(found).first);
        history.relay(found);
        continue;
      }
      ASSERT_EQ(found, LoadHistory::kNone);
      EXPECT_EQ(history.miss(looked), HistoryMiss::compulsory);
      const std::uint64_t replaced = history.releases()[static_cast<std::size_t>(HistoryRelease::replaced)];
      EXPECT_EQ(history.allocate(looked, 0, pair(registers.pair(wavefront, load.logical))), load.entry);
      EXPECT_EQ(history.releases()[static_cast<std::size_t>(HistoryRelease::replaced)] - replaced,
                load.status == Status::conflict ? 1U : 0U);
    }
    // ID 2 has been replaced.
    ASSERT_EQ(history.find(tag(2), 0, Tick{++at}), LoadHistory::kNone);
    EXPECT_EQ(history.miss(tag(2)), HistoryMiss::conflict);
    // %r4 and %r3 are the same physical register; %r2 and %r8 are different registers.
    EXPECT_EQ(registers.pair(wavefront, 3), registers.pair(wavefront, 4));
    EXPECT_EQ(registers.readers(registers.pair(wavefront, 4)), 2U);
    EXPECT_NE(registers.pair(wavefront, 2), registers.pair(wavefront, 4));
    EXPECT_NE(registers.pair(wavefront, 8), registers.pair(wavefront, 4));
    EXPECT_NE(registers.pair(wavefront, 8), registers.pair(wavefront, 2));
    EXPECT_TRUE(registers.consistent());
  }
}

TEST(HistoryIndex, SetAndRestGiveTheElementBack) {
  std::mt19937 random(5);
  for (const HistoryHash hash : {HistoryHash::low, HistoryHash::shift, HistoryHash::xor_}) {
    for (unsigned i = 0; i < 20'000; ++i) {
      const unsigned sets = 1U << random() % 12;
      const unsigned zeros = static_cast<unsigned>(random() % 6);
      const auto element = static_cast<std::uint32_t>(random() >> random() % 32);
      const auto image = static_cast<std::uint32_t>(random() % 1024);
      const HistoryIndex index(hash, sets);
      LoadTag whole = tag(element, image);
      if (random() % 2 == 0) whole.tile.form.rows = 1;
      const unsigned set = index.set(whole, zeros);
      ASSERT_LT(set, sets);
      ASSERT_EQ(index.element(set, index.rest(whole, zeros), image, whole.tile.form, zeros), element);
    }
  }
}

// IDs of tiles are multiples of 16. In this layer, no tile begins in the last of the 16 columns that IDs have.
TEST(HistoryIndex, HashesUseAllSets) {
  const LoweredConvolution c = test::lowered(test::kLayers[5]);
  const TileTags tags(c, DatumIds::exact);
  const auto sets_used = [&](HistoryHash hash) {
    const HistoryIndex index(hash, 1024);
    std::vector<bool> used(1024);
    for (std::uint64_t row = 0; row < c.rows(); row += 16) {
      for (unsigned column = 0; column < c.columns(); column += 16)
        used[index.set({.convolution = 0, .tile = tags.tag(row, column, {})}, 4)] = true;
    }
    return std::count(used.begin(), used.end(), true);
  };
  EXPECT_EQ(sets_used(HistoryHash::low), 64);
  EXPECT_EQ(sets_used(HistoryHash::shift), 960);
  EXPECT_EQ(sets_used(HistoryHash::xor_), 960);
}

// With images innermost, the 64 rows of four adjacent tiles belong to 16 images; each row maps to a separate set.
TEST(HistoryIndex, RowsOfDifferentImagesMapToSeparateSets) {
  const LoweredConvolution c = test::lowered(test::kLayers[5], 16, RowOrder::images_innermost);
  const TileTags tags(c, DatumIds::exact);
  const HistoryIndex index(HistoryHash::xor_, 1024);
  std::vector<bool> used(1024);
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned column = 0; column < 64; column += 16)
      used[index.set({.convolution = 0, .tile = tags.tag(row, column, {.rows = 1, .columns = 16})}, 4)] = true;
  }
  EXPECT_EQ(std::count(used.begin(), used.end(), true), 64);
}

TEST(LoadHistory, AnEntryGoesWithTheLastOfItsLoads) {
  LoadHistory history({.entries = 16});
  const LoadHistory::Handle entry = history.allocate(tag(16), 4, pair(1));
  const std::uint32_t generation = history.generation(entry);
  ASSERT_EQ(history.find(tag(16), 4, Tick{5}), entry);
  history.relay(entry);
  history.retire(entry, generation, Tick{10});
  EXPECT_EQ(history.find(tag(16), 4, Tick{30}), entry);  // the relayed load has not retired
  history.retire(entry, generation, Tick{40});
  EXPECT_EQ(history.find(tag(16), 4, Tick{39}), entry);
  EXPECT_EQ(history.find(tag(16), 4, Tick{40}), LoadHistory::kNone);
  EXPECT_EQ(history.miss(tag(16)), HistoryMiss::released);
}

TEST(LoadHistory, AnOverwrittenRegisterTakesItsEntryAlong) {
  for (const HistoryKeep keep : {HistoryKeep::until_retired, HistoryKeep::until_overwritten}) {
    LoadHistory history({.entries = 16, .keep = keep});
    history.allocate(tag(16), 4, {.simd = 1, .first = 3, .second = 7});
    EXPECT_FALSE(history.overwrite(0, 3, Tick{1}));
    EXPECT_TRUE(history.overwrite(1, 7, Tick{1}));
    EXPECT_EQ(history.find(tag(16), 4, Tick{2}), LoadHistory::kNone);
    EXPECT_FALSE(history.overwrite(1, 3, Tick{2}));
  }
  LoadHistory history({.entries = 16, .keep = HistoryKeep::always});
  history.allocate(tag(16), 4, pair(3));
  EXPECT_FALSE(history.overwrite(0, 3, Tick{1}));
  EXPECT_NE(history.find(tag(16), 4, Tick{2}), LoadHistory::kNone);
}

// Row entries: each load keeps a separate register.
TEST(LoadHistory, AnEntryInSeveralRegistersGoesWithTheLast) {
  LoadHistory history({.entries = 16, .keep = HistoryKeep::until_overwritten});
  const LoadHistory::Handle entry = history.allocate(tag(16), 4, pair(3));
  history.hold(entry, 1, 3);
  history.hold(entry, 0, 5);
  EXPECT_FALSE(history.overwrite(0, 3, Tick{1}));
  EXPECT_FALSE(history.overwrite(0, 3, Tick{1}));  // this register has been removed from the entry
  EXPECT_FALSE(history.overwrite(0, 5, Tick{2}));
  EXPECT_EQ(history.find(tag(16), 4, Tick{2}), entry);
  EXPECT_TRUE(history.overwrite(1, 3, Tick{3}));
  EXPECT_EQ(history.find(tag(16), 4, Tick{3}), LoadHistory::kNone);
  // The next entry at the position of a released entry does not inherit its registers.
  const LoadHistory::Handle next = history.allocate(tag(16), 4, pair(8));
  ASSERT_EQ(next, entry);
  history.hold(next, 0, 9);
  EXPECT_EQ(history.drop(0, Tick{4}), 1U);
  ASSERT_EQ(history.allocate(tag(16), 4, pair(10)), entry);
  EXPECT_FALSE(history.overwrite(0, 8, Tick{5}));
  EXPECT_FALSE(history.overwrite(0, 9, Tick{5}));
  EXPECT_NE(history.find(tag(16), 4, Tick{5}), LoadHistory::kNone);
}

TEST(LoadHistory, ConvolutionsDoNotShareEntries) {
  LoadHistory history({.entries = 0});
  history.allocate(tag(16, 0, 1), 4, pair(1));
  history.allocate(tag(16, 0, 2), 4, pair(2));
  EXPECT_EQ(history.find(tag(16, 0, 0), 4, Tick{1}), LoadHistory::kNone);
  EXPECT_EQ(history.drop(1, Tick{2}), 1U);
  EXPECT_EQ(history.find(tag(16, 0, 1), 4, Tick{3}), LoadHistory::kNone);
  EXPECT_NE(history.find(tag(16, 0, 2), 4, Tick{3}), LoadHistory::kNone);
  EXPECT_EQ(history.drop_all(Tick{4}), 1U);
  EXPECT_EQ(history.used(Tick{4}), 0U);
}

// The next convolution has the number of a convolution that has ended, yet its first loads are compulsory misses.
TEST(LoadHistory, EndedConvolutionsLeaveNothingBehind) {
  LoadHistory history({.entries = 16});
  history.allocate(tag(16, 0, 1), 4, pair(1));
  history.allocate(tag(32, 0, 2), 4, pair(2));
  history.forget(1, Tick{0});
  EXPECT_EQ(history.find(tag(16, 0, 1), 4, Tick{1}), LoadHistory::kNone);
  EXPECT_EQ(history.miss(tag(16, 0, 1)), HistoryMiss::compulsory);
  EXPECT_NE(history.find(tag(32, 0, 2), 4, Tick{2}), LoadHistory::kNone);
}

// With an unlimited number of entries, a store into the workspace visits only the valid entries: if it visited all that ever
// existed, this test would take minutes.
TEST(LoadHistory, DropsCostTheEntriesThatAreThere) {
  LoadHistory history({.entries = 0, .ways = 1, .hash = HistoryHash::low, .keep = HistoryKeep::until_overwritten});
  constexpr std::uint32_t kMany = 300'000;
  for (std::uint32_t element = 0; element < kMany; ++element) {
    ASSERT_EQ(history.find(tag(element), 0, Tick{1}), LoadHistory::kNone);
    history.allocate(tag(element), 0, pair(static_cast<std::uint16_t>(element % 256)));
  }
  EXPECT_EQ(history.used(Tick{1}), kMany);
  EXPECT_EQ(history.drop(0, Tick{2}), kMany);
  EXPECT_EQ(history.used(Tick{2}), 0U);
  for (std::uint32_t element = 0; element < kMany; ++element) {
    ASSERT_EQ(history.find(tag(element), 0, Tick{3}), LoadHistory::kNone);
    history.allocate(tag(element), 0, pair(0));
    ASSERT_EQ(history.drop(0, Tick{3}), 1U);
  }
}

// Each released entry is counted once, by the reason of its release.
TEST(LoadHistory, CountsReleasesByReason) {
  LoadHistory history({.entries = 16, .hash = HistoryHash::shift});
  const auto make = [&](unsigned number) {
    const LoadHistory::Handle entry = history.allocate(tag(16 * number), 4, pair(static_cast<std::uint16_t>(number)));
    return [&history, entry, generation = history.generation(entry)](Tick at) { history.retire(entry, generation, at); };
  };
  using Counts = std::array<std::uint64_t, kHistoryReleases>;  // retired, replaced, overwritten, ended, stored, ...
  for (unsigned i = 0; i < 8; ++i) make(i);
  EXPECT_EQ(history.releases(), (Counts{}));
  history.overwrite(0, 0, Tick{10});
  history.overwrite(0, 1, Tick{10}, HistoryRelease::ended);
  EXPECT_EQ(history.releases(), (Counts{0, 0, 1, 1, 0, 0, 0}));
  ASSERT_EQ(history.find(tag(16 * 18), 4, Tick{11}), LoadHistory::kNone);
  make(18);  // replaces entry 2
  EXPECT_EQ(history.releases(), (Counts{0, 1, 1, 1, 0, 0, 0}));
  // Entries whose loads have retired are counted as released by a look-up, by an allocation at their position, or by a write to
  // their register.
  const auto retires = {make(8), make(9), make(10)};
  for (const auto& retire : retires) retire(Tick{20});
  EXPECT_EQ(history.find(tag(16 * 8), 4, Tick{20}), LoadHistory::kNone);
  EXPECT_EQ(history.releases(), (Counts{1, 1, 1, 1, 0, 0, 0}));
  ASSERT_EQ(history.find(tag(16 * 25), 4, Tick{21}), LoadHistory::kNone);
  make(25);
  history.overwrite(0, 10, Tick{22});
  EXPECT_EQ(history.releases(), (Counts{3, 1, 1, 1, 0, 0, 0}));
  history.allocate(tag(16 * 12, 0, 1), 4, pair(12));
  EXPECT_EQ(history.drop(1, Tick{30}), 1U);
  EXPECT_EQ(history.releases(), (Counts{3, 1, 1, 1, 1, 0, 0}));
  history.allocate(tag(16 * 12, 0, 1), 4, pair(12));
  history.forget(1, Tick{40});
  EXPECT_EQ(history.releases(), (Counts{3, 1, 1, 1, 1, 0, 1}));
  const unsigned left = history.used(Tick{50});
  EXPECT_EQ(history.drop_all(Tick{50}), left);
  EXPECT_EQ(history.releases(), (Counts{3, 1, 1, 1, 1, left, 1}));
  history.reset();
  EXPECT_EQ(history.releases(), (Counts{}));
}

TEST(LoadHistory, RefusesSizesThatAreNotPowersOfTwo) {
  EXPECT_THROW(LoadHistory({.entries = 1000}), std::invalid_argument);
  EXPECT_THROW(LoadHistory({.entries = 1024, .ways = 3}), std::invalid_argument);
  EXPECT_THROW(LoadHistory({.entries = 4, .ways = 8}), std::invalid_argument);
}

// Entries of all sets in one list, the most recently used first.
class Reference {
 public:
  explicit Reference(const LoadHistory::Parameters& p) : p_(p), index_(p.hash, p.entries == 0 ? 1 : p.entries / p.ways) {}

  struct Entry {
    LoadTag tag;
    std::uint16_t pair;
    unsigned loads;
    Tick retired;
    unsigned id;
  };

  Entry* find(const LoadTag& tag, Tick at) {
    if (p_.keep == HistoryKeep::until_retired)
      list_.remove_if([at](const Entry& e) { return e.loads == 0 && e.retired <= at; });
    const auto found = std::find_if(list_.begin(), list_.end(), [&](const Entry& e) { return e.tag == tag; });
    if (found == list_.end()) return nullptr;
    list_.splice(list_.begin(), list_, found);
    return &list_.front();
  }
  unsigned allocate(const LoadTag& tag, std::uint16_t pair) {
    const unsigned set = index_.set(tag, 4);
    const auto in_set = [&](const Entry& e) { return index_.set(e.tag, 4) == set; };
    if (p_.entries != 0 && static_cast<unsigned>(std::count_if(list_.begin(), list_.end(), in_set)) == p_.ways)
      list_.erase(std::prev(std::find_if(list_.rbegin(), list_.rend(), in_set).base()));
    list_.push_front({tag, pair, 1, {}, next_});
    return next_++;
  }
  void retire(unsigned id, Tick at) {
    for (Entry& e : list_) {
      if (e.id != id) continue;
      --e.loads;
      e.retired = later(e.retired, at);
    }
  }
  void overwrite(std::uint16_t pair) {
    if (p_.keep != HistoryKeep::always) list_.remove_if([pair](const Entry& e) { return e.pair == pair; });
  }
  void drop(std::uint8_t convolution) {
    list_.remove_if([convolution](const Entry& e) { return e.tag.convolution == convolution; });
  }

 private:
  LoadHistory::Parameters p_;
  HistoryIndex index_;
  std::list<Entry> list_;
  unsigned next_ = 0;
};

TEST(LoadHistory, EqualsASecondImplementation) {
  std::mt19937 random(6);
  unsigned hits = 0, looked_up = 0;
  for (const unsigned entries : {0U, 1U, 8U, 64U}) {
    for (const unsigned ways : {1U, 2U, 8U}) {
      if (entries != 0 && ways > entries) continue;
      for (const HistoryHash hash : {HistoryHash::low, HistoryHash::shift, HistoryHash::xor_}) {
        for (const HistoryKeep keep : {HistoryKeep::until_retired, HistoryKeep::until_overwritten, HistoryKeep::always}) {
          const LoadHistory::Parameters p{.entries = entries, .ways = ways, .hash = hash, .keep = keep};
          LoadHistory history(p);
          Reference reference(p);
          struct Load {
            LoadHistory::Handle entry;
            std::uint32_t generation;
            unsigned id;
          };
          std::vector<Load> in_flight;
          for (std::uint64_t at = 1; at < 3000; ++at) {
            switch (random() % 8) {
              case 0:
                if (!in_flight.empty()) {
                  const std::size_t which = random() % in_flight.size();
                  const Tick when{at + random() % 3};
                  history.retire(in_flight[which].entry, in_flight[which].generation, when);
                  reference.retire(in_flight[which].id, when);
                  in_flight.erase(in_flight.begin() + static_cast<std::ptrdiff_t>(which));
                }
                break;
              case 1: {
                const auto which = static_cast<std::uint16_t>(random() % 64);
                history.overwrite(0, which, Tick{at});
                reference.overwrite(which);
                break;
              }
              case 2:
                if (random() % 64 == 0) {
                  history.drop(1, Tick{at});
                  reference.drop(1);
                }
                break;
              default: {
                const LoadTag looked = tag(16 * static_cast<std::uint32_t>(random() % 100), random() % 2, random() % 2);
                const LoadHistory::Handle entry = history.find(looked, 4, Tick{at});
                Reference::Entry* const expected = reference.find(looked, Tick{at});
                ASSERT_EQ(entry == LoadHistory::kNone, expected == nullptr);
                ++looked_up;
                if (entry != LoadHistory::kNone) {
                  ++hits;
                  ASSERT_EQ(history.registers(entry).first, expected->pair);
                  history.relay(entry);
                  ++expected->loads;
                  in_flight.push_back({entry, history.generation(entry), expected->id});
                  break;
                }
                // A load that misses overwrites its destination before it gets an entry.
                const auto destination = static_cast<std::uint16_t>(random() % 64);
                history.overwrite(0, destination, Tick{at});
                reference.overwrite(destination);
                const LoadHistory::Handle made = history.allocate(looked, 4, pair(destination));
                in_flight.push_back({made, history.generation(made), reference.allocate(looked, destination)});
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(hits, looked_up / 10);
}

}  // namespace
}  // namespace lacuna
