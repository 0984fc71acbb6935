// Recorders of a run's devices. Kernels are recorded separately (KernelLog). Parameters determine which recorders are active.
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
  /// Records requests, energy and look-ups until `at`, and ends their recorders.
  void finish(Tick at);
};

}  // namespace lacuna
