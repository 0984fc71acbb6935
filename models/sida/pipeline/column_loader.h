// CSC loader: brings columns into the CSC space, in order, and their offsets before them.
//
// Columns are requested in pieces, contiguous ranges of entries of one sub-tensor, as far ahead as the space holds or the
// dispatcher allows, and no more bytes at a time than `bytes_in_flight`: other requests of the pass are then not delayed by
// columns of later steps. A piece has a quarter of that and of the CSC space at most, and one entry at least. OS uses a piece
// when it has arrived; its room is free immediately afterwards. A column longer than the space comes in several pieces. First
// entries of a column that eager loading has brought are left out: a piece is then several reads.
//
// Offsets are streamed by whole lines of the buffer, as many sub-tensors ahead as are in flight, and two more; the columns of a
// sub-tensor wait for them.
// Blocked storage: a piece's entries are read as blocks, the list of a sub-tensor's blocks with its first piece.
// Sources: thesis, section 4.4.4; spec "Consequences", prefetch. Pieces are ours. Memory: 4 bytes a sub-tensor if blocked.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/sida/pipeline/csr_loader.h"
#include "models/sida/pipeline/request_issuer.h"

namespace lacuna::sida {

class ColumnLoader {
 public:
  static constexpr Time kNever = ~Time{0};

  struct Piece {
    std::uint64_t sub_tensor;
    std::uint64_t entries;  ///< that OS uses
    std::uint64_t fetched;  ///< entries that take room of the CSC space
    Arrival arrival;
  };

  ColumnLoader(const PassShape& shape, const PipelineParameters& parameters, std::uint64_t sub_tensor, std::uint64_t csc_bytes);

  /// From `since` on sub-tensors up to `last` may be requested.
  void allow(std::uint64_t last, Time since);
  /// When the next piece can be requested; kNever if all have been, before room is released or more is allowed, and while it
  /// depends on requests that have not arrived.
  Time next_time();
  /// Whether it does.
  bool awaits_requests() const { return awaits_requests_; }
  /// Requests the next piece at next_time(). Returns entries requested.
  std::uint64_t request_next(const CsrLoader& eager, RequestIssuer& issuer);
  /// Requests offsets as far ahead of the next piece as they are streamed, and those of sub-tensors up to `last`.
  void request_offsets(std::uint64_t last, Time earliest, RequestIssuer& issuer);

  /// The oldest piece; null if none has been requested.
  const Piece* front() const { return pieces_.empty() ? nullptr : &pieces_.front(); }
  /// The youngest piece; null if none.
  const Piece* back() const { return pieces_.empty() ? nullptr : &pieces_.back(); }
  /// First piece of a sub-tensor that OS has not used yet; null if none has been requested.
  const Piece* first_of(std::uint64_t sub_tensor) const;
  /// OS has used the oldest piece, which has arrived, at a time not below that of the release before.
  void release(Time at);

  /// All entries of a sub-tensor have been requested.
  bool complete(std::uint64_t sub_tensor) const { return next_ > sub_tensor; }
  /// First column of which nothing has been requested.
  std::uint64_t frontier() const;
  std::uint64_t held_bytes() const { return held_ * shape_.entry_bytes; }

  std::uint64_t entries_in(std::uint64_t sub_tensor) const { return end_of(sub_tensor) - begin_of(sub_tensor); }
  std::uint64_t columns_in(std::uint64_t sub_tensor) const;
  /// Bytes of the columns of a sub-tensor without entries that eager loading has brought, and of its offsets.
  std::uint64_t bytes_of(std::uint64_t sub_tensor, const CsrLoader& eager) const;

 private:
  std::uint64_t column(std::uint64_t sub_tensor) const { return std::min(sub_tensor * sub_tensor_, shape_.os.lines()); }
  std::uint64_t begin_of(std::uint64_t sub_tensor) const { return shape_.os.offsets[column(sub_tensor)]; }
  std::uint64_t end_of(std::uint64_t sub_tensor) const { return begin_of(sub_tensor + 1); }
  /// End of the next piece.
  std::uint64_t stop() const { return std::min(end_of(next_), position_ + piece_); }
  void skip_empty();
  void request_offsets_of(std::uint64_t sub_tensor, Time earliest, RequestIssuer& issuer);
  void request_piece(std::uint64_t begin, std::uint64_t end, Piece& piece, const CsrLoader& eager, RequestIssuer& issuer);
  bool offsets_arrived();
  void count_blocks();

  const PassShape& shape_;
  std::uint64_t sub_tensor_, sub_tensors_;
  unsigned line_bytes_;
  std::uint64_t capacity_, piece_, window_;  ///< entries: of the space, of a piece, in flight
  std::uint64_t held_ = 0;                   ///< entries in the CSC space, or in flight
  std::deque<Piece> pieces_;
  std::uint64_t next_ = 0;                       ///< sub-tensor of the next piece
  std::uint64_t position_ = 0;                   ///< its first entry
  std::uint64_t offsets_for_ = 0;                ///< sub-tensors whose offsets have been requested
  std::array<std::uint64_t, 2> offset_bytes_{};  ///< of both orders, requested
  std::uint64_t ahead_;                          ///< sub-tensors whose offsets are requested before those of the next piece
  struct OffsetFlight {
    std::uint64_t sub_tensor;
    Arrival arrival;
  };
  std::deque<OffsetFlight> offset_flights_;  ///< by sub-tensor, those that may not have arrived
  Time offsets_since_ = 0;                   ///< when all before them had arrived
  struct Flight {
    std::uint64_t entries;
    Time arrival;  ///< once OS has used the piece
  };
  std::deque<Flight> flights_;   ///< the youngest pieces, those that OS has used included, which may not have arrived
  std::uint64_t in_flight_ = 0;  ///< their entries
  bool awaits_requests_ = false;
  std::uint64_t allowed_ = 0;  ///< last sub-tensor that may be requested
  Time allowed_since_ = 0, free_since_ = 0, window_since_ = 0;
  Time last_ = 0;                      ///< of the last request
  std::vector<std::uint32_t> blocks_;  ///< of each sub-tensor, if blocked
  std::uint64_t blocks_requested_ = 0;
};

}  // namespace lacuna::sida
