// Performs copies and fills without executing their kernels, for dispatches identified by the driver's recogniser.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/command/blit_recogniser.h"

namespace lacuna {

class Blits {
 public:
  explicit Blits(const GpuVm& vm) : vm_(vm) {}

  /// Sets the recogniser. Without one, no kernel is treated as a blit.
  void set_recogniser(const BlitRecogniser& recogniser) { recogniser_ = &recogniser; }

  /// Same as BlitRecogniser::name().
  std::string_view name(std::uint64_t entry) const;
  /// The blit that the dispatch performs, if all of its memory is mapped with the necessary permissions.
  std::optional<Blit> find(const Dispatch& dispatch) const;
  /// Prepares the destination's host memory for later calls of move() that write the bytes from `from` to the end.
  void expect_moves(const Blit& blit, std::uint64_t from) const;
  /// Moves bytes [from, to), as if in ascending order of addresses; source and destination do not overlap.
  void move(const Blit& blit, std::uint64_t from, std::uint64_t to) const;
  /// Same as BlitRecogniser::narrow().
  void narrow(const Blit& blit, Dispatch& dispatch, std::uint64_t from, std::uint64_t to) const;
  /// Restores the arguments in memory, if they are still mapped.
  void restore(const Blit& blit, const Dispatch& dispatch) const;
  /// Performs the whole dispatch. False if find() finds no blit; nothing is changed then.
  bool perform(const Dispatch& dispatch) const;

 private:
  bool mapped(std::uint64_t address, std::uint64_t bytes, isa::Access wanted) const;
  /// Calls `piece` with each contiguous piece of host memory of a mapped range.
  template <class Piece>
  void pieces(std::uint64_t address, std::uint64_t bytes, const Piece& piece) const;

  const GpuVm& vm_;
  const BlitRecogniser* recogniser_ = nullptr;
};

}  // namespace lacuna
