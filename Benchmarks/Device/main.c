/// A device of minimal cost for measurements of the host. It consists of the portable receiver and
/// of the smallest ATT server that otaflash can discover, on a Unix SEQPACKET socket.
///
/// usage: sink-device SOCKET [BYTES-PER-SECOND]
/// Serves one connection after the other until it is killed.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "ota_receiver.h"

// The attribute table contains only the OTA service (docs/ota-service.md, 1).
enum {
  SERVICE = 1,
  CONTROL_DECLARATION = 2,
  CONTROL = 3,
  CONTROL_CCCD = 4,
  DATA_DECLARATION = 5,
  DATA = 6,
  STATUS_DECLARATION = 7,
  STATUS = 8,
  STATUS_CCCD = 9
};

enum {
  PDU_MAXIMUM = 672,
  ATT_MTU = 517,
  RING_SIZE = 60 * 1024,
  ROW_SIZE = 1024,
  PAGE_SIZE = 4096,
  SLOT_SIZE = 64 << 20,
  POLL_EVERY_US = 2000
};

static const uint8_t UUID_TAIL[16] = {0x29, 0x95, 0x69, 0x56, 0xdb, 0x74, 0xdc, 0x8b,
                                      0x07, 0x48, 0xb4, 0x21, 0x00, 0x00, 0x3e, 0x2f};

typedef struct {
  int socket;
  ota_receiver receiver;
  ota_receiver_config config;
  uint8_t ring[RING_SIZE];
} device;

