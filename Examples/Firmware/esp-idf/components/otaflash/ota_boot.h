/// The state of ESP-IDF's bootloader.
#ifndef OTA_BOOT_H
#define OTA_BOOT_H

#include "esp_partition.h"
#include "ota_receiver.h"

typedef struct {
  /// The partition of the running image, and the partition that receives images.
  const esp_partition_t *running, *slot;
  ota_image image;
  uint8_t outcome;
  bool trial;
} ota_boot;

/// Reads the state after a reset. `buffer` holds parts of the running image meanwhile. False: the
/// partition table has no second partition for images.
bool ota_boot_read(ota_boot *boot, uint8_t *buffer, uint32_t buffer_size);

/// Whether the bootloader will neither start nor restore the image in the slot.
bool ota_boot_slot_is_free(const ota_boot *boot);

/// Requests that the bootloader start the image in the slot, and resets the chip.
void ota_boot_activate(const ota_boot *boot, uint32_t size, uint32_t crc32);

/// Makes the image on trial permanent.
bool ota_boot_confirm(void);

#endif
