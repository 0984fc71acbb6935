#include "models/compute/memory_port.h"

#include <utility>

namespace lacuna {

void MemoryPort::translate(std::uint64_t address, Tick at) {
  page_ = kNone;
  if (tlb_ == nullptr) {
    translated_ = Tick{};
    return;
  }
  if (free_pages_.empty()) {
    free_pages_.push_back(static_cast<std::uint32_t>(pages_.size()));
    pages_.emplace_back();
  }
  const std::uint32_t page = free_pages_.back();
  if (tlb_->translate_or_defer(address, at, *this, page, translated_)) return;
  free_pages_.pop_back();
  pages_[page] = {};
  page_ = page;
}

bool MemoryPort::request(const LineAccess& access, Tick made, std::uint32_t tag, PortAnswer& answer) {
  if (page_ != kNone) {
    const std::uint32_t request = keep(access, made, tag);
    Page& page = pages_[page_];
    (page.first == kNone ? page.first : requests_[page.last].next) = request;
    page.last = request;
    return false;
  }
  const Tick left = later(made, translated_);
  // The memory wants the request's number, which is taken only when the answer comes later.
  if (free_.empty()) [[unlikely]]
    add_record();
  const std::uint32_t request = free_.back();
  if (memory_->access(access, left, *this, request, answer.line)) {
    answer.made = made;
    answer.left = left;
    return true;
  }
  free_.pop_back();
  Request& kept = requests_[request];
  kept.made = made;
  kept.left = left;
  kept.tag = tag;
  return false;
}

std::uint32_t MemoryPort::keep(const LineAccess& access, Tick made, std::uint32_t tag) {
  if (free_.empty()) add_record();
  const std::uint32_t request = free_.back();
  free_.pop_back();
  requests_[request] = {.made = made, .left = Tick{}, .tag = tag, .next = kNone, .access = access};
  return request;
}

void MemoryPort::add_record() {
  free_.push_back(static_cast<std::uint32_t>(requests_.size()));
  requests_.emplace_back();
}

void MemoryPort::reset() {
  translated_ = Tick{};
  page_ = kNone;
  requests_.clear();
  free_.clear();
  pages_.clear();
  free_pages_.clear();
}

void MemoryPort::answered(std::uint32_t request, const LineAnswer& answer) {
  const PortAnswer whole{requests_[request].made, requests_[request].left, answer};
  const std::uint32_t tag = requests_[request].tag;
  free_.push_back(request);
  client_.answered(tag, whole);
}

void MemoryPort::translated(std::uint32_t page, Tick at) {
  if (page_ == page) {
    page_ = kNone;
    translated_ = at;
  }
  std::uint32_t next = std::exchange(pages_[page], {}).first;
  free_pages_.push_back(page);
  while (next != kNone) {
    const std::uint32_t request = next;
    next = requests_[request].next;
    Request& waiting = requests_[request];
    waiting.left = later(waiting.made, at);
    PortAnswer answer{waiting.made, waiting.left, {}};
    const std::uint32_t tag = waiting.tag;
    const LineAccess access = waiting.access;
    if (!memory_->access(access, waiting.left, *this, request, answer.line)) continue;
    free_.push_back(request);
    client_.answered(tag, answer);
  }
}

}  // namespace lacuna
