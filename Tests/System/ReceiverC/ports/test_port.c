/// A complete update of a port, from the first request to the restart, with the bytes of
/// docs/ota-service.md. The link is lost in the middle, and some requests must be refused.
#include <stdio.h>
#include <string.h>

#include "ota_receiver.h"
#include "port.h"

enum { SIZE = 20011, CHUNK = 240 };

static uint8_t image[SIZE];

static uint32_t get32(const uint8_t *from) {
  return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static void put32(uint8_t *to, uint32_t value) {
  for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> 8 * i);
}

#define EXPECT(condition)                                        \
  do {                                                           \
    if (!(condition)) {                                          \
      printf("FAILED %s:%d: %s\n", __FILE__, __LINE__, #condition); \
      return 1;                                                  \
    }                                                            \
  } while (0)

/// Returns the result of the answer, 0x100 | ATT error, or 0xFFF without an answer.
static uint32_t request(const uint8_t *bytes, uint32_t size) {
  seen.answer_size = 0;
  uint8_t error = port_write(PORT_CONTROL, bytes, size, true);
  if (error) return 0x100 | error;
  port_run();
  return seen.answer_size >= 2 && seen.answer[0] == (bytes[0] | 0x80) ? seen.answer[1] : 0xFFF;
}

static uint32_t ask(uint8_t opcode) { return request(&opcode, 1); }

static uint32_t begin(void) {
  uint8_t bytes[18] = {OTA_OP_BEGIN};
  put32(bytes + 2, SIZE);
  put32(bytes + 6, ota_crc32(0, image, SIZE));
  bytes[10] = 1;
  bytes[11] = 3;
  put32(bytes + 14, PORT_BOARD);
  return request(bytes, sizeof bytes);
}

/// Sends within the device's window; every tenth chunk is a Write Request.
static bool send_to(uint32_t end) {
  for (uint32_t sent = 0; sent < 10000; sent++) {
    uint8_t status[OTA_STATUS_SIZE], bytes[4 + CHUNK];
    port_read_status(status);
    uint32_t next = get32(status + 4), window = status[2] | (uint32_t)status[3] << 8;
    if (next >= end) return true;
    uint32_t size = end - next < CHUNK ? end - next : CHUNK;
    if (status[0] != OTA_STATE_RECEIVING) return false;
    if (window < size) {
      port_run();
      continue;
    }
    put32(bytes, next);
    memcpy(bytes + 4, image + next, size);
    if (port_write(PORT_DATA, bytes, 4 + size, sent % 10 == 0) != 0) return false;
  }
  return false;
}

/// PATCH makes the device read its running image, the base, and compare the CRC32 of the base.
static int offers_patches(void) {
  EXPECT(ask(OTA_OP_PATCH_INFO) == 0);
  EXPECT(get32(seen.answer + 11) == PORT_RUNNING_SIZE);
  EXPECT(get32(seen.answer + 15) == port_running_crc32());
  uint8_t patch[17] = {OTA_OP_PATCH};
  put32(patch + 1, PORT_RUNNING_SIZE);
  put32(patch + 5, port_running_crc32());
  put32(patch + 9, 46);
  EXPECT(request(patch, sizeof patch) == 0);
  put32(patch + 5, ~port_running_crc32());
  EXPECT(request(patch, sizeof patch) == OTA_RESULT_OTHER_BASE);
  return 0;
}

/// The device advertises again after each of many connections.
static int connect_often(void) {
  for (int i = 0; i < 100; i++) {
    port_run();
    EXPECT(port_is_advertising());
    port_connect();
    EXPECT(!port_is_advertising());
    if (i % 2 == 0) port_subscribe();
    port_disconnect();
  }
  port_run();
  EXPECT(port_is_advertising());
  return 0;
}

int main(void) {
  for (uint32_t i = 0; i < SIZE; i++) image[i] = (uint8_t)(i * i >> 7 ^ i);
  EXPECT(port_boot());
  EXPECT(!port_slot_is_erased());
  EXPECT(connect_often() == 0);
  EXPECT(port_slot_is_erased());
  port_connect();
  EXPECT(ask(OTA_OP_RUNNING) == (0x100 | OTA_ATT_CCCD_IMPROPER));
  port_subscribe();

  uint8_t info[] = {OTA_OP_INFO, 1};
  EXPECT(request(info, sizeof info) == 0);
  EXPECT(get32(seen.answer + 4) == PORT_BOARD && get32(seen.answer + 12) == 4096);
  EXPECT(ask(OTA_OP_RUNNING) == 0);
  EXPECT(seen.answer[2] == 1 && seen.answer[3] == 2 && seen.answer[4] == 3);
  EXPECT(get32(seen.answer + 6) == PORT_RUNNING_SIZE);
  EXPECT(get32(seen.answer + 10) == port_running_crc32());
  EXPECT(offers_patches() == 0);
  EXPECT(ask(0x7E) == OTA_RESULT_UNKNOWN_OPCODE);
  uint8_t early[8] = {0};
  EXPECT(port_write(PORT_DATA, early, sizeof early, true) == OTA_ATT_NO_SESSION);

  EXPECT(begin() == 0);
  EXPECT(send_to(SIZE / 2));
  port_run();
  uint8_t gap[8] = {1};
  seen.statuses = 0;
  EXPECT(port_write(PORT_DATA, gap, sizeof gap, true) == OTA_ATT_GAP);
  port_run();
  EXPECT(seen.statuses == 0);
  port_write(PORT_DATA, gap, sizeof gap, false);
  port_run();
  EXPECT(seen.statuses == 1 && seen.status[1] == OTA_ERROR_GAP);
  port_disconnect();
  port_run();

  EXPECT(port_is_advertising());
  port_connect();
  port_subscribe();
  EXPECT(begin() == 0);
  EXPECT(get32(seen.answer + 2) >= SIZE / 2);
  seen.statuses = 0;
  EXPECT(send_to(SIZE));
  port_run();
  EXPECT(seen.statuses > 0 && get32(seen.status + 12) == SIZE);
  EXPECT(ask(OTA_OP_VERIFY) == 0);
  EXPECT(get32(seen.answer + 2) == ota_crc32(0, image, SIZE));
  EXPECT(!seen.reset);
  EXPECT(ask(OTA_OP_ACTIVATE) == 0);
  port_run();
  EXPECT(seen.reset && port_asked_for(image, SIZE, ota_crc32(0, image, SIZE)));
  EXPECT(seen.violations == 0);
  printf("a complete update of a port: %d bytes, 100 connections, a lost link, a restart\n", SIZE);
  return 0;
}
