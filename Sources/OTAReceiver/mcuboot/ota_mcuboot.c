#include "ota_mcuboot.h"

#include <string.h>

enum { MAGIC_SIZE = 16, FLAG_SET = 1, STATES_PER_SECTOR = 3, UNIT_MINIMUM = 8, ERASED = 0xFF };

// Images -----------------------------------------------------------------------------------------

static uint32_t number(const uint8_t *from, int bytes) {
  uint32_t value = 0;
  while (bytes-- > 0) value = value << 8 | from[bytes];
  return value;
}

typedef struct {
  bool (*read)(void *context, uint32_t offset, uint8_t *to, uint32_t size);
  void *context;
  uint32_t size;
} slot_reader;

/// Adds the TLV area at `*end`, whose info has this magic, to the image. False: there is no such
/// area.
static bool add_tlvs(const slot_reader *slot, uint32_t *end, uint32_t magic) {
  uint8_t info[4];
  if (*end > slot->size - sizeof info || !slot->read(slot->context, *end, info, sizeof info))
    return false;
  uint32_t size = number(info + 2, 2);
  if (number(info, 2) != magic || size < sizeof info || size > slot->size - *end) return false;
  *end += size;
  return true;
}

/// Returns the size of the image with this header; 0 if it is not complete.
static uint32_t image_size(const slot_reader *slot, const uint8_t *header) {
  enum { HEADER_SIZE = 8, PROTECTED_SIZE = 10, IMAGE_SIZE = 12, HEADER_MINIMUM = 32 };
  uint32_t body = number(header + HEADER_SIZE, 2), end = number(header + IMAGE_SIZE, 4);
  if (body < HEADER_MINIMUM || body > slot->size || end > slot->size - body) return 0;
  end += body;
  uint32_t protected_size = number(header + PROTECTED_SIZE, 2), start = end;
  if (protected_size != 0 && (!add_tlvs(slot, &end, 0x6908) || end - start != protected_size))
    return 0;
  return add_tlvs(slot, &end, 0x6907) ? end : 0;
}

ota_image ota_mcuboot_image(
    bool (*read)(void *context, uint32_t offset, uint8_t *to, uint32_t size), void *context,
    uint32_t slot_size, uint32_t hardware_id) {
  enum { VERSION = 20, HEADER = 32 };
  static const uint8_t magic[4] = {0x3D, 0xB8, 0xF3, 0x96};
  const slot_reader slot = {read, context, slot_size};
  ota_image image = {.size = 0, .crc32 = 0, .version = 0, .hardware_id = hardware_id};
  uint8_t bytes[OTA_READ_STEP];
  if (slot_size < HEADER || !read(context, 0, bytes, HEADER) || memcmp(bytes, magic, 4) != 0)
    return image;
  uint32_t size = image_size(&slot, bytes), crc32 = 0;
  uint32_t version =
      ota_version(bytes[VERSION], bytes[VERSION + 1], (uint16_t)number(bytes + VERSION + 2, 2));
  for (uint32_t at = 0; at < size;) {
    uint32_t step = size - at < sizeof bytes ? size - at : (uint32_t)sizeof bytes;
    if (!read(context, at, bytes, step)) return image;
    crc32 = ota_crc32(crc32, bytes, step);
    at += step;
  }
  if (size != 0) image.version = version;
  image.size = size;
  image.crc32 = crc32;
  return image;
}

// Trailers ---------------------------------------------------------------------------------------

typedef enum { FIELD_UNSET, FIELD_GOOD, FIELD_BAD } field;

/// The fields of a trailer; `FIELD_BAD` also if the flash cannot be read.
typedef struct {
  field magic, image_ok, copy_done;
} trailer;

static uint32_t round_down(uint32_t value, uint32_t unit) { return value - value % unit; }

static uint32_t round_up(uint32_t value, uint32_t unit) { return round_down(value + unit - 1, unit); }

/// The offset of the field `index` before the magic: 1 = image_ok, 2 = copy_done, 3 = swap_info.
static uint32_t field_offset(const ota_mcuboot *slots, uint8_t slot, uint32_t index) {
  return round_down(slots->slot_size[slot] - MAGIC_SIZE, slots->unit) - index * slots->unit;
}

static void fill_magic(const ota_mcuboot *slots, uint8_t *to) {
  static const uint8_t fixed[MAGIC_SIZE] = {0x77, 0xC2, 0x95, 0xF3, 0x60, 0xD2, 0xEF, 0x7F,
                                            0x35, 0x52, 0x50, 0x0F, 0x2C, 0xB6, 0x79, 0x80};
  // For larger units, the unit is followed by another magic.
  static const uint8_t rest[MAGIC_SIZE - 2] = {0x2D, 0xE1, 0x5D, 0x29, 0x41, 0x0B, 0x8D,
                                               0x77, 0x67, 0x9C, 0x11, 0x0F, 0x1F, 0x8A};
  memcpy(to, fixed, MAGIC_SIZE);
  if (slots->unit == UNIT_MINIMUM) return;
  to[0] = slots->unit;
  to[1] = 0;
  memcpy(to + 2, rest, sizeof rest);
}

