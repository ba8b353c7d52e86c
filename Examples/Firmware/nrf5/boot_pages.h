/// What the application and its bootloader tell each other, and where: here in an nRF52832 with S132,
/// the application from 0x26000, the loader in the last 32 KiB. Yours may want other addresses.
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

/// To the loader: if the slot holds what this says, and its signature holds, start it.
typedef struct {
  uint32_t magic, size, crc32, reserved;
} boot_request;

/// From the loader, written before it starts an image: which one, and how the last request ended.
typedef struct {
  uint32_t magic, size, crc32;
  /// As `ota_version` makes it.
  uint32_t version;
  /// OTA_BOOT_...
  uint32_t outcome;
} boot_report;

#endif
