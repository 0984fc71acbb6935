/* The error message returned by lacuna_last_error(). */
#ifndef FIRMWARE_DRIVER_ERROR_H
#define FIRMWARE_DRIVER_ERROR_H

#include "lacuna.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Records the message and returns `error`, so that a failure is one return statement. */
lacuna_error driver_error(lacuna_error error, const char* format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif

#endif
