/* Reports of failed queues. */
#ifndef FIRMWARE_DRIVER_FAILURE_H
#define FIRMWARE_DRIVER_FAILURE_H

#include "lacuna.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the error of a failed queue and records its message for lacuna_last_error(). */
lacuna_error driver_report_failure(lacuna_queue* queue);

#ifdef __cplusplus
}
#endif

#endif
