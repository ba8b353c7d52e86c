#ifndef OTA_H
#define OTA_H

#include <stdbool.h>
#include <stdint.h>

/// Adds the OTA service to the SoftDevice's attributes. Call it once, after nrf_sdh_ble_enable and
/// before advertising. Returns 0 or an error of the SDK.
uint32_t ota_start(void);

/// Does the work that is due, reading at most one page of flash. Call it in the main loop, after
/// app_sched_execute. Returns true if it must be called again before the processor sleeps.
bool ota_poll(void);

#endif
