// Organization and timing of a DRAM channel. Timing parameters have their standard names (JEDEC JESD235, JESD212).
#pragma once

#include <cstdint>
#include <string>

#include "models/common/config/parameters.h"
#include "models/common/config/statistics.h"
#include "models/common/time/units.h"

namespace lacuna {

enum class DramScheduler : int { fcfs, frfcfs };
enum class DramPagePolicy : int { open, closed };
enum class DramRefreshStagger : int { none, channels };

struct DramParameters {
  Frequency clock{1'000'000'000};
  Cycles frontend_latency{43};
  unsigned bytes_per_cycle = 16;
  Cycles burst{4};
  unsigned pseudo_channels = 1;
  unsigned bank_groups = 4;
  unsigned banks_per_group = 4;
  Bytes row_size{2048};
  std::string address_map{"row bank^row group^row column pseudo"};
  DramScheduler scheduler = DramScheduler::frfcfs;
  DramPagePolicy page_policy = DramPagePolicy::open;
  unsigned read_queue = 64;
  unsigned write_queue = 64;
  double write_high = 0.8;
  double write_low = 0.2;
  Cycles activate_cycles{1};
  Cycles tCL{10};
  Cycles tCWL{4};
  Cycles tRCDRD{10};
  Cycles tRCDWR{8};
  Cycles tRP{10};
  Cycles tRAS{24};
  Cycles tRC{34};
  Cycles tRTP{4};
  Cycles tWR{12};
  Cycles tCCDS{4};
  Cycles tCCDL{4};
  Cycles tRRDS{4};
  Cycles tRRDL{4};
  Cycles tFAW{16};
  Cycles tWTR{6};
  Cycles tWTRS{5};
  Cycles tRTRS{2};
  Cycles tRFC{160};
  Cycles tREFI{3900};
  DramRefreshStagger refresh_stagger = DramRefreshStagger::channels;

  void describe(ParameterSection& section);

  /// Bytes that the data buses of all pseudo channels carry in `cycles`.
  std::uint64_t bus_bytes(Cycles cycles) const { return cycles.n * pseudo_channels * bytes_per_cycle; }
  /// Minimum cycles between column commands of a pseudo channel: the longer of a burst and tCCDS, or tCCDL if there is only one
  /// bank group.
  Cycles column_gap() const;
  /// Maximum number of requested bytes that the channel transfers in `cycles`, for requests of `request` bytes, with all rows
  /// open and no refreshes. Each request takes whole bursts.
  std::uint64_t reachable_bytes(Cycles cycles, Bytes request) const;
};

struct DramStatistics {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
  std::uint64_t row_hits = 0;
  std::uint64_t row_empty = 0;
  std::uint64_t row_conflicts = 0;
  std::uint64_t refreshes = 0;
  std::uint64_t write_drains = 0;
  std::uint64_t forwarded = 0;
  std::uint64_t errors = 0;
  Tick bus_busy{};
  Tick queueing{};
  Tick write_stall{};
  Tick read_latency{};

  void describe(StatisticsGroup& group) const;
};

}  // namespace lacuna
