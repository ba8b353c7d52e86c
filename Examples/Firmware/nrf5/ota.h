#ifndef OTA_H
#define OTA_H

#include <stdbool.h>
#include <stdint.h>

/// Adds the OTA service to the SoftDevice's attributes. Call it once, when nrf_sdh_ble_enable has
/// returned and before advertising. 0, or an error of the SDK.
uint32_t ota_start(void);

/// Does what is due, a page of flash at most. Call it in the main loop, after app_sched_execute; true:
/// again before the processor sleeps.
bool ota_poll(void);

#endif
