#ifndef OTA_H
#define OTA_H

/// Starts the OTA service. Call it once, before bt_enable. Returns 0, or a negative errno if slot 0
/// or slot 1 is missing, or if the options of the module do not fit the flash.
int ota_start(void);

#endif
