/// Tests of ota_mcuboot.c with the trailers of two slots: the identity of an image, each combination
/// of fields against MCUboot's table of swaps, and the fields that a request and a confirmation write.
#include <stdio.h>
#include <string.h>

#include "images.h"
#include "ota_mcuboot.h"

enum { SLOT = 0x10000, SIZE = 40012, TLVS = 40, UNSET = 0xFF };

#define EXPECT(condition)                                            \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("FAILED %s:%d: %s\n", __FILE__, __LINE__, #condition);  \
      return 1;                                                      \
    }                                                                \
  } while (0)

static uint8_t flash[2][SLOT];
static bool is_misused;
static ota_mcuboot slots;

static bool read_slot(void *context, uint8_t slot, uint32_t offset, uint8_t *to, uint32_t size) {
  (void)context;
  if (offset > SLOT || size > SLOT - offset) return !(is_misused = true);
  memcpy(to, flash[slot] + offset, size);
  return true;
}

static bool write_slot(
    void *context, uint8_t slot, uint32_t offset, const uint8_t *from, uint32_t size) {
  (void)context;
  is_misused |= offset % slots.unit != 0 || size % slots.unit != 0 || size > SLOT - offset;
  for (uint32_t i = 0; i < size; i++) {
    is_misused |= from[i] != UNSET && flash[slot][offset + i] != UNSET;
    flash[slot][offset + i] &= from[i];
  }
  return true;
}

static bool read_first(void *context, uint32_t offset, uint8_t *to, uint32_t size) {
  return size <= OTA_READ_STEP && read_slot(context, 0, offset, to, size);
}

static int describe_images(void) {
  make_image(flash[0], SIZE, 7);
  ota_image image = ota_mcuboot_image(read_first, NULL, SLOT, 0xA001);
  EXPECT(image.size == SIZE && image.crc32 == ota_crc32(0, flash[0], SIZE));
  EXPECT(image.version == ota_version(1, 7, 3) && image.hardware_id == 0xA001);
  // Protected TLVs precede the other TLVs.
  uint8_t *header = flash[0], *area = flash[0] + SIZE - TLVS;
  static const uint8_t protected_area[8] = {0x08, 0x69, 8, 0}, rest[4] = {0x07, 0x69, 4, 0};
  header[10] = 8;
  memcpy(area, protected_area, sizeof protected_area);
  memcpy(area + 8, rest, sizeof rest);
  EXPECT(ota_mcuboot_image(read_first, NULL, SLOT, 0).size == SIZE - TLVS + 12);
  header[10] = 12;
  EXPECT(ota_mcuboot_image(read_first, NULL, SLOT, 0).size == 0);
  header[10] = 8;
  area[8] = 0;
  EXPECT(ota_mcuboot_image(read_first, NULL, SLOT, 0).size == 0);
  // Sizes that exceed the slot.
  for (int i = 8; i < 16; i++) {
    make_image(flash[0], SIZE, 7);
    memset(flash[0] + i, 0xFF, (size_t)(16 - i));
    EXPECT(ota_mcuboot_image(read_first, NULL, SLOT, 0).size == 0);
  }
  make_image(flash[0], SIZE, 7);
  EXPECT(ota_mcuboot_image(read_first, NULL, SIZE - 1, 0).size == 0);
  EXPECT(ota_mcuboot_image(read_first, NULL, 16, 0).size == 0);
  flash[0][0] ^= 1;
  EXPECT(ota_mcuboot_image(read_first, NULL, SLOT, 0).size == 0);
  EXPECT(!is_misused);
  return 0;
}

// The values of a field: unset, good, bad.
enum { FIELD_UNSET, FIELD_GOOD, FIELD_BAD, FIELDS };

