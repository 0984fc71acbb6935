#include "models/sida/device/memory_ports.h"

#include <algorithm>
#include <string>
#include <utility>

#include "models/common/containers/pooled_records.h"

namespace lacuna {

MemoryPorts::Statistics& MemoryPorts::Statistics::operator+=(const Statistics& other) {
  lines_read += other.lines_read;
  lines_written += other.lines_written;
  waiting += other.waiting;
  translation += other.translation;
  return *this;
}

MemoryPorts::Statistics MemoryPorts::Statistics::operator-(const Statistics& other) const {
  return {lines_read - other.lines_read, lines_written - other.lines_written, waiting - other.waiting,
          translation - other.translation};
}

void MemoryPorts::Statistics::describe(StatisticsGroup& group) const {
  group.add("lines_read", lines_read, "lines requested for reading", "requests");
  group.add("lines_written", lines_written, "lines requested for writing", "requests");
  group.add("waiting", waiting, "time from a line's request until it arrived, summed over lines");
  group.add("translation", translation, "time until the pages of ranges were known, summed over pages");
}

class MemoryPorts::Port : public NodeRequester {
  static constexpr std::size_t kKeptLines = 4096;  ///< lines for which memory is kept when none is left

 public:
  Port(MemoryPorts& owner, unsigned number) : owner_(owner), number_(number), name_("sida port " + std::to_string(number)) {}

  void departures(Tick end, std::vector<Departure>& out) override {
    if (number_ == 0) owner_.work(end);
    earliest_ = kNever;
    std::size_t kept = 0;
    for (Departure& line : lines_) {
      if (line.at < end) {
        out.push_back(line);
      } else {
        earliest_ = earlier(earliest_, line.at);
        lines_[kept++] = line;
      }
    }
    lines_.resize(kept);
    // All lines of a vector may have departed together; their requests have records of their own.
    if (kept == 0 && lines_.capacity() > kKeptLines) lines_ = std::vector<Departure>();
  }
  /// Port 0 also reports the time of the owner's next event: a held request departs, or the client must continue.
  Tick next_departure() const override { return number_ == 0 ? earlier(earliest_, owner_.next()) : earliest_; }
  void complete(std::uint32_t tag, Tick at, const LatencyBreakdown& below) override {
    ++owner_.arrived_;
    owner_.part_arrived(tag, at);
    owner_.statistics_.waiting += below.total();
    finished(at);
    owner_.line_done(*this);
    announce(at);
  }
  const char* name() const override { return name_.c_str(); }

  /// Time at which a line that is ready at `at` can depart; kNever: not before another line arrives.
  Tick departure(Tick at) {
    while (!freed_.empty() && freed_.top() <= at) freed_.pop();
    if (unfinished_ + freed_.size() < owner_.shape_.lines_in_flight) return at;
    return freed_.empty() ? kNever : later(freed_.top(), owner_.phase_begin_);
  }
  /// `line` departs at a time that departure() has returned.
  void add(const Departure& line) {
    if (unfinished_ + freed_.size() >= owner_.shape_.lines_in_flight) freed_.pop();
    ++unfinished_;
    lines_.push_back(line);
    earliest_ = earlier(earliest_, line.at);
  }
  void announce_at(Tick at) { announce(at); }
  /// Removes and returns the lines that have not departed.
  std::vector<Departure> take_lines() {
    earliest_ = kNever;
    unfinished_ -= lines_.size();
    return std::exchange(lines_, {});
  }
  /// Lines in flight will not arrive.
  void forget() {
    unfinished_ = 0;
    freed_ = {};
  }

 private:
  void finished(Tick at) {
    if (unfinished_ + freed_.size() > owner_.shape_.lines_in_flight / 4) freed_.push(at);
    --unfinished_;
  }

