#include "models/command/running_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <ostream>
#include <tuple>
#include <utility>

namespace lacuna {
namespace {

/// Number of instructions to observe over all wavefronts, within the limits below for each wavefront: less than a second of
/// host time.
constexpr std::uint64_t kObservedInAll = 4'000'000;
constexpr std::uint64_t kLeastObserved = 1'000;
constexpr std::uint64_t kMostObserved = 20'000;
/// Maximum number of lines of each kind for a kernel.
constexpr std::size_t kMostLines = 16;

std::string size_text(const std::array<std::uint32_t, 3>& size) { return fmt::format("{}x{}x{}", size[0], size[1], size[2]); }

std::string count_text(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string name_of(const WavefrontSnapshot& w) {
  const auto& id = w.workgroup_id;
  return fmt::format("workgroup ({}, {}, {}), wavefront {}, compute unit {} SIMD {} slot {}", id[0], id[1], id[2],
                     w.wave_in_group, w.unit->place().index, w.simd, w.slot);
}

std::string wait_text(const WavefrontSnapshot& w) {
  const auto outstanding = [&w] {
    std::string text;
    if (w.vector_memory != 0) text += fmt::format(", vmcnt {}", w.vector_memory);
    if (w.other_memory != 0) text += fmt::format(", lgkmcnt {}", w.other_memory);
    return text;
  };
  switch (w.wait) {
    case WavefrontWait::none:
      return "running";
    case WavefrontWait::memory:
      return "waits for memory" + outstanding();
    case WavefrontWait::counter:
      return "waits for room in a wait counter" + outstanding();
    case WavefrontWait::registers:
      return "waits for a held load or an offloaded chain";
    case WavefrontWait::fetch:
      return "waits for its next instruction";
    case WavefrontWait::sleep:
      return "sleeps";
    case WavefrontWait::barrier:
      return fmt::format("waits at a barrier: {} of {} wavefronts of the workgroup have arrived, {} ended", w.at_barrier,
                         w.wavefronts, w.ended);
    case WavefrontWait::sync:
      return "waits for global wave sync";
    case WavefrontWait::fault:
      return "has faulted";
  }
  return "?";
}

/// Groups of wavefronts with equal keys, largest group first; groups of equal size are in the order of their first wavefronts.
template <class Key, class KeyOf>
std::vector<std::vector<const WavefrontSnapshot*>> grouped_by(std::span<const WavefrontSnapshot* const> wavefronts,
                                                              KeyOf key_of) {
  std::vector<std::vector<const WavefrontSnapshot*>> groups;
  std::map<Key, std::size_t> numbers;
  for (const WavefrontSnapshot* w : wavefronts) {
    const auto [entry, is_new] = numbers.try_emplace(key_of(*w), groups.size());
    if (is_new) groups.emplace_back();
    groups[entry->second].push_back(w);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return groups;
}

std::vector<const WavefrontSnapshot*> pointers(std::span<const WavefrontSnapshot> wavefronts) {
  std::vector<const WavefrontSnapshot*> all;
  for (const WavefrontSnapshot& w : wavefronts) all.push_back(&w);
  return all;
}

void write_rest(std::span<const std::vector<const WavefrontSnapshot*>> groups, const char* what, std::ostream& out) {
  if (groups.size() <= kMostLines) return;
  std::size_t wavefronts = 0;
  for (const auto& group : groups.subspan(kMostLines)) wavefronts += group.size();
  out << fmt::format("    {} at {} more {}\n", count_text(wavefronts, "other wavefront"), groups.size() - kMostLines, what);
}

bool spins(const WavefrontSnapshot& w) { return w.observation && w.observation->spins(); }

}  // namespace

RunningKernels::RunningKernels(std::span<Dispatch* const> dispatches, std::span<ComputeUnit* const> units, PlaceOf place,
                               MemoryOf memory)
    : dispatches_(dispatches.begin(), dispatches.end()), place_(std::move(place)), memory_(std::move(memory)) {
  std::sort(dispatches_.begin(), dispatches_.end(), [](const Dispatch* a, const Dispatch* b) { return a->index < b->index; });
  for (const ComputeUnit* unit : units) unit->take_snapshot(wavefronts_);
  std::stable_sort(wavefronts_.begin(), wavefronts_.end(), [](const WavefrontSnapshot& a, const WavefrontSnapshot& b) {
    return std::tuple(a.dispatch->index, a.workgroup, a.wave_in_group) <
           std::tuple(b.dispatch->index, b.workgroup, b.wave_in_group);
  });
  const auto live = static_cast<std::uint64_t>(
      std::count_if(wavefronts_.begin(), wavefronts_.end(), [](const WavefrontSnapshot& w) { return w.goes_on(); }));
  if (live == 0) return;
  observed_ = static_cast<unsigned>(std::clamp(kObservedInAll / live, kLeastObserved, kMostObserved));
  for (WavefrontSnapshot& w : wavefronts_) {
    if (w.goes_on()) w.unit->observe(w, observed_);
  }
}

void RunningKernels::write(std::ostream& out, const std::function<std::string(const Dispatch&)>& not_started) const {
  for (const Dispatch* dispatch : dispatches_) {
    const auto first = std::find_if(wavefronts_.begin(), wavefronts_.end(),
                                    [dispatch](const WavefrontSnapshot& w) { return w.dispatch == dispatch; });
    const auto end =
        std::find_if(first, wavefronts_.end(), [dispatch](const WavefrontSnapshot& w) { return w.dispatch != dispatch; });
    const std::span<const WavefrontSnapshot> wavefronts(first, end);
    DispatchWork done;
    done.wavefront_instructions = dispatch->wavefront_instructions;
    dispatch->add_open_work(done);
    out << fmt::format(
        "  kernel {} (dispatch {}, queue {}, packet {}): grid {}, workgroup {}; of {}: {} finished, {} running, {} not "
        "started; {} so far\n",
        dispatch->kernel, dispatch->index, dispatch->queue_slot, dispatch->packet_index, size_text(dispatch->grid),
        size_text(dispatch->workgroup), count_text(dispatch->total_workgroups(), "workgroup"), dispatch->finished_workgroups,
        dispatch->next_workgroup - dispatch->finished_workgroups, dispatch->total_workgroups() - dispatch->next_workgroup,
        count_text(done.wavefront_instructions, "wavefront instruction"));
    if (const std::string why = not_started(*dispatch); !why.empty()) out << "    next workgroup: " << why << '\n';
    write_groups(*dispatch, wavefronts, out);
    write_spins(*dispatch, wavefronts, out);
    write_barriers(*dispatch, wavefronts, out);
  }
}

void RunningKernels::write_groups(const Dispatch& dispatch, std::span<const WavefrontSnapshot> wavefronts,
                                  std::ostream& out) const {
  using Key = std::pair<std::uint64_t, WavefrontWait>;
  const auto groups = grouped_by<Key>(pointers(wavefronts), [](const WavefrontSnapshot& w) { return Key(w.pc, w.wait); });
  for (std::size_t i = 0; i < groups.size() && i < kMostLines; ++i) {
    const WavefrontSnapshot& example = *groups[i].front();
    out << fmt::format("    {} at {}, {}: {}; e.g. {}\n", count_text(groups[i].size(), "wavefront"),
                       place_(dispatch, example.pc), example.unit->instruction_text(example.pc), wait_text(example),
                       name_of(example));
  }
  write_rest(groups, "places", out);
}

void RunningKernels::write_spins(const Dispatch& dispatch, std::span<const WavefrontSnapshot> wavefronts,
                                 std::ostream& out) const {
  std::vector<const WavefrontSnapshot*> spinning;
  for (const WavefrontSnapshot& w : wavefronts) {
    if (spins(w)) spinning.push_back(&w);
  }
  // Groups wavefronts in the same loop that poll the same first address.
  using Key = std::tuple<std::uint64_t, std::uint64_t, bool, std::uint64_t>;
  const auto groups = grouped_by<Key>(spinning, [](const WavefrontSnapshot& w) {
    const WavefrontObservation& seen = *w.observation;
    const std::uint64_t place = seen.reads.empty() || seen.reads[0].ranges[0].lds ? 0 : seen.reads[0].ranges[0].address;
    return Key(seen.first_pc, seen.last_pc, seen.end == WavefrontObservation::End::repeats, place);
  });
  for (std::size_t i = 0; i < groups.size() && i < kMostLines; ++i) write_spin(dispatch, groups[i], out);
  write_rest(groups, "loops", out);
}

void RunningKernels::write_spin(const Dispatch& dispatch, const Group& group, std::ostream& out) const {
  const WavefrontSnapshot& example = *group.front();
  const WavefrontObservation& seen = *example.observation;
  out << fmt::format("    {} in a loop from {} to {}: ", count_text(group.size(), "wavefront"), place_(dispatch, seen.first_pc),
                     place_(dispatch, seen.last_pc));
  if (seen.end == WavefrontObservation::End::repeats) {
    out << fmt::format("with memory as it is now, registers are the same again after every {}",
                       count_text(seen.period, "instruction"));
  } else {
    out << fmt::format("stayed there for {}, while registers changed",
                       count_text(seen.instructions - seen.instructions / 2, "instruction"));
  }
  out << "; e.g. " << name_of(example) << '\n';
  const auto lanes = static_cast<unsigned>(std::popcount(seen.lanes));
  if (lanes < example.work_items) {
    out << fmt::format(
        "      lanes: {} of {} are active in the loop; {} cannot go on before these have left it (reconvergence)\n", lanes,
        example.work_items, example.work_items - lanes);
  }
  if (seen.reads.empty()) out << "      it reads no memory: nothing can end it\n";
  for (const WavefrontObservation::Read& read : seen.reads) {
    const WavefrontObservation::Range& range = read.ranges.front();
    out << fmt::format("      waits on {} bytes at {}{:#x}, value {:#x}{} ({} at {}, lane {}){}; {}\n", range.bytes,
                       range.lds ? "LDS address " : "", range.address, read.value,
                       read.ranges.size() == 1 ? "" : fmt::format(", and {} more places", read.ranges.size() - 1),
                       read.atomic ? "atomic" : "load", place_(dispatch, read.pc), read.lane,
                       range.lds ? std::string() : ", " + memory_(range.address), writers(example, read));
  }
  if (seen.more_reads) out << "      and on more places\n";
}

std::string RunningKernels::writers(const WavefrontSnapshot& reader, const WavefrontObservation::Read& read) const {
  std::size_t writing = 0;
  std::size_t unknown = 0;
  const WavefrontSnapshot* example = nullptr;
  for (const WavefrontSnapshot& w : wavefronts_) {
    if (!w.observation || &w == &reader) continue;
    if (read.ranges.front().lds && (w.dispatch != reader.dispatch || w.workgroup != reader.workgroup)) continue;
    const WavefrontObservation& seen = *w.observation;
    if (std::any_of(read.ranges.begin(), read.ranges.end(), [&seen](const auto& range) { return seen.writes_to(range); })) {
      ++writing;
      if (example == nullptr) example = &w;
    } else if (seen.more_writes) {
      ++unknown;
    }
  }
  if (writing != 0) {
    return fmt::format("within their next {} instructions {} would change it, e.g. {} of kernel {}", observed_,
                       count_text(writing, "wavefront"), name_of(*example), example->dispatch->kernel);
  }
  if (unknown != 0) return fmt::format("{} wrote too much to tell whether there", count_text(unknown, "wavefront"));
  return fmt::format("no running wavefront changes it within its next {} instructions", observed_);
}

void RunningKernels::write_barriers(const Dispatch& dispatch, std::span<const WavefrontSnapshot> wavefronts,
                                    std::ostream& out) const {
  std::size_t divergent = 0;
  std::vector<const WavefrontSnapshot*> example;  // wavefronts of the first divergent workgroup that are not at the barrier
  for (std::size_t i = 0; i < wavefronts.size();) {
    std::size_t end = i;
    std::vector<const WavefrontSnapshot*> others;
    while (end < wavefronts.size() && wavefronts[end].workgroup == wavefronts[i].workgroup) {
      if (wavefronts[end].wait != WavefrontWait::barrier) others.push_back(&wavefronts[end]);
      ++end;
    }
    const bool waits = others.size() != end - i;
    // Whether all wavefronts that do not wait at the barrier were observed to spin, or wait for global wave sync.
    const bool never = std::all_of(others.begin(), others.end(),
                                   [](const WavefrontSnapshot* w) { return spins(*w) || w->wait == WavefrontWait::sync; });
    if (waits && !others.empty() && never && divergent++ == 0) example = std::move(others);
    i = end;
  }
  if (divergent == 0) return;
  const WavefrontSnapshot& other = *example.front();
  const auto& id = other.workgroup_id;
  out << fmt::format(
      "    divergent barrier in {}: in workgroup ({}, {}, {}) {} of {} wavefronts have arrived, {} ended, {} {} elsewhere and "
      "not on the way to a barrier, wavefront {} at {}\n",
      count_text(divergent, "workgroup"), id[0], id[1], id[2], other.at_barrier, other.wavefronts, other.ended, example.size(),
      example.size() == 1 ? "is" : "are", other.wave_in_group, place_(dispatch, other.pc));
}

}  // namespace lacuna
