/* Hardware access of the driver library. To port the driver to another host, implement these functions.
 *
 * Addresses are bus addresses. Register accesses are performed exactly once, in program order, with the requested width. */
#ifndef FIRMWARE_HAL_HAL_H
#define FIRMWARE_HAL_HAL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint32_t hal_read32(uint64_t bus_address);
void hal_write32(uint64_t bus_address, uint32_t value);
uint64_t hal_read64(uint64_t bus_address);
void hal_write64(uint64_t bus_address, uint64_t value);

/* Orders all earlier loads and stores, memory and device, before all later ones. */
void hal_fence(void);

/* Converts a bus address to a pointer for the program, and back. The range must be memory, not registers. */
void* hal_map(uint64_t bus_address, uint64_t bytes);
uint64_t hal_bus_address(const void* pointer);

/* Host time since the program's start, in nanoseconds. */
uint64_t hal_time(void);

/* Handler for an interrupt source; runs with interrupts disabled. A null handler removes the source's handler. */
typedef void (*hal_interrupt_handler)(void* context);
void hal_register_interrupt(unsigned source, hal_interrupt_handler handler, void* context);

/* Global interrupt enable. Disabling returns the previous state, for hal_restore_interrupts. Calls may be nested. */
uint64_t hal_disable_interrupts(void);
void hal_restore_interrupts(uint64_t state);

/* Sleeps until an interrupt is pending or hal_time() reaches `deadline` (UINT64_MAX = none). To be called with interrupts
 * disabled, so that an interrupt after the caller's last check is not missed; the handler runs when interrupts are restored. */
void hal_wait_for_interrupt(uint64_t deadline);

#ifdef __cplusplus
}
#endif

#endif
