#include "platform/sweep/sweep_plan.h"

#include <algorithm>
#include <set>

#include "platform/sweep/repetition_choice.h"
#include "platform/sweep/sweep_check.h"
#include "platform/sweep/sweep_error.h"

namespace lacuna {
namespace {

namespace fs = std::filesystem;

/// Maximum number of stale points listed per reason.
constexpr std::size_t kMostStaleNamed = 10;

SweepMember member_of(const PlannedPoint& planned) { return {planned.point.axes, planned.point.repeats, planned.prepared.key}; }

}  // namespace

std::string PlannedPoint::name() const {
  const std::string values = label(point.values());
  return values.empty() ? "point " + std::to_string(point.number) : values;
}

SweepPlan::SweepPlan(SweepFile file, unsigned host_threads) : file_(std::move(file)) {
  check_names(file_);
  std::vector<SweepPoint> points = expand(file_);
  folder_ = fs::absolute(file_.file).parent_path();
  fs::current_path(folder_);
  builder_ = std::make_unique<RunBuilder>(file_, folder_, host_threads);
  metrics_ = check_metrics(file_, points, *builder_);
  points_.reserve(points.size());
  for (SweepPoint& point : points) {
    PlannedPoint& planned = points_.emplace_back();
    planned.prepared = builder_->build(point);
    planned.point = std::move(point);
  }
  if (file_.until) choice_ = std::make_unique<RepetitionChoice>(*this);
  look_up(nullptr);
}

SweepPlan::~SweepPlan() = default;

void SweepPlan::look_up(ResultsDatabase* database) {
  for (PlannedPoint& planned : points_) {
    if (database == nullptr) continue;
    planned.state = database->state(planned.prepared.key);
    planned.stale.clear();
    if (planned.state) continue;
    if (const auto before = database->earlier_inputs(file_.name, member_of(planned)))
      planned.stale = difference(planned.prepared.inputs, *before);
  }
  if (!choice_) return;
  choice_->choose(database);
  for (std::size_t i = 0; i < points_.size(); ++i) points_[i].wanted = choice_->wanted()[i];
}

std::size_t SweepPlan::wanted() const {
  return static_cast<std::size_t>(
      std::count_if(points_.begin(), points_.end(), [](const PlannedPoint& planned) { return planned.wanted; }));
}

void SweepPlan::register_in(ResultsDatabase& database) const {
  std::vector<SweepMember> members;
  members.reserve(points_.size());
  for (const PlannedPoint& planned : points_)
    if (planned.wanted) members.push_back(member_of(planned));
  database.begin_sweep(file_.name, folder_ / file_.file.filename(), file_.text, metrics_, members);
}

std::vector<std::size_t> SweepPlan::to_run(bool retry) const {
  std::vector<std::size_t> indices;
  std::set<std::string> keys;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const bool missing = !points_[i].state || (retry && *points_[i].state != PointState::done);
    if (missing && points_[i].wanted && keys.insert(points_[i].prepared.key).second) indices.push_back(i);
  }
  return indices;
}

std::string SweepPlan::command(const PlannedPoint& point) const {
  return "cd " + shell_command(folder_, {}, {}) + " && " +
         shell_command(simulator(), point.prepared.words, point.prepared.environment);
}

std::string SweepPlan::stale_summary() const {
  std::map<std::string, std::vector<const PlannedPoint*>> by_reason;
  for (const PlannedPoint& planned : points_)
    if (planned.wanted && !planned.stale.empty()) by_reason[planned.stale].push_back(&planned);
  std::string text;
  for (const auto& [reason, stale] : by_reason) {
    text += std::to_string(stale.size()) + (stale.size() == 1 ? " point is" : " points are") +
            " stale, run before with another " + reason + ':';
    for (std::size_t i = 0; i < stale.size() && i < kMostStaleNamed; ++i) text += "\n  " + stale[i]->name();
    if (stale.size() > kMostStaleNamed) text += "\n  … (--dry-run lists all)";
    text += '\n';
  }
  return text;
}

}  // namespace lacuna
