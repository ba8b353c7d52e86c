#ifndef OTA_H
#define OTA_H

#include "esp_err.h"

/// Adds the OTA service to the attributes of NimBLE. Call it once, after nvs_flash_init and
/// nimble_port_init, and before the host task starts. It reads the running image once, which takes
/// about a second for each 2 MB. Returns ESP_OK, or an error if the partition table has no second
/// partition for images, if the options do not fit the flash, or if memory is insufficient.
esp_err_t ota_start(void);

#endif