  MemoryPorts& owner_;
  unsigned number_;
  std::string name_;
  std::vector<Departure> lines_;
  std::size_t unfinished_ = 0;  ///< lines that have not departed, and lines in flight
  /// Times at which lines have arrived or will arrive, if more than a quarter of the limit was in flight.
  std::priority_queue<Tick, std::vector<Tick>, std::greater<>> freed_;
  Tick earliest_ = kNever;
};

MemoryPorts::MemoryPorts(Clock clock, const Shape& shape, Client& client) : clock_(clock), shape_(shape), client_(client) {
  for (unsigned i = 0; i < shape.ports; ++i) ports_.push_back(std::make_unique<Port>(*this, i));
}

MemoryPorts::~MemoryPorts() = default;

NodeRequester& MemoryPorts::port(unsigned number) { return *ports_[number]; }

// -- requests

std::uint32_t MemoryPorts::new_record(sida::Arrival& arrival, std::uint64_t open, Tick at) {
  const std::uint32_t record = take_record(records_, free_records_);
  records_[record] = {.arrival = &arrival, .open = open, .latest = at};
  return record;
}

void MemoryPorts::add(const sida::AddressRange& range, bool write, Tick at, std::uint32_t record) {
  due_.push({.at = at, .number = number_++, .record = record, .write = write, .range = range});
}

void MemoryPorts::start(const sida::MemoryRequest& request, bool write, sida::Time earliest, sida::Arrival& arrival) {
  found_.clear();
  addresses_->find(request, write, found_);
  const Tick at = clock_.ticks(Cycles{earliest});
  if (found_.empty()) {
    arrival.arrived(earliest);
    return;
  }
  const std::uint32_t record = new_record(arrival, found_.size(), at);
  for (const sida::AddressRange& range : found_) add(range, write, at, record);
}

void MemoryPorts::start_read(const sida::MemoryRequest& request, sida::Time earliest, sida::Arrival& arrival) {
  start(request, false, earliest, arrival);
}

void MemoryPorts::start_write(const sida::MemoryRequest& request, sida::Time earliest, sida::Arrival& arrival) {
  start(request, true, earliest, arrival);
}

void MemoryPorts::access(const sida::AddressRange& range, bool write, sida::Time earliest, sida::Arrival& arrival) {
  const Tick at = clock_.ticks(Cycles{earliest});
  add(range, write, at, new_record(arrival, 1, at));
}

void MemoryPorts::announce() { ports_.front()->announce_at(next()); }

// -- in the memory phase

Tick MemoryPorts::next() const {
  const Tick first = earlier(reaction_, client_.next());
  if (held_) return earlier(first, held_until_);
  return due_.empty() ? first : earlier(first, due_.top().at);
}

void MemoryPorts::work(Tick until) {
  reaction_ = kNever;
  client_.go_on(until);
  for (;;) {
    if (!held_) {
      if (due_.empty() || due_.top().at >= until) break;
      held_ = due_.top();
      due_.pop();
    }
    if (!send_lines(*held_, until)) break;
    held_.reset();
    awaited_port_ = nullptr;
  }
  phase_begin_ = until;
}

void MemoryPorts::line_done(Port& port) {
  if (awaited_port_ == &port) held_until_ = port.departure(held_->at);
}

MemoryPorts::Port& MemoryPorts::port_of(std::uint64_t bus_address, unsigned bytes, bool& in_vram) const {
  unsigned destination = 0;
  const bool routed = fabric_->route(bus_address, bytes, destination);
  in_vram = routed && destination >= first_l2_ && destination - first_l2_ < partitions_;
  const unsigned partition = in_vram ? destination - first_l2_ : 0;
  return *ports_[partition % ports_.size()];
}

bool MemoryPorts::send_lines(Range& range, Tick until) {
  std::uint64_t& address = range.range.address;
  std::uint64_t& left = range.range.bytes;
  std::uint64_t lines = 0;
  const auto count = [&] {
    (range.write ? statistics_.lines_written : statistics_.lines_read) += lines;
    records_[range.record].open += lines;
  };
  isa::MemoryWindow window;
  while (left != 0) {
    if (!window.contains(address, 1)) window = vm_->find(address);
    std::uint64_t in_page = std::min(left, shape_.page_bytes - address % shape_.page_bytes);
    if (window.size == 0) {  // the page was unmapped while the job was running: skip it
      address += in_page;
      left -= in_page;
      range.translated = 0;
      continue;
    }
    in_page = std::min(in_page, window.size - (address - window.base));
    if (range.translated == 0) {
      range.known = tlb_ != nullptr ? tlb_->translate(address, range.at) : range.at;
      statistics_.translation += range.known - range.at;
      range.translated = in_page;
    }
    const std::uint64_t bus_address = window.physical + (address - window.base);
    const std::uint64_t bytes = std::min(in_page, shape_.line_bytes - bus_address % shape_.line_bytes);
    bool in_vram = false;
    Port& port = port_of(bus_address, static_cast<unsigned>(bytes), in_vram);
    const Tick departs = port.departure(range.known);
    if (departs > range.known && departs >= until) {
      count();
      awaited_port_ = &port;
      held_until_ = departs;
      return false;
    }
    ++lines;
    port.add({.at = departs,
              .request = {.address = bus_address,
                          .made = departs,
                          .bytes = static_cast<std::uint16_t>(bytes),
                          .kind = in_vram ? shape_.kind : RequestKind::vector,
                          .write = range.write},
              .tag = range.record});
    if (departs > range.known) range.at = range.known = departs;
    range.translated -= std::min(range.translated, bytes);
    address += bytes;
    left -= bytes;
  }
  count();
  part_arrived(range.record, later(range.known, range.at));
  return true;
}

void MemoryPorts::part_arrived(std::uint32_t number, Tick at) {
  Record& record = records_[number];
  record.latest = later(record.latest, at);
  if (--record.open != 0) return;
  if (record.arrival != nullptr) {
    record.arrival->arrived(clock_.ceil(record.latest).n);
    reaction_ = earlier(reaction_, record.latest);
  }
  record.arrival = nullptr;
  free_records_.push_back(number);
}

// -- end

void MemoryPorts::drop() {
  for (Record& record : records_) record.arrival = nullptr;
  if (held_) part_arrived(held_->record, Tick{});
  held_.reset();
  awaited_port_ = nullptr;
  while (!due_.empty()) {
    const std::uint32_t record = due_.top().record;
    due_.pop();
    part_arrived(record, Tick{});
  }
  for (const auto& port : ports_) {
    for (const NodeRequester::Departure& line : port->take_lines()) part_arrived(line.tag, Tick{});
  }
  reaction_ = kNever;
}

void MemoryPorts::reset() {
  drop();
  for (const auto& port : ports_) port->forget();
  records_.clear();
  free_records_.clear();
}

void MemoryPorts::retire(Tick horizon) {
  if (tlb_ != nullptr) tlb_->retire(horizon);
}

}  // namespace lacuna
