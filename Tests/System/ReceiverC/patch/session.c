#include "session.h"

#include <string.h>

device d;
patched p;
const uint8_t other_image[64] = "what runs has something to do with what comes, or it has not";
const uint8_t example[EXAMPLE_SIZE] = {2, 0x83, 1, 0, 2, 0, 0x20, 1,    10,   0,    0, 1,    0xA0, 1, 0x15,
                                       0, 0,    6, 3, 0x4E, 0x45, 0x57, 0, 0x20, 1, 0x21, 0, 0, 1, 0x60};

void make_device(uint64_t seed, uint8_t alignment) {
  device_make(&d, seed, alignment);
  if (p.base_size > 0) device_take_patches(&d, p.base, p.base_size);
  else device_take_patches(&d, other_image, sizeof other_image);
  device_connect(&d);
}

uint32_t announce_stream(uint32_t base_size, uint32_t base_crc32, uint32_t size, uint32_t crc32) {
  uint8_t bytes[17] = {OTA_OP_PATCH};
  put32(bytes + 1, base_size);
  put32(bytes + 5, base_crc32);
  put32(bytes + 9, size);
  put32(bytes + 13, crc32);
  return request(&d, bytes, sizeof bytes);
}

uint32_t announce(void) {
  return announce_stream(
      p.base_size, ota_crc32(0, p.base, p.base_size), p.stream_size,
      ota_crc32(0, p.stream, p.stream_size));
}

uint32_t begin_patch(uint8_t flags) {
  return begin(&d, p.image, p.image_size, flags | OTA_BEGIN_PATCH);
}

uint32_t begin_stream(uint8_t flags) {
  uint32_t result = announce();
  return result == 0 ? begin_patch(flags) : result;
}

bool send_stream(uint32_t end) { return send_to(&d, p.stream, end); }

uint32_t patch_point(uint32_t *image_offset) {
  *image_offset = 0;
  if (request_op(&d, OTA_OP_PATCH_POINT) != 0) return UINT32_MAX;
  *image_offset = get32(d.answer + 14);
  if (get32(d.answer + 2) != p.stream_size) return 0;
  return get32(d.answer + 10);
}

bool slot_is_image(void) { return memcmp(d.flash.bytes, p.image, p.image_size) == 0; }

bool patch_update(void) {
  uint32_t made, held = patch_point(&made);
  if (begin_stream(held == 0 ? OTA_BEGIN_RESTART : 0) != 0) return false;
  uint32_t next = get32(d.answer + 2);
  if (next > p.stream_size) return false;
  // The bytes held by the device are not the start of this stream.
  if (get32(d.answer + 6) != ota_crc32(0, p.stream, next) && begin_stream(OTA_BEGIN_RESTART) != 0)
    return false;
  if (!send_stream(p.stream_size) || request_op(&d, OTA_OP_VERIFY) != 0) return false;
  return slot_is_image() && d.flash.violations == 0;
}

bool plain_update(void) { return update(&d, p.image, p.image_size); }

static void read_status(uint8_t *status) { ota_receiver_status_read(&d.receiver, status); }

uint32_t device_state(void) {
  uint8_t status[OTA_STATUS_SIZE];
  read_status(status);
  return status[0];
}

uint32_t device_error(void) {
  uint8_t status[OTA_STATUS_SIZE];
  read_status(status);
  return status[1];
}

uint32_t next_offset(void) {
  uint8_t status[OTA_STATUS_SIZE];
  read_status(status);
  return get32(status + 4);
}

uint32_t durable_offset(void) {
  uint8_t status[OTA_STATUS_SIZE];
  read_status(status);
  return get32(status + 12);
}

uint32_t rewind_to(uint32_t offset) {
  uint8_t bytes[5] = {OTA_OP_REWIND};
  put32(bytes + 1, offset);
  return request(&d, bytes, sizeof bytes);
}

void reconnect(void) {
  ota_receiver_disconnected(&d.receiver);
  device_run(&d);
  device_connect(&d);
}
