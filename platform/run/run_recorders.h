// Recorders of a run's devices over time, in addition to their kernels. Parameters determine which recorders are active.
#pragma once

#include "models/common/time/units.h"
#include "models/gpu/gpu_device.h"
#include "platform/platform_parameters.h"
#include "platform/run/energy_recorder.h"
#include "platform/run/job_recorder.h"
#include "platform/run/link_recorder.h"
#include "platform/run/look_up_recorder.h"
#include "platform/run/request_recorder.h"

namespace lacuna {

struct RunRecorders {
  EnergyRecorder energy;
  RequestRecorder requests;
  LinkRecorder links;
  LookUpRecorder look_ups;
  JobRecorder jobs;

  void add(GpuDevice& device, const OutputParameters& output);
  /// Ends all recorders: they record everything until `at`.
  void finish(Tick at);
};

}  // namespace lacuna
