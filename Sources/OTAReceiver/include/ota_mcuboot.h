/// MCUboot's image format and image trailers, for a device that MCUboot starts: the running image in
/// slot 0 is the base of patches, and slot 1 is the slot of the receiver. An application with
/// Zephyr's boot API (zephyr/dfu/mcuboot.h) needs only `ota_mcuboot_image`.
///
/// The trailer is at the end of each slot. From the end: magic (16 bytes), image_ok, copy_done and
/// swap_info (one write unit each), swap_size, and the status of a swap
/// (MCUboot, boot/bootutil/src/bootutil_public.c and bootutil_misc.c).
#ifndef OTA_MCUBOOT_H
#define OTA_MCUBOOT_H

#include "ota_receiver.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /// Slot numbers.
  OTA_MCUBOOT_RUNNING = 0,
  OTA_MCUBOOT_OTHER = 1,
  /// The largest write unit of a trailer in bytes (MCUBOOT_BOOT_MAX_ALIGN).
  OTA_MCUBOOT_UNIT_MAXIMUM = 32
};

/// The action of MCUboot at the next reset.
typedef enum {
  OTA_MCUBOOT_NONE = 1,
  /// Swaps the slots, and swaps them back at the following reset unless the image is confirmed.
  OTA_MCUBOOT_TEST = 2,
  OTA_MCUBOOT_PERMANENT = 3,
  OTA_MCUBOOT_REVERT = 4
} ota_mcuboot_swap;

/// The slots. The offsets are relative to the start of a slot.
typedef struct {
  /// The first argument of both functions.
  void *context;
  bool (*read)(void *context, uint8_t slot, uint32_t offset, uint8_t *to, uint32_t size);
  /// Programs erased flash, and returns after the end of the operation. `offset` and `size` are
  /// multiples of `unit`.
  bool (*write)(void *context, uint8_t slot, uint32_t offset, const uint8_t *from, uint32_t size);
  uint32_t slot_size[2];
  /// The write unit of trailers in bytes, as in the configuration of MCUboot: 8 (also for flash with
  /// smaller units), 16 or 32.
  uint8_t unit;
} ota_mcuboot;

/// Returns the image at the start of a slot, from its header to the end of its TLVs, as otaflash
/// identifies it. The size is 0 if the slot contains no complete image, or if a read failed.
///
/// `read` reads `size` bytes (1...OTA_READ_STEP) at `offset` of the slot.
ota_image ota_mcuboot_image(
    bool (*read)(void *context, uint32_t offset, uint8_t *to, uint32_t size), void *context,
    uint32_t slot_size, uint32_t hardware_id);

/// Returns the size of the trailer in bytes. The receiver's slot must end before it; use complete
/// pages. `sectors` is MCUboot's maximum number of sectors of an image (BOOT_MAX_IMG_SECTORS),
/// `write_size` the write unit of the flash, `unit` as in `ota_mcuboot`.
uint32_t ota_mcuboot_trailer_size(uint32_t sectors, uint32_t write_size, uint32_t unit);

/// Returns the action of MCUboot at the next reset, for bootloaders that swap the slots by way of a
/// scratch area or by moving sectors, or overwrite slot 0.
ota_mcuboot_swap ota_mcuboot_next(const ota_mcuboot *slots);

/// Whether the running image is not confirmed, so that the next reset reverts it.
bool ota_mcuboot_is_on_trial(const ota_mcuboot *slots);

/// Requests that MCUboot starts the image in slot 1 for a test. The trailer of slot 1 must be
/// erased; an existing request is kept. False: the trailer has other contents, or flash failed.
bool ota_mcuboot_request_test(const ota_mcuboot *slots);

/// Confirms the running image. True: it is confirmed, or has no trailer. False: flash failed, or
/// the trailer is damaged.
bool ota_mcuboot_confirm(const ota_mcuboot *slots);

#ifdef __cplusplus
}
#endif

#endif
