/// A device for the tests: the receiver, a flash with stricter rules than hardware, and a host.
#ifndef DEVICE_H
#define DEVICE_H

#include "ota_receiver.h"

enum {
  PAGE = 1024, ROW = 256, SLOT = 16 * PAGE, META = SLOT, FLASH = SLOT + 2 * PAGE, 
  PAGES = FLASH / 64,
  RING = 4 * ROW, CHUNK = 100, BOARD = 0xA001,
  /// A second geometry, in which the distance between marks is more than a page.
  SMALL_PAGE = 64, SMALL_ROW = 32
};

typedef struct {
  uint8_t bytes[FLASH];
  /// Pages that were not completely erased. They may read as blank, but must not be programmed.
  bool weak[PAGES];
  uint32_t operations, slot_erases;
  /// The operation (counted from 1) during which power fails; 0 = never.
  uint32_t cut_at;
  bool dead;
  /// Whether operations end later, by flash_done, and the number of polls left until the current
  /// one ends.
  bool slow;
  uint32_t pending;
  /// The number of the next operations with a fault: rows of the slot that are stored with a wrong
  /// bit, rows whose write fails, erases of the slot that fail, and writes of the record that are
  /// stored with a wrong bit.
  uint32_t bad_rows, failed_rows, failed_erases, bad_records;
  /// An address in the page of the slot that never holds its data; 0 = no such page.
  uint32_t worn;
  uint32_t violations;
  uint32_t alignment;
} flash_model;

typedef struct {
  ota_receiver receiver;
  ota_receiver_config config;
  flash_model flash;
  uint8_t ring[RING];
  uint32_t now;
  uint64_t seed;
  uint8_t answer[OTA_ANSWER_MAXIMUM];
  uint32_t answer_size;
  uint8_t status[OTA_STATUS_SIZE];
  uint32_t statuses, errors[7];
  bool stack_full, vetoed, activated, confirmed, refuses_confirm;
  bool may_erase;
  /// The running image, and the number of bytes read from it: in total, and the maximum in one
  /// poll.
  const uint8_t *base;
  bool base_is_unreadable;
  uint32_t base_reads, base_reads_most;
} device;

uint32_t random_below(device *d, uint32_t bound);
/// Creates and boots a device with empty flash.
void device_make(device *d, uint64_t seed, uint8_t alignment);
#if OTA_PATCHES
/// Sets `base` as the running image, enables patch sessions, and boots.
void device_take_patches(device *d, const uint8_t *base, uint32_t size);
#endif
/// A reset: the content of RAM is lost, and the content of flash is kept.
void device_boot(device *d);
/// Polls until the receiver is idle or power has failed.
void device_run(device *d);
/// Connects with both CCCDs set.
void device_connect(device *d);
/// Writes Control and waits for the answer. Returns the result of the answer, 0x100 | ATT error, or
/// 0xFFF without an answer.
uint32_t request(device *d, const uint8_t *bytes, uint32_t size);
uint32_t request_op(device *d, uint8_t op);
uint32_t begin(device *d, const uint8_t *image, uint32_t size, uint8_t flags);
uint8_t data(device *d, const uint8_t *image, uint32_t offset, uint32_t size, bool with_response);
/// Sends from the device's next offset up to `end`, within the device's window. False: the device
/// does not receive, reports a wrong CRC32, or accepts no more data.
bool send_to(device *d, const uint8_t *image, uint32_t end);
/// BEGIN (with a restart if the prefix differs), data and VERIFY. True: the image is verified and
/// the slot holds it.
bool update(device *d, const uint8_t *image, uint32_t size);
uint32_t get32(const uint8_t *from);
void put32(uint8_t *to, uint32_t value);

#endif
