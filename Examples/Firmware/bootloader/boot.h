/// A minimal bootloader for devices without MCUboot, in portable C99.
///
/// It exchanges the application and the image in the slot page by page, starts the new image on
/// trial, and exchanges them back at the next reset unless the application has confirmed the image.
/// It resumes after a power failure in any flash operation, on flash whose interrupted writes can be
/// read (some flash with ECC raises a fault instead). The bootloader calls `boot_run`; the
/// application uses the other functions, and writes the request and the mark BOOT_CONFIRMED.
#ifndef BOOT_H
#define BOOT_H

#include "ota_receiver.h"

/// The flash and its layout. The addresses are page boundaries.
typedef struct {
  /// The first argument of every function.
  void *context;
  void (*read)(void *context, uint32_t address, uint8_t *to, uint32_t size);
  /// Programs erased flash, and returns when the operation has ended. False: it failed. Only
  /// `boot_run` calls `write` and `erase`.
  bool (*write)(void *context, uint32_t address, const uint8_t *from, uint32_t size);
  /// Erases one page to 0xFF, and returns when the operation has ended. False: it failed.
  bool (*erase)(void *context, uint32_t page_address);
  /// Checks the signature of the image at `address`. Null: the image needs no signature. Only
  /// `boot_run` calls this function.
  bool (*is_signed)(void *context, uint32_t address, uint32_t size);

  /// The areas of the running image and of the received image; both have `slot_size` bytes.
  uint32_t application, slot, slot_size;
  /// One page for the exchange, and one page for the request and its marks.
  uint32_t scratch, journal;
  uint32_t page_size;
  /// The flash programming unit in bytes: 1, 2, 4, 8 or 16.
  uint32_t write_unit;
  /// The hardware id. Images for other hardware are rejected.
  uint32_t hardware_id;
} boot_device;

/// The request of the application: start the image in the slot. It is at the start of the journal.
typedef struct {
  uint32_t magic, size, crc32;
  /// The running image; size 0 = unknown.
  uint32_t previous_size, previous_crc32;
  uint32_t reserved[2];
  /// The CRC32 of the bytes before this field.
  uint32_t check;
} boot_request;

/// The marks of the journal, in the order of their positions after the request. Each has
/// `write_unit` bytes, and is set if it is not blank. BOOT_EXCHANGE is the first mark of the
/// exchange, and the first of the reversal follows the last of the exchange.
enum {
  /// The image in the slot was not valid.
  BOOT_REJECTED,
  /// The new image was started on trial.
  BOOT_STARTED,
  /// The application has made the new image permanent.
  BOOT_CONFIRMED,
  /// A boot has followed the boot in which the image was rejected or reverted.
  BOOT_REPORTED,
  BOOT_EXCHANGE
};

/// The facts that the application reports to the host.
typedef struct {
  /// The size is 0 if the journal does not contain it, as in factory state.
  ota_image running;
  uint8_t outcome;
  bool trial;
} boot_status;

/// Whether the layout is consistent and the journal has room for all marks.
bool boot_fits(const boot_device *device);

/// Does the work after a reset. True: start the application. False: flash failed; reset, and the
/// next call resumes the work.
bool boot_run(const boot_device *device);

/// Returns the request to start the image in the slot. The application erases the journal page,
/// writes the request to its start, and resets the device.
boot_request boot_make_request(const ota_image *running, uint32_t size, uint32_t crc32);

/// Returns the address of a mark. To confirm an image, the application writes `write_unit` zero
/// bytes to the address of BOOT_CONFIRMED.
uint32_t boot_mark_address(const boot_device *device, uint32_t mark);

boot_status boot_read_status(const boot_device *device);

/// Whether the bootloader neither starts nor restores the image in the slot.
bool boot_slot_is_free(const boot_device *device);

/// Reads version and hardware id from the descriptor of an image (docs/image-descriptor.md). False:
/// the image has no descriptor, a damaged descriptor, or two different descriptors.
bool boot_read_descriptor(
    const boot_device *device, uint32_t address, uint32_t size, ota_image *image);

#endif
