// `lacuna sida run` and `explain`: runs a program of the accelerator on a matrix, and explains its passes.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "include/lacuna/sida.h"

namespace lacuna {

struct ConfigurationSource;

enum class SidaMachine : std::uint8_t {
  sida,      ///< the accelerator, with a memory described by bandwidth and latency
  roofline,  ///< roofline, oracle and cpu are analytical models
  oracle,
  cpu,
  device  ///< the accelerator in a GPU, with its network, caches and DRAM
};
inline constexpr std::array<const char*, 5> kSidaMachineNames{"sida", "roofline", "oracle", "cpu", "device"};

struct SidaRunOptions {
  std::string matrix;                ///< --matrix: a file or KIND:…
  std::optional<std::string> order;  ///< --order: order of the rows; empty: as in the file
  bool as_stored = false;
  bool blocked = false;       ///< --storage blocked
  unsigned block_side = 256;  ///< --block: side of a block
  lacuna_sida_fusion fusion = LACUNA_SIDA_FUSION_AUTO;
  SidaMachine machine = SidaMachine::sida;
  std::uint64_t iterations = 0;  ///< --iterations: maximum number; 0: the program's own limit
  std::uint32_t source = 0, features = 0;
  double tolerance = 0;
  bool check = false;
  std::optional<std::string> timeline;   ///< --timeline: picture of the longest pass
  std::optional<std::string> folder;     ///< --out: results as files
  std::optional<std::string> addresses;  ///< --addresses: job_arrays.csv of a run whose addresses are used
  bool quiet = false;                    ///< --quiet: nothing is printed
};

/// Runs a program and prints iterations, time, bytes by kind, utilisation, energy if available and, with `check`, whether the
/// result equals that of executing one operation at a time. Returns false if it does not. Throws ConfigurationError, also for
/// an unknown program; sida::MatrixError, sida::PassError, OutputError, WriteError.
bool run_application(const std::string& program, const SidaRunOptions& options,
                     const std::vector<ConfigurationSource>& configuration, std::ostream& out, std::ostream& warnings);

/// Prints the passes and, for each product, the product with which it shares a pass, or the reason why it shares none.
void explain_application(const std::string& program, const SidaRunOptions& options, std::ostream& out, std::ostream& warnings);

/// Prints PEs, buffer and bandwidth, and the area compared with the published area.
void describe_machine(const std::vector<ConfigurationSource>& configuration, std::ostream& out);

}  // namespace lacuna
