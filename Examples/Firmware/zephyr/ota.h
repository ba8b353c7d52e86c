#ifndef OTA_H
#define OTA_H

/// Starts the OTA service. Call it once, before bt_enable. 0, or a negative errno: the partitions are
/// not there, or do not fit the receiver.
int ota_start(void);

#endif