static field read_flag(const ota_mcuboot *slots, uint8_t slot, uint32_t index) {
  uint8_t flag;
  if (!slots->read(slots->context, slot, field_offset(slots, slot, index), &flag, 1))
    return FIELD_BAD;
  return flag == ERASED ? FIELD_UNSET : flag == FLAG_SET ? FIELD_GOOD : FIELD_BAD;
}

static field read_magic(const ota_mcuboot *slots, uint8_t slot) {
  uint8_t found[MAGIC_SIZE], magic[MAGIC_SIZE], erased[MAGIC_SIZE];
  uint32_t offset = slots->slot_size[slot] - MAGIC_SIZE;
  if (!slots->read(slots->context, slot, offset, found, MAGIC_SIZE)) return FIELD_BAD;
  fill_magic(slots, magic);
  memset(erased, ERASED, sizeof erased);
  if (memcmp(found, erased, MAGIC_SIZE) == 0) return FIELD_UNSET;
  return memcmp(found, magic, MAGIC_SIZE) == 0 ? FIELD_GOOD : FIELD_BAD;
}

static trailer read_trailer(const ota_mcuboot *slots, uint8_t slot) {
  return (trailer){
      read_magic(slots, slot), read_flag(slots, slot, 1), read_flag(slots, slot, 2)};
}

static bool write_flag(const ota_mcuboot *slots, uint8_t slot, uint32_t index, uint8_t value) {
  uint8_t bytes[OTA_MCUBOOT_UNIT_MAXIMUM];
  memset(bytes, ERASED, sizeof bytes);
  bytes[0] = value;
  return slots->write(
      slots->context, slot, field_offset(slots, slot, index), bytes, slots->unit);
}

uint32_t ota_mcuboot_trailer_size(uint32_t sectors, uint32_t write_size, uint32_t unit) {
  enum { FIELDS = 4 };
  return sectors * STATES_PER_SECTOR * write_size + FIELDS * unit + round_up(MAGIC_SIZE, unit);
}

ota_mcuboot_swap ota_mcuboot_next(const ota_mcuboot *slots) {
  trailer other = read_trailer(slots, OTA_MCUBOOT_OTHER);
  trailer running = read_trailer(slots, OTA_MCUBOOT_RUNNING);
  // A request in slot 1 has priority.
  if (other.magic == FIELD_GOOD && other.image_ok == FIELD_UNSET) return OTA_MCUBOOT_TEST;
  if (other.magic == FIELD_GOOD && other.image_ok == FIELD_GOOD) return OTA_MCUBOOT_PERMANENT;
  if (running.magic == FIELD_GOOD && running.image_ok == FIELD_UNSET &&
      running.copy_done == FIELD_GOOD)
    return OTA_MCUBOOT_REVERT;
  return OTA_MCUBOOT_NONE;
}

bool ota_mcuboot_is_on_trial(const ota_mcuboot *slots) {
  trailer running = read_trailer(slots, OTA_MCUBOOT_RUNNING);
  // The first image has no trailer, and cannot be reverted.
  return running.magic != FIELD_UNSET && running.image_ok != FIELD_GOOD;
}

bool ota_mcuboot_request_test(const ota_mcuboot *slots) {
  uint8_t magic[OTA_MCUBOOT_UNIT_MAXIMUM];
  uint32_t size = round_up(MAGIC_SIZE, slots->unit);
  field present = read_magic(slots, OTA_MCUBOOT_OTHER);
  if (present != FIELD_UNSET) return present == FIELD_GOOD;
  memset(magic, ERASED, sizeof magic);
  fill_magic(slots, magic + size - MAGIC_SIZE);
  return slots->write(
             slots->context, OTA_MCUBOOT_OTHER, slots->slot_size[OTA_MCUBOOT_OTHER] - size, magic,
             size) &&
         write_flag(slots, OTA_MCUBOOT_OTHER, 3, OTA_MCUBOOT_TEST);
}

bool ota_mcuboot_confirm(const ota_mcuboot *slots) {
  trailer running = read_trailer(slots, OTA_MCUBOOT_RUNNING);
  if (running.magic == FIELD_BAD) return false;
  if (running.magic == FIELD_UNSET || running.image_ok != FIELD_UNSET) return true;
  return write_flag(slots, OTA_MCUBOOT_RUNNING, 1, FLAG_SET);
}
