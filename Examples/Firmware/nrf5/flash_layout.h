/// The flash layout that the application and its bootloader share. This layout is for an nRF52840
/// with S140 7: application at 0x27000, bootloader in the last 36 KiB. Adapt the addresses to your
/// layout.
#ifndef FLASH_LAYOUT_H
#define FLASH_LAYOUT_H

#include "boot.h"

enum {
  BOARD = 0x0000A001,
  PAGE = 4096,
  APPLICATION_ADDRESS = 0x00027000,
  SLOT_SIZE = 0x00066000,
  SLOT_ADDRESS = APPLICATION_ADDRESS + SLOT_SIZE,
  RECORD_ADDRESS = SLOT_ADDRESS + SLOT_SIZE,
  SCRATCH_ADDRESS = RECORD_ADDRESS + 2 * PAGE,
  JOURNAL_ADDRESS = SCRATCH_ADDRESS + PAGE,
  LAYOUT_END = JOURNAL_ADDRESS + PAGE,
  WRITE_UNIT = 4
};

/// Returns the device as the bootloader and the application describe it.
static inline boot_device boot_layout(
    void (*read)(void *context, uint32_t address, uint8_t *to, uint32_t size)) {
  return (boot_device){
      .read = read,
      .application = APPLICATION_ADDRESS,
      .slot = SLOT_ADDRESS,
      .slot_size = SLOT_SIZE,
      .scratch = SCRATCH_ADDRESS,
      .journal = JOURNAL_ADDRESS,
      .page_size = PAGE,
      .write_unit = WRITE_UNIT,
      .hardware_id = BOARD};
}

#endif
