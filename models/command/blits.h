// Copies and fills that kernels would do, done without executing them: for dispatches that the driver's recogniser knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/command/blit_recogniser.h"

namespace lacuna {

class Blits {
 public:
  explicit Blits(const GpuVm& vm) : vm_(vm) {}

  /// Without, no kernel is a blit.
  void set_recogniser(const BlitRecogniser& recogniser) { recogniser_ = &recogniser; }

  /// As BlitRecogniser::name().
  std::string_view name(std::uint64_t entry) const;
  /// What the dispatch does; all of its memory is mapped and may be used so.
  std::optional<Blit> find(const Dispatch& dispatch) const;
  /// Bytes from `from` on to the end are going to be moved, in however many pieces.
  void expect_moves(const Blit& blit, std::uint64_t from) const;
  /// Does bytes [from, to), in ascending order of addresses or as if so: for ranges that do not overlap.
  void move(const Blit& blit, std::uint64_t from, std::uint64_t to) const;
  /// As BlitRecogniser::narrow().
  void narrow(const Blit& blit, Dispatch& dispatch, std::uint64_t from, std::uint64_t to) const;
  /// Puts the arguments in memory back. Nothing happens when they are no longer mapped.
  void restore(const Blit& blit, const Dispatch& dispatch) const;
  /// Does all that the dispatch would do. False, and nothing has happened, when find() finds nothing.
  bool perform(const Dispatch& dispatch) const;

 private:
  bool mapped(std::uint64_t address, std::uint64_t bytes, isa::Access wanted) const;
  /// Calls back with the pieces of host memory behind a mapped range.
  template <class Piece>
  void pieces(std::uint64_t address, std::uint64_t bytes, const Piece& piece) const;

  const GpuVm& vm_;
  const BlitRecogniser* recogniser_ = nullptr;
};

}  // namespace lacuna