static void fail(const char *what) {
  fprintf(stderr, "sink-device: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void transmit(const device *d, const uint8_t *pdu, size_t size) {
  // The next recv detects that the host has disconnected.
  (void)!send(d->socket, pdu, size, MSG_NOSIGNAL);
}

// Callbacks: the metadata flash always reads as erased and stores nothing.

static bool flash_read(void *context, uint32_t address, uint8_t *to, uint32_t size) {
  (void)context, (void)address;
  memset(to, 0xFF, size);
  return true;
}

static ota_flash_result flash_write(
    void *context, uint32_t address, const uint8_t *from, uint32_t size) {
  (void)context, (void)address, (void)from, (void)size;
  return OTA_FLASH_FAILED;
}

static ota_flash_result flash_erase(void *context, uint32_t page) {
  (void)context, (void)page;
  return OTA_FLASH_FAILED;
}

static bool indicate(void *context, const uint8_t *bytes, uint32_t size) {
  uint8_t pdu[3 + OTA_ANSWER_MAXIMUM] = {0x1D, CONTROL, 0};
  memcpy(pdu + 3, bytes, size);
  transmit(context, pdu, 3 + size);
  return true;
}

static bool notify(void *context, const uint8_t *bytes) {
  uint8_t pdu[3 + OTA_STATUS_SIZE] = {0x1B, STATUS, 0};
  memcpy(pdu + 3, bytes, OTA_STATUS_SIZE);
  transmit(context, pdu, sizeof pdu);
  return true;
}

static void never_activate(void *context, uint32_t size, uint32_t crc32) {
  (void)context, (void)size, (void)crc32;
}

static void set_up(device *d) {
  d->config = (ota_receiver_config){
      .context = d,
      .flash_read = flash_read,
      .flash_write = flash_write,
      .flash_erase = flash_erase,
      .indicate_control = indicate,
      .notify_status = notify,
      .activate = never_activate,
      .running = {.size = 1000, .crc32 = 1, .version = ota_version(1, 2, 0), .hardware_id = 0xA001},
      .ring = d->ring,
      .ring_size = RING_SIZE,
      .largest_chunk = OTA_CHUNK_MAXIMUM,
      .slot_size = SLOT_SIZE,
      .page_size = PAGE_SIZE,
      .row_size = 4 * ROW_SIZE,
      .write_alignment = 4,
      .metadata_address = {SLOT_SIZE, SLOT_SIZE + PAGE_SIZE}};
  if (!ota_receiver_init(&d->receiver, &d->config)) {
    fprintf(stderr, "sink-device: the receiver refused its configuration\n");
    exit(1);
  }
}

// ATT (Core 5.4, Vol 3, Part F, 3.4)

static uint16_t get16(const uint8_t *from) { return (uint16_t)(from[0] | from[1] << 8); }

static void answer_error(const device *d, uint8_t request, uint16_t handle, uint8_t code) {
  const uint8_t pdu[] = {0x01, request, (uint8_t)handle, (uint8_t)(handle >> 8), code};
  transmit(d, pdu, sizeof pdu);
}

static void put_uuid(uint8_t *to, uint8_t number) {
  memcpy(to, UUID_TAIL, sizeof UUID_TAIL);
  to[12] = number;
}

static void find_service(const device *d, uint8_t request, uint16_t start) {
  uint8_t pdu[2 + 20] = {0x11, 20, SERVICE, 0, STATUS_CCCD, 0};
  put_uuid(pdu + 6, 1);
  if (request == 0x10 && start == SERVICE)
    transmit(d, pdu, sizeof pdu);
  else
    answer_error(d, request, start, 0x0A);
}

/// Answers with the first characteristic whose declaration is in `start` to `end`.
static void find_characteristic(const device *d, uint16_t start, uint16_t end, uint16_t type) {
  static const uint8_t known[3][4] = {
      {CONTROL_DECLARATION, 0x28, CONTROL, 2},
      {DATA_DECLARATION, 0x0C, DATA, 3},
      {STATUS_DECLARATION, 0x12, STATUS, 4}};
  for (size_t i = 0; type == 0x2803 && i < 3; i++) {
    if (known[i][0] < start || known[i][0] > end) continue;
    uint8_t pdu[2 + 21] = {0x09, 21, known[i][0], 0, known[i][1], known[i][2], 0};
    put_uuid(pdu + 7, known[i][3]);
    transmit(d, pdu, sizeof pdu);
    return;
  }
  answer_error(d, 0x08, start, 0x0A);
}

static void find_descriptors(const device *d, uint16_t start, uint16_t end) {
  uint16_t handle = start <= CONTROL_CCCD && CONTROL_CCCD <= end ? CONTROL_CCCD : STATUS_CCCD;
  if (handle < start || handle > end) {
    answer_error(d, 0x04, start, 0x0A);
    return;
  }
  const uint8_t pdu[] = {0x05, 1, (uint8_t)handle, 0, 0x02, 0x29};
  transmit(d, pdu, sizeof pdu);
}

static void write_request(device *d, uint16_t handle, const uint8_t *value, uint32_t size) {
  uint8_t error = 0;
  if (handle == DATA) {
    error = ota_receiver_data_write(&d->receiver, value, size, true);
  } else if (handle == CONTROL) {
    error = ota_receiver_control_write(&d->receiver, value, size);
  } else if (handle == CONTROL_CCCD && size == 2) {
    ota_receiver_control_cccd(&d->receiver, get16(value));
  } else if (handle == STATUS_CCCD && size == 2) {
    ota_receiver_status_cccd(&d->receiver, get16(value));
  } else {
    error = 0x03;
  }
  const uint8_t done = 0x13;
  if (error)
    answer_error(d, 0x12, handle, error);
  else
    transmit(d, &done, 1);
}

static void handle_request(device *d, const uint8_t *pdu, uint32_t size) {
  uint16_t first = size >= 3 ? get16(pdu + 1) : 0;
  uint16_t second = size >= 5 ? get16(pdu + 3) : 0;
  uint8_t reply[1 + OTA_STATUS_SIZE] = {0};
  switch (pdu[0]) {
    case 0x02:
      memcpy(reply, (const uint8_t[]){0x03, ATT_MTU & 0xFF, ATT_MTU >> 8}, 3);
      transmit(d, reply, 3);
      return;
    case 0x04: find_descriptors(d, first, second); return;
    case 0x06:
      // Find By Type Value: answers with the only primary service.
      memcpy(reply, (const uint8_t[]){0x07, SERVICE, 0, STATUS_CCCD, 0}, 5);
      if (first <= SERVICE && size == 7 + 16 && pdu[7 + 12] == 1)
        transmit(d, reply, 5);
      else
        answer_error(d, pdu[0], first, 0x0A);
      return;
    case 0x08: find_characteristic(d, first, second, size == 7 ? get16(pdu + 5) : 0); return;
    case 0x0A:
      reply[0] = 0x0B;
      ota_receiver_status_read(&d->receiver, reply + 1);
      transmit(d, reply, sizeof reply);
      return;
    case 0x10: find_service(d, pdu[0], first); return;
    case 0x12: write_request(d, first, pdu + 3, size - 3); return;
    case 0x1E: ota_receiver_indication_confirmed(&d->receiver); return;
    case 0x52:
      if (first == DATA) ota_receiver_data_write(&d->receiver, pdu + 3, size - 3, false);
      return;
    default:
      if (!(pdu[0] & 0x40)) answer_error(d, pdu[0], 0, 0x06);
  }
}

static void serve(device *d, uint64_t bytes_per_second) {
  uint8_t pdu[PDU_MAXIMUM];
  uint64_t start = now_us(), bytes = 0;
  ota_receiver_connected(&d->receiver);
  while (true) {
    ssize_t size = recv(d->socket, pdu, sizeof pdu, 0);
    if (size <= 0) break;
    if (size >= 3 || pdu[0] == 0x1E) handle_request(d, pdu, (uint32_t)size);
    while (ota_receiver_poll(&d->receiver, (uint32_t)(now_us() / 1000)) == 0) continue;
    if (bytes_per_second == 0 || pdu[0] != 0x52) continue;
    // Accepts data at most at the requested rate; does not catch up after a delay of more than 1 s.
    bytes += (uint64_t)size - 7;
    uint64_t due = start + bytes * 1000000 / bytes_per_second, now = now_us();
    if (now > due + 1000000) {
      start = now;
      bytes = 0;
    } else if (due > now + POLL_EVERY_US) {
      usleep((useconds_t)(due - now));
    }
  }
  ota_receiver_disconnected(&d->receiver);
  close(d->socket);
}

int main(int count, char **words) {
  static device d;
  if (count < 2) {
    fprintf(stderr, "usage: sink-device SOCKET [BYTES-PER-SECOND]\n");
    return 64;
  }
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(words[1]) >= sizeof address.sun_path) return 64;
  strcpy(address.sun_path, words[1]);
  set_up(&d);
  int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (listener < 0) fail("socket");
  unlink(words[1]);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0) fail("bind");
  if (listen(listener, 16) != 0) fail("listen");
  while ((d.socket = accept(listener, NULL, NULL)) >= 0)
    serve(&d, count > 2 ? strtoull(words[2], NULL, 10) : 0);
  fail("accept");
}
