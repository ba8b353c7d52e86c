#ifndef OTA_H
#define OTA_H

/// Starts the OTA service. Call it once, before bt_enable. Returns 0, or a negative errno if the
/// partitions are missing or do not fit the receiver.
int ota_start(void);

#endif
