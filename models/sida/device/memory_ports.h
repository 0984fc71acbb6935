// The accelerator's ports to memory. They split the requests of a pass into requests for lines at nodes of the fabric.
//
// Each port is a unit of the memory phase (models/gpu/node_requester.h) and requests the lines of those memory partitions p for
// which p mod ports is the port's number; port 0 also requests lines outside of GPU memory. A request of the pipeline is held
// until its departure time; then its address ranges are translated, with one TLB look-up per page, and their lines depart. The
// request is complete when its last line has arrived. A port has at most `lines_in_flight` unfinished lines; while the port of
// the next line has that many, that line and all later ones wait. All ports run on one thread, only in memory phases; the
// pipeline continues in the phase in which data arrive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
  /// The user of the ports, which continues when requests have arrived.
  class Client {
   public:
    virtual ~Client() = default;
    /// Processes arrivals and issues the requests that depart before `until`.
    virtual void go_on(Tick until) = 0;
    /// Time at which go_on() must be called even if nothing arrives; kNever: not required.
    virtual Tick next() const = 0;
  };
  struct Statistics {
    std::uint64_t lines_read = 0, lines_written = 0;
    Tick waiting{};      ///< time in network, caches and DRAM, summed over the lines
    Tick translation{};  ///< time from a range's departure to the translation of a page, summed over all pages of ranges
    Statistics& operator+=(const Statistics& other);
    Statistics operator-(const Statistics& other) const;
    void describe(StatisticsGroup& group) const;
  };

  struct Shape {
    unsigned ports;
    unsigned line_bytes;       ///< bytes of a request
    std::uint64_t page_bytes;  ///< page size of the TLB
    RequestKind kind;          ///< kind of requests to GPU memory
    unsigned lines_in_flight;  ///< limit of each port
  };
  /// `clock`: the accelerator's clock.
  MemoryPorts(Clock clock, const Shape& shape, Client& client);
  ~MemoryPorts() override;

  void attach(const GpuVm& vm) { vm_ = &vm; }
  /// Attaches the fabric. Its destinations from `first_l2` on, one per partition, are GPU memory.
  void attach(const Fabric& fabric, unsigned first_l2, unsigned partitions) {
    fabric_ = &fabric;
    first_l2_ = first_l2;
    partitions_ = partitions;
  }
  /// Attaches the TLB. Without a TLB, translation takes no time.
  void attach(Tlb& tlb) { tlb_ = &tlb; }
  unsigned ports() const { return static_cast<unsigned>(ports_.size()); }
  NodeRequester& port(unsigned number);

  /// Sets the addresses of the arrays that the next pass accesses.
  void begin(sida::PassAddresses addresses) { addresses_ = std::move(addresses); }
  void start_read(const sida::MemoryRequest& request, sida::Time earliest, sida::Arrival& arrival) override;
  void start_write(const sida::MemoryRequest& request, sida::Time earliest, sida::Arrival& arrival) override;
  bool keeps_requests() const override { return true; }
  /// Reads or writes a range outside of any pass.
  void access(const sida::AddressRange& range, bool write, sida::Time earliest, sida::Arrival& arrival);
  /// Notifies the memory phase of requests that were made between phases.
  void announce();

  /// Number of requests, and of accesses outside of passes, in flight.
  std::uint64_t open() const { return records_.size() - free_records_.size(); }
  /// Number of lines that have arrived.
  std::uint64_t arrived() const { return arrived_; }
  /// Drops all requests without reporting their arrival. Lines in flight still arrive.
  void drop();
  /// Like drop(), but also drops lines in flight, which will not arrive.
  void reset();
  /// Drops state of the TLB for times before `horizon`. After the call, no request may depart before `horizon`.
  void retire(Tick horizon);
  const Statistics& statistics() const { return statistics_; }
  /// Adds statistics of a pass whose requests were not simulated.
  void add(const Statistics& of_pass) { statistics_ += of_pass; }

 private:
  class Port;
  struct Record {
    sida::Arrival* arrival = nullptr;  ///< null: the request was dropped
    std::uint64_t open = 0;            ///< number of ranges and lines in flight
    Tick latest{};
  };
  /// An address range of a request, held until its departure time.
  struct Range {
    Tick at{};
    std::uint64_t number = 0;  ///< sequence number, which orders ranges that depart at the same time
    std::uint32_t record = 0;
    bool write = false;
    sida::AddressRange range{};
    Tick known{};                  ///< time at which the current page's translation is known
    std::uint64_t translated = 0;  ///< bytes of the page that have not been sent
    bool operator>(const Range& other) const { return at != other.at ? at > other.at : number > other.number; }
  };

  void add(const sida::AddressRange& range, bool write, Tick at, std::uint32_t record);
  void start(const sida::MemoryRequest& request, bool write, sida::Time earliest, sida::Arrival& arrival);
  std::uint32_t new_record(sida::Arrival& arrival, std::uint64_t open, Tick at);
  /// Processes the arrival of a range or line of a record.
  void part_arrived(std::uint32_t record, Tick at);
  void work(Tick until);
  /// Sends the lines of a range. Returns false if the port of the next line is full until `until` or later; `range` is then the
  /// rest.
  bool send_lines(Range& range, Tick until);
  Port& port_of(std::uint64_t bus_address, unsigned bytes, bool& in_vram) const;
  /// A line of a port has arrived.
  void line_done(Port& port);
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
  std::optional<Range> held_;           ///< range whose next line waits for a full port
  Tick phase_begin_{};                  ///< end of the previous memory phase
  const Port* awaited_port_ = nullptr;  ///< that port
  Tick held_until_ = kNever;            ///< time at which the line can depart; kNever: not before another line arrives
  std::uint64_t number_ = 0, arrived_ = 0;
  std::vector<Record> records_;
  std::vector<std::uint32_t> free_records_;
  Tick reaction_ = kNever;  ///< earliest completion of a request since the last call of go_on()
  Statistics statistics_;
};

}  // namespace lacuna
