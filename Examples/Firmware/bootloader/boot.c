#include "boot.h"

#include <string.h>

enum {
  MAGIC = 0x3F5A7003,
  STEP = 64,
  // The exchange of a page: application to scratch, slot to application, scratch to slot.
  MOVES = 3,
  DESCRIPTOR_SIZE = 32,
  DESCRIPTOR_END = 64 * 1024
};

static uint32_t number(const uint8_t *from, int bytes) {
  uint32_t value = 0;
  while (bytes-- > 0) value = value << 8 | from[bytes];
  return value;
}

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t crc32_at(const boot_device *d, uint32_t address, uint32_t size) {
  uint8_t bytes[STEP];
  uint32_t crc = 0;
  for (uint32_t at = 0; at < size; at += STEP) {
    uint32_t count = smaller(STEP, size - at);
    d->read(d->context, address + at, bytes, count);
    crc = ota_crc32(crc, bytes, count);
  }
  return crc;
}

// The image --------------------------------------------------------------------------------------

bool boot_read_descriptor(
    const boot_device *d, uint32_t address, uint32_t size, ota_image *image) {
  // Each byte is inverted, so that the program does not contain the magic itself.
  static const uint8_t inverted[8] = {0xB0, 0xAB, 0xBE, 0x96, 0x92, 0x98, 0x2E, 0xA3};
  uint8_t first[DESCRIPTOR_SIZE];
  bool found = false;
  uint32_t end = smaller(size, DESCRIPTOR_END);
  for (uint32_t at = 0; at + sizeof inverted <= end; at += 4) {
    uint8_t bytes[DESCRIPTOR_SIZE];
    d->read(d->context, address + at, bytes, sizeof inverted);
    uint32_t same = 0;
    while (same < sizeof inverted && (bytes[same] ^ inverted[same]) == 0xFF) same++;
    if (same < sizeof inverted) continue;
    if (end - at < DESCRIPTOR_SIZE) return false;
    d->read(d->context, address + at, bytes, DESCRIPTOR_SIZE);
    if (ota_crc32(0, bytes, 28) != number(bytes + 28, 4) || bytes[8] != 1) return false;
    if (found && memcmp(bytes, first, DESCRIPTOR_SIZE) != 0) return false;
    memcpy(first, bytes, DESCRIPTOR_SIZE);
    found = true;
  }
  if (!found) return false;
  image->hardware_id = number(first + 12, 4);
  image->version = ota_version(first[16], first[17], (uint16_t)number(first + 18, 2));
  return true;
}

static bool is_valid(const boot_device *d, const boot_request *request) {
  ota_image image;
  if (request->size == 0 || request->size > d->slot_size) return false;
  if (crc32_at(d, d->slot, request->size) != request->crc32) return false;
  if (!boot_read_descriptor(d, d->slot, request->size, &image)) return false;
  // Hardware id 0 in a descriptor is any board.
  if (image.hardware_id != 0 && image.hardware_id != d->hardware_id) return false;
  return !d->is_signed || d->is_signed(d->context, d->slot, request->size);
}

// The journal ------------------------------------------------------------------------------------

boot_request boot_make_request(const ota_image *running, uint32_t size, uint32_t crc32) {
  boot_request request = {
      .magic = MAGIC,
      .size = size,
      .crc32 = crc32,
      .previous_size = running->size,
      .previous_crc32 = running->crc32};
  request.check = ota_crc32(0, (const uint8_t *)&request, offsetof(boot_request, check));
  return request;
}

static bool read_request(const boot_device *d, boot_request *request) {
  d->read(d->context, d->journal, (uint8_t *)request, sizeof *request);
  return request->magic == MAGIC &&
         request->check == ota_crc32(0, (const uint8_t *)request, offsetof(boot_request, check));
}

uint32_t boot_mark_address(const boot_device *d, uint32_t mark) {
  return d->journal + sizeof(boot_request) + mark * d->write_unit;
}

/// A mark whose write was interrupted counts as set: the step before it is complete.
static bool has_mark(const boot_device *d, uint32_t mark) {
  uint8_t bytes[OTA_WRITE_ALIGNMENT_MAXIMUM];
  d->read(d->context, boot_mark_address(d, mark), bytes, d->write_unit);
  for (uint32_t i = 0; i < d->write_unit; i++) {
    if (bytes[i] != 0xFF) return true;
  }
  return false;
}

static bool set_mark(const boot_device *d, uint32_t mark) {
  static const uint8_t zeros[OTA_WRITE_ALIGNMENT_MAXIMUM] = {0};
  return has_mark(d, mark) ||
         d->write(d->context, boot_mark_address(d, mark), zeros, d->write_unit);
}

