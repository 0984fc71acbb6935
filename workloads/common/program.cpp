#include "workloads/common/program.h"

#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>

#include "workloads/common/option.h"

namespace workload {
namespace {

constexpr std::size_t differences_shown = 5;

// The architecture's name without its features, for example gfx90a for gfx90a:sramecc+:xnack-.
std::string gpu_name() {
  int count = 0;
  const hipError_t status = hipGetDeviceCount(&count);
  if (status != hipSuccess || count == 0)
    throw Error("no GPU: run it by `lacuna exec -- PROGRAM ...`, or on a machine that has one");
  hipDeviceProp_t properties;
  require(hipGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
  const std::string name = properties.gcnArchName;
  return name.substr(0, name.find(':'));
}

struct Event {
  Event() { require(hipEventCreate(&event), "creating an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { (void)hipEventDestroy(event); }
  void record() const { require(hipEventRecord(event, nullptr), "recording an event"); }
  hipEvent_t event = nullptr;
};

}  // namespace

int Program::run(int argc, char** argv, const std::function<void()>& body) {
  try {
    parse(argc, argv);
    if (!parsed_) return 0;
    // Separate random streams, so that the input is the same for any sparsity.
    random_ = std::make_unique<Random>(static_cast<std::uint64_t>(seed_));
    random_zeros_ = std::make_unique<Random>(~static_cast<std::uint64_t>(seed_));
    gpu_ = gpu_name();
    body();
    if (!measured_) throw Error("nothing was measured");
    if (checks_ && compared_ == 0) throw Error("nothing was checked");
    print_result();
    return wrong_ == 0 ? 0 : 1;
  } catch (const UsageError& error) {
    std::cerr << name_ << ": error: " << error.what() << '\n';
    return 2;
  } catch (const std::bad_alloc&) {
    std::cerr << name_ << ": error: the host has not enough memory for these sizes\n";
  } catch (const std::length_error&) {
    std::cerr << name_ << ": error: the host has not enough memory for these sizes\n";
  } catch (const std::exception& error) {
    std::cerr << name_ << ": error: " << error.what() << '\n';
  }
  return 1;
}

void Program::measure(const std::function<void()>& launch) {
  measure([] {}, launch);
}

void Program::measure(const std::function<void()>& prepare, const std::function<void()>& launch) {
  const Event begin, end;
  for (int i = 0; i < repeat_; ++i) {
    prepare();
    require(hipDeviceSynchronize(), "preparing");
    begin.record();
    launch();
    require(hipGetLastError(), "launching");
    end.record();
    require(hipEventSynchronize(end.event), "running the kernels");
    float milliseconds = 0;
    require(hipEventElapsedTime(&milliseconds, begin.event, end.event), "reading the events");
    char text[32];
    std::snprintf(text, sizeof text, "%s%.3f", times_.empty() ? "" : ",", static_cast<double>(milliseconds) * 1e3);
    times_ += text;
  }
  measured_ = true;
}

void Program::report(const std::string& key, const std::string& value) { reported_ += " " + key + "=" + value; }

void Program::report(const std::string& key, double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  report(key, text);
}

void Program::check_true(const std::string& what, bool condition) {
  ++compared_;
  if (condition) return;
  ++wrong_;
  std::cerr << name_ << ": " << what << " is wrong\n";
}

void Program::compare_sizes(const std::string& what, std::size_t got, std::size_t expected) {
  if (got != expected) throw Error(what + " has " + std::to_string(got) + " elements, not " + std::to_string(expected));
  compared_ += got;
}

void Program::different(const std::string& what, std::size_t index, double got, double expected, double bound) {
  if (wrong_++ == differences_shown) std::cerr << name_ << ": further differences are not shown\n";
  if (wrong_ > differences_shown) return;
  char text[96];
  std::snprintf(text, sizeof text, "%.9g, expected %.9g", got, expected);
  std::cerr << name_ << ": " << what << '[' << index << "] is " << text;
  if (bound != 0) std::cerr << " within " << bound;
  std::cerr << '\n';
}

std::vector<std::size_t> Program::chosen_for_zero(std::size_t count) { return choose(*random_zeros_, count, sparsity_); }

void Program::print_result() const {
  std::cout << "result: workload=" << name_ << " gpu=" << gpu_;
  for (const auto& option : options_) {
    if (option->name != "check") std::cout << ' ' << option->name << '=' << option->value;
  }
  const char* check = !checks_ ? "skipped" : wrong_ == 0 ? "passed" : "failed";
  std::cout << " time_us=" << times_ << reported_ << " check=" << check;
  if (checks_ && bounded_) std::cout << " worst=" << worst_;
  std::cout << std::endl;
}

}  // namespace workload
