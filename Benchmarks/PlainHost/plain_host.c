#include "plain_host.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <zlib.h>

// The sink-device's handles (Benchmarks/Device/main.c) and the messages of docs/ota-service.md.
enum { CONTROL = 3, CONTROL_CCCD = 4, DATA = 6, STATUS = 8, STATUS_CCCD = 9 };
enum { PDU_MAXIMUM = 672, DATA_HEADER = 7, STATUS_SIZE = 16, SINK_ANY_DEVICE = 0x0E };

typedef struct {
  int socket;
  const uint8_t *image;
  uint32_t received;
  uint32_t limit;
} host;

static uint32_t get32(const uint8_t *from) {
  return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
         (uint32_t)from[3] << 24;
}

static void put32(uint8_t *to, uint32_t value) {
  for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> 8 * i);
}

static int transmit(const host *h, const uint8_t *pdu, size_t size) {
  return send(h->socket, pdu, size, MSG_NOSIGNAL) == (ssize_t)size ? 0 : errno ? errno : EPROTO;
}

/// Processes a Status; fails if it reports an error.
static int take_status(host *h, const uint8_t *status) {
  if (status[1] != 0) return EPROTO;
  h->received = get32(status + 4);
  h->limit = h->received + (uint32_t)(status[2] | status[3] << 8);
  return 0;
}

/// Receives PDUs until a PDU with `opcode` arrives, and returns this PDU in `pdu`.
static int await(host *h, uint8_t opcode, uint8_t pdu[PDU_MAXIMUM]) {
  const uint8_t confirmation = 0x1E;
  while (true) {
    ssize_t size = recv(h->socket, pdu, PDU_MAXIMUM, 0);
    if (size <= 0) return size < 0 ? errno : ECONNRESET;
    int error = 0;
    if (pdu[0] == 0x1B && size == 3 + STATUS_SIZE) error = take_status(h, pdu + 3);
    if (pdu[0] == 0x1D) error = transmit(h, &confirmation, 1);
    if (pdu[0] == 0x01) error = EPROTO;
    if (error || pdu[0] == opcode) return error;
  }
}

static int request(host *h, const uint8_t *pdu, size_t size, uint8_t response) {
  uint8_t answer[PDU_MAXIMUM];
  int error = transmit(h, pdu, size);
  return error ? error : await(h, response, answer);
}

/// Runs a Control operation: sends the write, then awaits the indication.
static int operate(host *h, const uint8_t *pdu, size_t size) {
  uint8_t answer[PDU_MAXIMUM];
  int error = transmit(h, pdu, size);
  if (!error) error = await(h, 0x1D, answer);
  return error ? error : answer[4] == 0 ? 0 : EPROTO;
}

static int begin(host *h, uint32_t size, uint32_t crc) {
  uint8_t pdu[3 + 18] = {0x12, CONTROL, 0, 0x06, SINK_ANY_DEVICE};
  put32(pdu + 5, size);
  put32(pdu + 9, crc);
  memset(pdu + 13, 0xFF, 4);
  int error = operate(h, pdu, sizeof pdu);
  const uint8_t read[] = {0x0A, STATUS, 0};
  uint8_t answer[PDU_MAXIMUM];
  if (!error) error = transmit(h, read, sizeof read);
  if (!error) error = await(h, 0x0B, answer);
  return error ? error : take_status(h, answer + 1);
}

static int stream(host *h, uint32_t size, uint32_t chunk) {
  uint8_t data[PDU_MAXIMUM] = {0x52, DATA}, answer[PDU_MAXIMUM];
  uint32_t sent = 0;
  int error = 0;
  while (!error && h->received < size) {
    uint32_t count = size - sent < chunk ? size - sent : chunk;
    if (count > 0 && sent + count <= h->limit) {
      put32(data + 3, sent);
      memcpy(data + DATA_HEADER, h->image + sent, count);
      error = transmit(h, data, DATA_HEADER + count);
      sent += count;
    } else {
      error = await(h, 0x1B, answer);
    }
  }
  return error;
}

static int transfer(host *h, uint32_t size, uint32_t crc, uint32_t repeats, uint32_t chunk) {
  const uint8_t mtu[] = {0x02, (chunk + DATA_HEADER) & 0xFF, (uint8_t)((chunk + DATA_HEADER) >> 8)};
  const uint8_t indications[] = {0x12, CONTROL_CCCD, 0, 2, 0};
  const uint8_t notifications[] = {0x12, STATUS_CCCD, 0, 1, 0};
  const uint8_t abort[] = {0x12, CONTROL, 0, 0x0B, 0};
  int error = request(h, mtu, sizeof mtu, 0x03);
  if (!error) error = request(h, indications, sizeof indications, 0x13);
  if (!error) error = request(h, notifications, sizeof notifications, 0x13);
  for (uint32_t i = 0; i < repeats && !error; i++) {
    error = begin(h, size, crc);
    if (!error) error = stream(h, size, chunk);
    if (!error) error = operate(h, abort, sizeof abort);
  }
  return error;
}

/// Creates the image that `otaflash bench` sends (LinkBenchmark.pattern), in separate pages that are
/// unmapped later, because the memory of the process is measured.
static uint8_t *make_image(uint32_t size) {
  uint8_t *image = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (image == MAP_FAILED) return NULL;
  for (uint32_t i = 0; i < size; i++) image[i] = (uint8_t)(i * 2654435761u >> 24);
  return image;
}

static int connect_and_transfer(host *h, const struct sockaddr_un *address, uint32_t size,
                                uint32_t repeats, uint32_t chunk) {
  if (connect(h->socket, (const struct sockaddr *)address, sizeof *address) != 0) return errno;
  uint8_t *image = make_image(size);
  if (!image) return ENOMEM;
  h->image = image;
  int error = transfer(h, size, (uint32_t)crc32_z(0, image, size), repeats, chunk);
  munmap(image, size);
  return error;
}

int plain_host_transfer(const char *path, uint32_t size, uint32_t repeats, uint32_t chunk) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path || chunk + DATA_HEADER > PDU_MAXIMUM) return EINVAL;
  strcpy(address.sun_path, path);
  host h = {.socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
  if (h.socket < 0) return errno;
  int error = connect_and_transfer(&h, &address, size, repeats, chunk);
  close(h.socket);
  return error;
}
