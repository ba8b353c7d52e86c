/// Images that the bootloader of ESP-IDF accepts.
#include "esp_image.h"

#include <stdio.h>
#include <string.h>

#include "images.h"
#include "ota_receiver.h"
#include "port.h"

enum { APP_DESCRIPTION = ESP_HEADER + ESP_SEGMENT_HEADER, DESCRIPTOR = APP_DESCRIPTION + 256 };

static uint32_t get32(const uint8_t *from) {
  return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static void put32(uint8_t *to, uint32_t value) {
  for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t walk(const uint8_t *bytes, uint32_t maximum, uint8_t *checksum) {
  uint32_t at = ESP_HEADER;
  *checksum = 0xEF;
  if (maximum < ESP_HEADER || bytes[0] != 0xE9 || bytes[1] == 0 || bytes[1] > 16) return 0;
  for (uint8_t segment = 0; segment < bytes[1]; segment++) {
    if (maximum - at < ESP_SEGMENT_HEADER) return 0;
    uint32_t size = get32(bytes + at + 4);
    at += ESP_SEGMENT_HEADER;
    if (size > maximum - at || size % 4 != 0) return 0;
    for (uint32_t i = 0; i < size; i++) *checksum ^= bytes[at + i];
    at += size;
  }
  return (at | 15) < maximum ? (at | 15) + 1 : 0;
}

uint32_t esp_image_length(const uint8_t *bytes, uint32_t maximum) {
  uint8_t checksum;
  uint32_t end = walk(bytes, maximum, &checksum);
  uint32_t hash = end > 0 && bytes[23] == 1 ? ESP_HASH : 0;
  return end > 0 && hash <= maximum - end ? end + hash : 0;
}

uint32_t esp_image_verified_length(const uint8_t *bytes, uint32_t maximum) {
  uint8_t checksum, hash[32];
  uint32_t end = walk(bytes, maximum, &checksum), length = esp_image_length(bytes, maximum);
  if (length == 0 || bytes[end - 1] != checksum) return 0;
  sha256(bytes, end, hash);
  return length == end || memcmp(hash, bytes + end, 32) == 0 ? length : 0;
}

void make_image(uint8_t *to, uint32_t size, uint8_t minor) {
  uint32_t segment = size - ESP_HASH - 16 - ESP_HEADER - ESP_SEGMENT_HEADER;
  for (uint32_t i = 0; i < size; i++) to[i] = (uint8_t)(i * i >> 7 ^ i);
  for (uint32_t i = 300; i < size; i += 331) to[i] = (uint8_t)(to[i] + minor);
  // One segment with the description of the application, for an ESP32-C3.
  memset(to, 0, ESP_HEADER);
  to[0] = 0xE9;
  to[1] = 1;
  to[2] = 2;
  to[3] = 0x20;
  put32(to + 4, 0x40380000);
  to[8] = 0xEE;
  to[12] = 5;
  to[23] = 1;
  put32(to + ESP_HEADER, 0x3C000020);
  put32(to + ESP_HEADER + 4, segment);
  memset(to + APP_DESCRIPTION, 0, 256);
  put32(to + APP_DESCRIPTION, 0xABCD5432);
  snprintf((char *)to + APP_DESCRIPTION + 16, 32, "1.%u.3", minor);
  snprintf((char *)to + APP_DESCRIPTION + 48, 32, "door");

  static const uint8_t descriptor[12] = {0x4F, 0x54, 0x41, 0x69, 0x6D, 0x67, 0xD1, 0x5C, 1};
  uint8_t *at = to + DESCRIPTOR;
  memset(at, 0, 32);
  memcpy(at, descriptor, sizeof descriptor);
  put32(at + 12, PORT_BOARD);
  at[16] = 1;
  at[17] = minor;
  at[18] = 3;
  put32(at + 28, ota_crc32(0, at, 28));

  uint8_t checksum;
  uint32_t end = walk(to, size, &checksum);
  memset(to + end - 16, 0, 16);
  to[end - 1] = checksum;
  sha256(to, end, to + end);
}
