#include "images.h"

#include <stdbool.h>
#include <string.h>

#include "ota_receiver.h"
#include "port.h"

enum { HEADER = 32, TLVS = 4 + 4 + 32, DESCRIPTOR = 64 };

static void put32(uint8_t *to, uint32_t value) {
  for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> 8 * i);
}

void make_image(uint8_t *to, uint32_t size, uint8_t minor) {
  for (uint32_t i = 0; i < size; i++) to[i] = (uint8_t)(i * i >> 7 ^ i);
  for (uint32_t i = 200; i < size; i += 331) to[i] = (uint8_t)(to[i] + minor);
  memset(to, 0, HEADER);
  put32(to, 0x96F3B83D);
  to[8] = HEADER;
  put32(to + 12, size - HEADER - TLVS);
  to[20] = 1;
  to[21] = minor;
  to[22] = 3;
  static const uint8_t descriptor[12] = {0x4F, 0x54, 0x41, 0x69, 0x6D, 0x67, 0xD1, 0x5C, 1};
  uint8_t *at = to + DESCRIPTOR;
  memset(at, 0, 32);
  memcpy(at, descriptor, sizeof descriptor);
  put32(at + 12, PORT_BOARD);
  at[16] = 1;
  at[17] = minor;
  at[18] = 3;
  put32(at + 28, ota_crc32(0, at, 28));

  static const uint8_t tlvs[8] = {0x07, 0x69, TLVS, 0, 0x10, 0, 32, 0};
  memcpy(to + size - TLVS, tlvs, sizeof tlvs);
  sha256(to, size - TLVS, to + size - 32);
}
