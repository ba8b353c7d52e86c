/// The messages between the application and its bootloader, and their addresses. This layout is for
/// an nRF52832 with S132: application at 0x26000, bootloader in the last 32 KiB. Adapt the
/// addresses to your layout.
#ifndef BOOT_PAGES_H
#define BOOT_PAGES_H

#include <stdint.h>

enum {
  APPLICATION_ADDRESS = 0x00026000,
  SLOT_ADDRESS = 0x0004C000,
  SLOT_SIZE = 0x00026000,
  RECORD_ADDRESS = SLOT_ADDRESS + SLOT_SIZE,
  BOOT_REQUEST_ADDRESS = RECORD_ADDRESS + 0x2000,
  BOOT_REPORT_ADDRESS = BOOT_REQUEST_ADDRESS + 0x1000,
  BOOT_REQUEST_MAGIC = 0x3F5A7001,
  BOOT_REPORT_MAGIC = 0x3F5A7002
};

/// To the bootloader: start the image in the slot if size and CRC32 match and the signature is
/// valid.
typedef struct {
  uint32_t magic, size, crc32, reserved;
} boot_request;

/// From the bootloader, written before it starts an image: that image, and the outcome of the last
/// request.
typedef struct {
  uint32_t magic, size, crc32;
  /// A value of `ota_version`.
  uint32_t version;
  /// OTA_BOOT_...
  uint32_t outcome;
} boot_report;

#endif
