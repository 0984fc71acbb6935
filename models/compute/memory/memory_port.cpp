#include "models/compute/memory/memory_port.h"

#include <utility>

#include "models/common/containers/pooled_records.h"

namespace lacuna {

void MemoryPort::translate(std::uint64_t address, Tick at) {
  page_ = kNone;
  if (tlb_ == nullptr) {
    translated_ = Tick{};
    return;
  }
  if (spare_page_ == kNone) spare_page_ = take_record(pages_, free_pages_);
  if (tlb_->translate_or_defer(address, at, *this, spare_page_, translated_)) return;
  page_ = std::exchange(spare_page_, kNone);
  pages_[page_] = WaiterLists<Waiting>::kNone;
}

void MemoryPort::reset() {
  translated_ = Tick{};
  page_ = kNone;
  requests_.clear();
  pages_.clear();
  free_pages_.clear();
  spare_page_ = kNone;
}

void MemoryPort::translated(std::uint32_t page, Tick at) {
  if (page_ == page) {
    page_ = kNone;
    translated_ = at;
  }
  const std::uint32_t list = pages_[page];
  free_pages_.push_back(page);
  requests_.take_all(list, [&](const Waiting& waiting) {
    MemoryResponse response;
    if (memory_->request(waiting.request, later(waiting.request.made, at), client_, waiting.tag, response))
      client_.on_response(waiting.tag, response);
  });
}

}  // namespace lacuna
