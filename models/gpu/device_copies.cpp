#include "models/gpu/device_copies.h"

#include <algorithm>
#include <stdexcept>

#include "include/lacuna/abi/memory_map.h"

namespace lacuna {

namespace {

/// Resources that a bulk copy uses; compute units are not among them.
constexpr std::array kMoved{Resource::l1, Resource::l2, Resource::noc, Resource::dram};

}  // namespace

DeviceCopies::DeviceCopies(Device device) : device_(std::move(device)), write_back_counters_(device_.l2.size()) {
  for (std::size_t i = 0; i < device_.l2.size(); ++i) {
    banks_.emplace(device_.l2[i]->basename(), i);
    channels_.emplace(device_.dram[i]->basename(), i);
  }
}

void DeviceCopies::count(const std::string& name, const Describe& describe) {
  StatisticsGroup group(name);
  describe(group);
  const auto place_of = [&](const char* counter) {
    std::size_t place = counters_.size();
    for (const Statistic& s : group.statistics()) {
      if (s.name == counter) return place;
      place += s.is_count() ? 1 : 0;
    }
    throw std::logic_error(name + " does not count " + counter);
  };
  if (const auto bank = banks_.find(name); bank != banks_.end())
    write_back_counters_[bank->second].write_backs = place_of("write_backs");
  if (const auto channel = channels_.find(name); channel != channels_.end()) {
    write_back_counters_[channel->second].dram_writes = place_of("writes");
    write_back_counters_[channel->second].dram_bytes = place_of("bytes_written");
  }
  const std::vector<const std::uint64_t*> counters = group.sources();
  groups_.push_back({name, counters.size()});
  counters_.insert(counters_.end(), counters.begin(), counters.end());
  in_bulk_.resize(counters_.size());
}

void DeviceCopies::add_to(StatisticsGroup& parent) {
  const std::uint64_t* amounts = in_bulk_.data();
  for (const Group& group : groups_) {
    if (StatisticsGroup* const there = parent.find(group.name)) there->add_to_counts(amounts);
    amounts += group.counters;
  }
}

void DeviceCopies::add_to(EnergyMeter& meter) const {
  for (std::size_t i = 0; i < counters_.size(); ++i) meter.count_also(*counters_[i], in_bulk_[i]);
}

unsigned DeviceCopies::active_users() const {
  const auto engines = std::count_if(device_.engines.begin(), device_.engines.end(),
                                     [](const auto& engine) { return !engine->idle() && !engine->polling(); });
  return device_.dispatcher.active() + device_.packets.bulk_blits().in_bulk() + static_cast<unsigned>(engines) +
         device_.other_users();
}

bool DeviceCopies::in_host_memory(std::uint64_t address) const {
  const isa::MemoryWindow window = device_.vm.find(address);
  return window.physical + (address - window.base) < LACUNA_VRAM_BASE;
}

Cache* DeviceCopies::bank_of(std::uint64_t address, std::uint64_t& bus_address, isa::MemoryWindow& last) const {
  if (!last.contains(address, 1)) last = device_.vm.find(address);
  bus_address = last.physical + (address - last.base);
  AddressRoutes::Hop hop;
  if (!last.contains(address, 1) || !device_.routes.find(bus_address, hop)) return nullptr;
  return hop.destination < device_.l2.size() ? device_.l2[hop.destination].get() : nullptr;
}

std::uint64_t DeviceCopies::dirty() const {
  std::uint64_t sectors = 0;
  for (const auto& bank : device_.l2) sectors += bank->dirty_sectors();
  return sectors;
}

std::uint64_t DeviceCopies::dirtied() const {
  std::uint64_t written = 0;
  for (const auto& bank : device_.l2) written += bank->statistics().write_backs;
  return written + dirty() - left_dirty_;
}

void DeviceCopies::reset() {
  left_dirty_ -= dirty();
  owed_ = 0;
}

std::uint32_t DeviceCopies::l2_state(const CopiedRange& range) const {
  constexpr std::uint64_t kClasses = 4;
  constexpr std::uint64_t kProbes = 64;
  std::uint64_t sectors = 0;
  for (const auto& bank : device_.l2) sectors += bank->sectors();
  std::uint64_t present = 0;
  if (range.has_source) {
    isa::MemoryWindow window;
    std::uint64_t bus_address = 0;
    for (std::uint64_t i = 0; i < kProbes; ++i) {
      Cache* bank = bank_of(range.source + range.bytes / kProbes * i, bus_address, window);
      present += bank != nullptr && bank->holds(bus_address) ? 1 : 0;
    }
  }
  return static_cast<std::uint32_t>(present * kClasses / kProbes << 8 |
                                    dirty() * kClasses / std::max<std::uint64_t>(sectors, 1));
}

void DeviceCopies::install_copied(const CopiedRange& range, bool by_compute_units) {
  const std::uint64_t line = device_.l2_parameters.line.n;
  // Host memory is not cached: the GPU side of a copy to or from host memory may use all of L2.
  const bool both = range.has_source && !in_host_memory(range.source) && !in_host_memory(range.destination);
  const std::uint64_t held = std::min(range.bytes, l2_bytes() / (both ? 2 : 1));
  const std::uint64_t dirty_before = dirty();
  isa::MemoryWindow from;
  isa::MemoryWindow to;
  std::uint64_t bus_address = 0;
  for (std::uint64_t at = range.bytes - held; at < range.bytes; at += line) {
    if (range.has_source) {
      if (Cache* bank = bank_of(range.source + at, bus_address, from)) bank->install_copied(bus_address, false);
    }
    if (Cache* bank = bank_of(range.destination + at, bus_address, to)) bank->install_copied(bus_address, true);
  }
  const std::uint64_t more = dirty() - dirty_before;
  left_dirty_ += more;
  owed_ -= static_cast<std::int64_t>(more);
  count_write_backs();
  if (!device_.write_observers.empty()) notify_observers(range, by_compute_units);
  if (device_.l2_tlb == nullptr) return;
  install_pages(*device_.l2_tlb, device_.l2_tlb_parameters, range);
  if (!by_compute_units) return;
  for (const auto& tlb : device_.l1_tlbs) install_pages(*tlb, device_.l1_tlb_parameters, range);
}

void DeviceCopies::notify_observers(const CopiedRange& range, bool by_compute_units) {
  for (std::uint64_t at = 0; at < range.bytes;) {
    const std::uint64_t address = range.destination + at;
    const isa::MemoryWindow window = device_.vm.find(address);
    if (!window.contains(address, 1)) return;
    const std::uint64_t offset = address - window.base;
    const std::uint64_t piece = std::min(range.bytes - at, window.size - offset);
    for (WriteObserver* const observer : device_.write_observers)
      observer->written(window.physical + offset, piece, by_compute_units);
    at += piece;
  }
}

void DeviceCopies::install_pages(Tlb& tlb, const TlbParameters& parameters, const CopiedRange& range) {
  const std::uint64_t page = parameters.page.n;
  const std::uint64_t pages = std::max<std::uint64_t>(parameters.entries / (range.has_source ? 2 : 1), 1);
  const std::uint64_t held = std::min(range.bytes, pages * page);
  for (std::uint64_t at = range.bytes - held; at < range.bytes; at += page) {
    if (range.has_source) tlb.install_page(range.source + at);
    tlb.install_page(range.destination + at);
  }
}

// A copy's lines are distributed evenly over the L2 banks.
void DeviceCopies::count_write_backs() {
  if (owed_ <= 0 || write_back_counters_.empty()) return;
  const std::uint64_t each = static_cast<std::uint64_t>(owed_) / write_back_counters_.size();
  const std::uint64_t sector = device_.l2_parameters.sector.n;
  for (const WriteBackCounters& counters : write_back_counters_) {
    in_bulk_[counters.write_backs] += each;
    in_bulk_[counters.dram_writes] += each;
    in_bulk_[counters.dram_bytes] += each * sector;
  }
  const std::uint64_t all = each * write_back_counters_.size();
  used_[static_cast<std::size_t>(Resource::dram)] += all * sector;
  owed_ -= static_cast<std::int64_t>(all);
}

std::vector<std::uint64_t> DeviceCopies::traffic() const {
  std::vector<std::uint64_t> amounts;
  amounts.reserve(counters_.size() + kMoved.size() + 1);
  for (const std::uint64_t* const counter : counters_) amounts.push_back(*counter);
  const ResourceAmounts used = device_.used();
  for (const Resource resource : kMoved) amounts.push_back(used[static_cast<std::size_t>(resource)]);
  amounts.push_back(dirtied());
  return amounts;
}

void DeviceCopies::add_traffic(const std::vector<std::uint64_t>& amounts) {
  for (std::size_t i = 0; i < in_bulk_.size(); ++i) in_bulk_[i] += amounts[i];
  for (std::size_t i = 0; i < kMoved.size(); ++i) used_[static_cast<std::size_t>(kMoved[i])] += amounts[in_bulk_.size() + i];
  owed_ += static_cast<std::int64_t>(amounts.back());
  for (const WriteBackCounters& counters : write_back_counters_) {
    owed_ -= static_cast<std::int64_t>(amounts[counters.write_backs]);
  }
}

}  // namespace lacuna
