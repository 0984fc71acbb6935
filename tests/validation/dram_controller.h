// A DRAM controller that decides cycle by cycle, as the reference for traffic for which there are no curves of other
// simulators.
//
// The channel has one queue of reads and one of writes; each is scheduled first-ready, first-come-first-served (FR-FCFS). In
// every cycle the row bus and the column bus carry one command each: that of the oldest request whose next command may be
// issued. A row is not closed while a request of the queue being served can use the row. A request whose row was opened for it
// leaves its queue; up to 32 such requests wait outside of the queues.
//
// The controller switches to writes when they occupy more than the fraction `write_high` of their queue or the queue of reads
// is empty, and back to reads when writes occupy less than `write_low` and the queue of reads is not empty. This is what
// Ramulator2 (generic DRAM controller, wr_high_watermark, wr_low_watermark) and DRAMSys (scheduler GrpFrFcfsWm, HighWatermark,
// LowWatermark) document.
//
// The controller is not optimised for speed. It shares only the address map and the names of the timing parameters with the
// model that is compared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/dram/address_map.h"
#include "models/dram/dram_parameters.h"

namespace lacuna::validation {

class DramController {
 public:
  using Cycle = std::uint64_t;

  explicit DramController(const DramParameters& parameters);

  /// Adds a burst. Returns false if its queue is full.
  bool offer(std::uint64_t address, bool write, std::uint64_t id);
  /// Simulates one cycle.
  void tick();
  Cycle now() const { return now_; }
  bool idle() const { return requests_.empty(); }

  struct Completion {
    std::uint64_t id;
    Cycle done;  ///< time of the last datum of the read or write on the bus
  };
  /// Requests whose column commands were issued since the last call.
  std::vector<Completion> completed();
  /// Number of changes from read to write column commands, summed over the pseudo channels.
  std::uint64_t turns() const { return turns_; }

 private:
  struct Request {
    std::uint64_t id;
    bool write;
    bool opened;  // the row was opened for this request, which has left the queue
    std::size_t pseudo;
    std::size_t group;
    std::size_t bank;
    std::uint64_t row;
  };
  struct Bank {
    bool open = false;
    std::uint64_t row = 0;
    Cycle activate = 0;  // earliest cycle of each command
    Cycle precharge = 0;
    Cycle read = 0;
    Cycle write = 0;
  };
  struct Group {
    Cycle activate = 0;
    Cycle column = 0;
    Cycle read = 0;
  };
  struct Pseudo {
    Cycle activate = 0;
    Cycle column = 0;
    Cycle read = 0;
    Cycle write = 0;
    std::array<Cycle, 4> activates{};  // ends of the tFAW windows of the last four activates
    bool writing = false;
    bool refreshing = false;
    Cycle refresh = 0;  // time of the next refresh
  };

  std::size_t waiting(bool write) const { return write ? writes_ : reads_; }
  bool is_served(const Request& request) const { return request.opened || request.write == write_mode_; }
  void choose_mode();
  void refresh();
  void issue_column();
  void issue_row();
  bool may_close(std::size_t bank) const;
  void activate(Request& request);

  const DramParameters parameters_;
  const DramAddressMap map_;
  const unsigned burst_bytes_;
  const Cycle burst_;
  std::vector<Request> requests_;  // oldest first
  std::vector<Bank> banks_;
  std::vector<Group> groups_;
  std::vector<Pseudo> pseudos_;
  std::vector<Completion> completed_;
  std::size_t reads_ = 0;  // number of reads in the queues
  std::size_t writes_ = 0;
  std::size_t opened_ = 0;
  bool write_mode_ = false;
  Cycle now_ = 0;
  Cycle row_bus_ = 0;  // first cycle in which the row bus is free
  std::uint64_t turns_ = 0;
};

}  // namespace lacuna::validation