/// The number of pages that the larger of the two images occupies; the complete slot if the size of
/// the previous image is unknown.
static uint32_t page_count(const boot_device *d, const boot_request *request) {
  uint32_t size = request->size;
  // An unknown previous image may occupy the complete area.
  if (request->previous_size == 0) size = d->slot_size;
  if (request->previous_size > size) size = request->previous_size;
  return (smaller(size, d->slot_size) + d->page_size - 1) / d->page_size;
}

bool boot_fits(const boot_device *d) {
  uint32_t marks = BOOT_EXCHANGE + 2 * MOVES * (d->slot_size / d->page_size);
  return d->slot_size % d->page_size == 0 && d->page_size % STEP == 0 &&
         d->write_unit <= OTA_WRITE_ALIGNMENT_MAXIMUM && STEP % d->write_unit == 0 &&
         sizeof(boot_request) + marks * d->write_unit <= d->page_size;
}

// The exchange -----------------------------------------------------------------------------------

static bool copy_page(const boot_device *d, uint32_t from, uint32_t to) {
  uint8_t bytes[STEP], copy[STEP];
  if (!d->erase(d->context, to)) return false;
  for (uint32_t at = 0; at < d->page_size; at += STEP) {
    d->read(d->context, from + at, bytes, STEP);
    if (!d->write(d->context, to + at, bytes, STEP)) return false;
    d->read(d->context, to + at, copy, STEP);
    if (memcmp(bytes, copy, STEP) != 0) return false;
  }
  return true;
}

/// Exchanges the pages of the two areas. Each move leaves its source unchanged until its mark is
/// set, so an interrupted move is repeated.
static bool exchange(const boot_device *d, uint32_t pages, uint32_t first_mark) {
  for (uint32_t i = 0; i < pages * MOVES; i++) {
    uint32_t offset = i / MOVES * d->page_size;
    const uint32_t from[MOVES] = {d->application + offset, d->slot + offset, d->scratch};
    const uint32_t to[MOVES] = {d->scratch, d->application + offset, d->slot + offset};
    if (has_mark(d, first_mark + i)) continue;
    if (!copy_page(d, from[i % MOVES], to[i % MOVES]) || !set_mark(d, first_mark + i)) return false;
  }
  return true;
}

bool boot_run(const boot_device *d) {
  boot_request request;
  if (!read_request(d, &request) || has_mark(d, BOOT_CONFIRMED)) return true;
  if (has_mark(d, BOOT_REJECTED)) return set_mark(d, BOOT_REPORTED);
  if (!has_mark(d, BOOT_EXCHANGE) && !is_valid(d, &request)) return set_mark(d, BOOT_REJECTED);

  uint32_t pages = page_count(d, &request), reversal = BOOT_EXCHANGE + pages * MOVES;
  if (!exchange(d, pages, BOOT_EXCHANGE)) return false;
  if (!has_mark(d, BOOT_STARTED)) return set_mark(d, BOOT_STARTED);
  // The application was reset before it had confirmed the image.
  if (has_mark(d, reversal + pages * MOVES - 1)) return set_mark(d, BOOT_REPORTED);
  return exchange(d, pages, reversal);
}

// The application --------------------------------------------------------------------------------

typedef enum { NOTHING, PENDING, REJECTED, ON_TRIAL, CONFIRMED, REVERTED } state;

static state read_state(const boot_device *d, boot_request *request) {
  if (!read_request(d, request)) return NOTHING;
  if (has_mark(d, BOOT_CONFIRMED)) return CONFIRMED;
  if (has_mark(d, BOOT_REJECTED)) return REJECTED;
  if (has_mark(d, BOOT_EXCHANGE + 2 * MOVES * page_count(d, request) - 1)) return REVERTED;
  return has_mark(d, BOOT_STARTED) ? ON_TRIAL : PENDING;
}

bool boot_slot_is_free(const boot_device *d) {
  boot_request request;
  state now = read_state(d, &request);
  return now != PENDING && now != ON_TRIAL;
}

boot_status boot_read_status(const boot_device *d) {
  boot_status status = {.outcome = OTA_BOOT_NORMAL};
  boot_request request;
  state now = read_state(d, &request);
  if (now == ON_TRIAL || now == CONFIRMED) {
    status.running.size = request.size;
    status.running.crc32 = request.crc32;
  } else if (now != NOTHING) {
    status.running.size = request.previous_size;
    status.running.crc32 = request.previous_crc32;
  }
  status.trial = now == ON_TRIAL;
  // An outcome belongs to one boot; an image on trial has only one.
  if (now == ON_TRIAL) status.outcome = OTA_BOOT_ACTIVATED;
  if ((now == REJECTED || now == REVERTED) && !has_mark(d, BOOT_REPORTED))
    status.outcome = OTA_BOOT_REVERTED;
  uint32_t size = status.running.size > 0 ? status.running.size : d->slot_size;
  boot_read_descriptor(d, d->application, size, &status.running);
  status.running.hardware_id = d->hardware_id;
  return status;
}
