// The accelerator's ports to memory: the requests of a pass as requests for lines at nodes of the fabric.
//
// Each port is a unit of the memory phase (models/gpu/node_requester.h) and carries the lines of the memory partitions p with
// p mod ports = its number. A request of the pipeline is kept until its time; then its ranges are translated, one TLB look-up a
// page, and their lines leave. It has arrived when its last line has. All ports act on one thread, in memory phases alone;
// after arrivals the pipeline goes on in the same phase.
#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

#include "models/common/config/statistics.h"
#include "models/common/time/units.h"
#include "models/gpu/node_requester.h"
#include "models/sida/device/pass_addresses.h"
#include "models/sida/pipeline/pass_memory.h"
#include "models/tlb/gpuvm.h"
#include "models/tlb/tlb.h"

namespace lacuna {

class MemoryPorts : public sida::PassMemory {
 public:
  /// What goes on when requests have arrived.
  class Client {
   public:
    virtual ~Client() = default;
    /// Goes on with what has arrived, and makes the requests that leave before `until`.
    virtual void go_on(Tick until) = 0;
    /// When go_on() has to be called although nothing arrives; kNever: it has not.
    virtual Tick next() const = 0;
  };
  struct Statistics {
    std::uint64_t lines_read = 0, lines_written = 0;
    Tick waiting{};      ///< of lines for network, caches and DRAM, summed
    Tick translation{};  ///< from the time of ranges until their pages were known, summed
    Statistics& operator+=(const Statistics& other);
    Statistics operator-(const Statistics& other) const;
    void describe(StatisticsGroup& group) const;
  };

  struct Shape {
    unsigned ports;
    unsigned line_bytes;       ///< of a request
    std::uint64_t page_bytes;  ///< of the TLB
    RequestKind kind;          ///< of lines in GPU memory
  };
  /// `clock`: of the accelerator.
  MemoryPorts(Clock clock, const Shape& shape, Client& client);
  ~MemoryPorts() override;

  void attach(const GpuVm& vm) { vm_ = &vm; }
  /// The `partitions` destinations from `first_l2` on are GPU memory.
  void attach(const Fabric& fabric, unsigned first_l2, unsigned partitions) {
    fabric_ = &fabric;
    first_l2_ = first_l2;
    partitions_ = partitions;
  }
  /// Without a TLB translation takes no time.
  void attach(Tlb& tlb) { tlb_ = &tlb; }
  unsigned ports() const { return static_cast<unsigned>(ports_.size()); }
  NodeRequester& port(unsigned number);

  /// The arrays of the pass that follows.
  void begin(sida::PassAddresses addresses) { addresses_ = std::move(addresses); }
  void start_read(const sida::MemoryRequest& request, sida::Time earliest, sida::Arrival& arrival) override;
  void start_write(const sida::MemoryRequest& request, sida::Time earliest, sida::Arrival& arrival) override;
  bool keeps_requests() const override { return true; }
  /// Reads or writes a range that belongs to no pass.
  void access(const sida::AddressRange& range, bool write, sida::Time earliest, sida::Arrival& arrival);
  /// Announces to the memory phase that requests have been made outside of it.
  void announce();

  /// Requests and ranges that have not arrived.
  std::uint64_t open() const { return records_.size() - free_records_.size(); }
  /// Lines that have arrived.
  std::uint64_t arrived() const { return arrived_; }
  /// Forgets all requests: their arrivals are not reported. Lines in flight still arrive.
  void drop();
  /// Forgets lines in flight as well, which do not arrive.
  void reset();
  /// No request is earlier than `horizon`.
  void retire(Tick horizon);
  const Statistics& statistics() const { return statistics_; }
  /// Counts lines of a pass whose requests were not made.
  void add(const Statistics& of_pass) { statistics_ += of_pass; }

 private:
  class Port;
  struct Record {
    sida::Arrival* arrival = nullptr;  ///< null: dropped
    std::uint64_t open = 0;            ///< ranges and lines that have not arrived
    Tick latest{};
  };
  /// Part of a request that waits for its time.
  struct Range {
    Tick at{};
    std::uint64_t number = 0;  ///< in the order of requests
    std::uint32_t record = 0;
    bool write = false;
    sida::AddressRange range{};
    bool operator>(const Range& other) const { return at != other.at ? at > other.at : number > other.number; }
  };

  void add(const sida::AddressRange& range, bool write, Tick at, std::uint32_t record);
  void start(const sida::MemoryRequest& request, bool write, sida::Time earliest, sida::Arrival& arrival);
  std::uint32_t new_record(sida::Arrival& arrival, std::uint64_t open, Tick at);
  /// One range or line of a record has arrived.
  void part_arrived(std::uint32_t record, Tick at);
  void work(Tick until);
  void send_lines(const Range& range);
  Tick next() const;

  const Clock clock_;
  const Shape shape_;
  Client& client_;
  const GpuVm* vm_ = nullptr;
  const Fabric* fabric_ = nullptr;
  unsigned first_l2_ = 0, partitions_ = 0;
  Tlb* tlb_ = nullptr;
  std::vector<std::unique_ptr<Port>> ports_;
  std::optional<sida::PassAddresses> addresses_;
  std::vector<sida::AddressRange> found_;
  std::priority_queue<Range, std::vector<Range>, std::greater<>> due_;
  std::uint64_t number_ = 0, arrived_ = 0;
  std::vector<Record> records_;
  std::vector<std::uint32_t> free_records_;
  Tick reaction_ = kNever;  ///< earliest arrival since go_on() was called last
  Statistics statistics_;
};

}  // namespace lacuna