static void set_magic(uint8_t slot, int value) {
  static const uint8_t fixed[16] = {0x77, 0xC2, 0x95, 0xF3, 0x60, 0xD2, 0xEF, 0x7F,
                                    0x35, 0x52, 0x50, 0x0F, 0x2C, 0xB6, 0x79, 0x80};
  static const uint8_t rest[14] = {0x2D, 0xE1, 0x5D, 0x29, 0x41, 0x0B, 0x8D,
                                   0x77, 0x67, 0x9C, 0x11, 0x0F, 0x1F, 0x8A};
  uint8_t *to = flash[slot] + SLOT - 16;
  memset(to, value == FIELD_UNSET ? 0xFF : 0x5A, 16);
  if (value != FIELD_GOOD) return;
  memcpy(to, fixed, 16);
  if (slots.unit == 8) return;
  to[0] = slots.unit;
  to[1] = 0;
  memcpy(to + 2, rest, 14);
}

static void set_flag(uint8_t slot, uint32_t index, int value) {
  static const uint8_t bytes[FIELDS] = {0xFF, 1, 0x5A};
  uint32_t end = SLOT - (slots.unit == 32 ? 32 : 16);
  flash[slot][end - index * slots.unit] = bytes[value];
}

static void set_trailer(uint8_t slot, int magic, int ok, int done) {
  memset(flash[slot] + SLOT - 256, 0xFF, 256);
  set_magic(slot, magic);
  set_flag(slot, 1, ok);
  set_flag(slot, 2, done);
}

static int combine_fields(uint8_t unit) {
  slots = (ota_mcuboot){NULL, read_slot, write_slot, {SLOT, SLOT}, unit};
  for (int i = 0; i < FIELDS * FIELDS * FIELDS * FIELDS * FIELDS; i++) {
    int magic0 = i % 3, magic1 = i / 3 % 3, ok0 = i / 9 % 3, ok1 = i / 27 % 3, done0 = i / 81;
    set_trailer(0, magic0, ok0, done0);
    set_trailer(1, magic1, ok1, FIELD_UNSET);
    ota_mcuboot_swap expected = OTA_MCUBOOT_NONE;
    if (magic0 == FIELD_GOOD && ok0 == FIELD_UNSET && done0 == FIELD_GOOD)
      expected = OTA_MCUBOOT_REVERT;
    if (magic1 == FIELD_GOOD && ok1 == FIELD_GOOD) expected = OTA_MCUBOOT_PERMANENT;
    if (magic1 == FIELD_GOOD && ok1 == FIELD_UNSET) expected = OTA_MCUBOOT_TEST;
    EXPECT(ota_mcuboot_next(&slots) == expected);
    EXPECT(ota_mcuboot_is_on_trial(&slots) == (magic0 != FIELD_UNSET && ok0 != FIELD_GOOD));

    EXPECT(ota_mcuboot_confirm(&slots) == (magic0 != FIELD_BAD));
    bool is_confirmed = magic0 == FIELD_UNSET || ok0 == FIELD_GOOD ||
                        (magic0 == FIELD_GOOD && ok0 == FIELD_UNSET);
    EXPECT(ota_mcuboot_is_on_trial(&slots) == !is_confirmed);
    set_trailer(1, magic1, magic1 == FIELD_UNSET ? FIELD_UNSET : ok1, FIELD_UNSET);
    EXPECT(ota_mcuboot_request_test(&slots) == (magic1 != FIELD_BAD));
    if (magic1 == FIELD_UNSET) EXPECT(ota_mcuboot_next(&slots) == OTA_MCUBOOT_TEST);
  }
  EXPECT(!is_misused);
  return 0;
}

int main(void) {
  memset(flash, 0xFF, sizeof flash);
  int failed = describe_images() + combine_fields(8) + combine_fields(16) + combine_fields(32);
  // 128 sectors with units of 4 bytes; 16 bytes of magic and four fields of 8 bytes.
  failed += ota_mcuboot_trailer_size(128, 4, 8) != 128 * 3 * 4 + 4 * 8 + 16;
  failed += ota_mcuboot_trailer_size(128, 32, 32) != 128 * 3 * 32 + 5 * 32;
  printf("MCUboot's trailers: %d failed\n", failed);
  return failed != 0;
}
