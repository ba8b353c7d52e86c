/// A port as a program that listens on a Unix socket, for `otaflash … -d unix:SOCKET`. A packet of
/// the socket is one ATT PDU (Core 5.4, Vol 3, Part F). The flash is a file, and a reset restarts
/// this program, so the device keeps its images. Radio, bootloader and flash take no time. With
/// `--slow`, flash needs 85 ms to erase a page and 40 ms to write it.
///
///     device_nrf5 [--slow] SOCKET FLASH [IMAGE]
///     device_nrf5 --image FILE MINOR
///
/// IMAGE is the running image of a new flash file; without IMAGE it is an image of version 1.0.3.
/// The second line writes an image of version 1.MINOR.3 that the bootloader of the port accepts.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "images.h"
#include "port.h"

enum { MTU = 247, PDU_MAXIMUM = 1024, FIRST_IMAGE_SIZE = 30000, NO_ERROR = 0 };

// The attributes: the service, and for each characteristic its declaration, value and CCCD.
enum { SERVICE = 1, CONTROL = 2, DATA = 5, STATUS = 7, LAST = 9 };
static const struct {
  uint8_t declaration, properties, uuid, last;
  port_value value;
} characteristics[] = {
    {CONTROL, 0x28, 2, CONTROL + 2, PORT_CONTROL},
    {DATA, 0x0C, 3, DATA + 1, PORT_DATA},
    {STATUS, 0x12, 4, STATUS + 2, PORT_STATUS},
};
enum { CHARACTERISTICS = sizeof characteristics / sizeof characteristics[0] };

enum { PRIMARY_SERVICE = 0x2800, CHARACTERISTIC = 0x2803, CCCD = 0x2902 };
enum {
  REQUEST_NOT_SUPPORTED = 0x06,
  INVALID_HANDLE = 0x01,
  READ_NOT_PERMITTED = 0x02,
  WRITE_NOT_PERMITTED = 0x03,
  INVALID_PDU = 0x04,
  ATTRIBUTE_NOT_FOUND = 0x0A,
  INVALID_LENGTH = 0x0D
};

static int host = -1;
static uint16_t mtu = 23;
static uint16_t cccds[CHARACTERISTICS];

static uint16_t get16(const uint8_t *from) { return (uint16_t)(from[0] | from[1] << 8); }

static void put16(uint8_t *to, uint32_t value) {
  to[0] = (uint8_t)value;
  to[1] = (uint8_t)(value >> 8);
}

/// 2f3e....-21b4-4807-8bdc-74db56699529, least significant byte first.
static void put_uuid(uint8_t *to, uint8_t number) {
  static const uint8_t base[16] = {0x29, 0x95, 0x69, 0x56, 0xDB, 0x74, 0xDC, 0x8B,
                                   0x07, 0x48, 0xB4, 0x21, 0x00, 0x00, 0x3E, 0x2F};
  memcpy(to, base, sizeof base);
  to[12] = number;
}

static void send_pdu(const uint8_t *pdu, uint32_t size) {
  // The next receive detects that the host has disconnected.
  if (send(host, pdu, size, MSG_NOSIGNAL) < 0 && errno != EPIPE) perror("send");
}

static void send_value(port_value value, const uint8_t *bytes, uint32_t size) {
  uint8_t pdu[3 + 20];
  pdu[0] = value == PORT_CONTROL ? 0x1D : 0x1B;
  put16(pdu + 1, characteristics[value].declaration + 1u);
  memcpy(pdu + 3, bytes, size);
  send_pdu(pdu, 3 + size);
}

static void send_error(uint8_t opcode, uint16_t handle, uint8_t error) {
  uint8_t pdu[5] = {0x01, opcode, 0, 0, error};
  put16(pdu + 2, handle);
  send_pdu(pdu, sizeof pdu);
}

// Discovery

/// Answers Read By Group Type and Read By Type, Find By Type Value and Find Information. Returns an
/// ATT error, or 0 after the response.
static uint8_t discover(const uint8_t *pdu, uint32_t size) {
  uint16_t first = get16(pdu + 1), last = get16(pdu + 3);
  uint8_t answer[MTU] = {(uint8_t)(pdu[0] + 1)};
  uint32_t used = 2;
  if (pdu[0] == 0x10) {
    if (size != 7 || get16(pdu + 5) != PRIMARY_SERVICE || first > SERVICE)
      return ATTRIBUTE_NOT_FOUND;
    answer[1] = 4 + 16;
    put16(answer + 2, SERVICE);
    put16(answer + 4, LAST);
    put_uuid(answer + 6, 1);
    used = 2 + 20;
  } else if (pdu[0] == 0x06) {
    uint8_t uuid[16];
    put_uuid(uuid, 1);
    if (size != 7 + 16 || first > SERVICE || memcmp(pdu + 7, uuid, 16) != 0)
      return ATTRIBUTE_NOT_FOUND;
    put16(answer + 1, SERVICE);
    put16(answer + 3, LAST);
    used = 5;
  } else if (pdu[0] == 0x08) {
    if (size != 7 || get16(pdu + 5) != CHARACTERISTIC) return ATTRIBUTE_NOT_FOUND;
    answer[1] = 2 + 3 + 16;
    for (int i = 0; i < CHARACTERISTICS; i++) {
      uint8_t handle = characteristics[i].declaration;
      if (handle < first || handle > last || used + answer[1] > mtu) continue;
      put16(answer + used, handle);
      answer[used + 2] = characteristics[i].properties;
      put16(answer + used + 3, handle + 1u);
      put_uuid(answer + used + 5, characteristics[i].uuid);
      used += answer[1];
    }
  } else {
    // The only descriptors are the CCCDs. Values have long UUIDs and need another response.
    answer[1] = 1;
    for (int i = 0; i < CHARACTERISTICS; i++) {
      uint8_t cccd = characteristics[i].declaration + 2;
      if (cccd > characteristics[i].last || cccd < first || cccd > last) continue;
      put16(answer + used, cccd);
      put16(answer + used + 2, CCCD);
      used += 4;
    }
  }
  if (used == 2) return ATTRIBUTE_NOT_FOUND;
  send_pdu(answer, used);
  return NO_ERROR;
}

// Values

static int characteristic_with(uint16_t handle, uint8_t offset) {
  for (int i = 0; i < CHARACTERISTICS; i++) {
    uint16_t at = characteristics[i].declaration + offset;
    if (handle == at && at <= characteristics[i].last) return i;
  }
  return -1;
}

static uint8_t read_value(const uint8_t *pdu, uint32_t size) {
  uint8_t answer[1 + 16] = {0x0B};
  if (size != 3) return INVALID_PDU;
  int value = characteristic_with(get16(pdu + 1), 1), cccd = characteristic_with(get16(pdu + 1), 2);
  if (cccd >= 0) {
    put16(answer + 1, cccds[cccd]);
    send_pdu(answer, 3);
    return NO_ERROR;
  }
  if (value < 0) return INVALID_HANDLE;
  if (characteristics[value].value != PORT_STATUS) return READ_NOT_PERMITTED;
  port_read_status(answer + 1);
  send_pdu(answer, sizeof answer);
  return NO_ERROR;
}

static uint8_t write_value(const uint8_t *pdu, uint32_t size, bool with_response) {
  static const uint8_t answer[1] = {0x13};
  uint8_t error = INVALID_HANDLE;
  if (size < 3) return INVALID_PDU;
  int value = characteristic_with(get16(pdu + 1), 1), cccd = characteristic_with(get16(pdu + 1), 2);
  if (cccd >= 0) {
    if (size != 5) return INVALID_LENGTH;
    error = port_write_cccd(characteristics[cccd].value, get16(pdu + 3));
    if (error == NO_ERROR) cccds[cccd] = get16(pdu + 3);
  } else if (value >= 0) {
    port_value written = characteristics[value].value;
    error = WRITE_NOT_PERMITTED;
    if (written != PORT_STATUS) error = port_write(written, pdu + 3, size - 3, with_response);
  }
  if (with_response && error == NO_ERROR) send_pdu(answer, 1);
  return error;
}

static void handle_pdu(const uint8_t *pdu, uint32_t size) {
  uint8_t error = REQUEST_NOT_SUPPORTED;
  switch (pdu[0]) {
    case 0x02: {
      uint8_t answer[3] = {0x03};
      put16(answer + 1, MTU);
      if (size == 3 && get16(pdu + 1) >= 23) mtu = get16(pdu + 1) < MTU ? get16(pdu + 1) : MTU;
      send_pdu(answer, sizeof answer);
      error = NO_ERROR;
      break;
    }
    case 0x04: case 0x06: case 0x08: case 0x10:
      error = size < 5 ? INVALID_PDU : discover(pdu, size);
      break;
    case 0x0A:
      error = read_value(pdu, size);
      break;
    case 0x12: case 0x52:
      error = write_value(pdu, size, pdu[0] == 0x12);
      break;
    case 0x1E:
      port_confirm();
      break;
    default:
      break;
  }
  // Commands and confirmations have no response.
  bool has_response = !(pdu[0] & 0x40) && pdu[0] != 0x1E;
  if (error != NO_ERROR && has_response) send_error(pdu[0], size >= 3 ? get16(pdu + 1) : 0, error);
}

/// Lets the device work until a socket is readable. False: the device has reset.
static bool work_until_readable(int socket) {
  struct pollfd poll_of = {.fd = socket, .events = POLLIN};
  bool is_idle = false;
  while (!seen.reset && poll(&poll_of, 1, is_idle ? -1 : 0) <= 0) is_idle = !port_step();
  return !seen.reset;
}

/// Serves a host until it disconnects or the device resets.
static void serve(void) {
  uint8_t pdu[PDU_MAXIMUM];
  ssize_t size;
  mtu = 23;
  memset(cccds, 0, sizeof cccds);
  port_connect();
  while (work_until_readable(host) && (size = recv(host, pdu, sizeof pdu, 0)) > 0)
    handle_pdu(pdu, (uint32_t)size);
  // If PDUs are unread when the socket is closed, the kernel discards the values that the host has
  // not read yet.
  struct timeval limit = {.tv_sec = 1};
  setsockopt(host, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  shutdown(host, SHUT_WR);
  while (recv(host, pdu, sizeof pdu, 0) > 0) continue;
  close(host);
  if (!seen.reset) port_disconnect();
}

// The device

static int listen_at(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  if (listener < 0 || strlen(path) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, path);
  unlink(path);
  bool listens = bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
                 listen(listener, 1) == 0;
  return listens ? listener : -1;
}

/// Maps the flash file. Returns whether it is new, or -1.
static int open_flash(const char *path) {
  int file = open(path, O_RDWR | O_CREAT, 0644);
  off_t size = file < 0 ? -1 : lseek(file, 0, SEEK_END);
  if (size < 0 || ftruncate(file, port_flash_size) != 0) return -1;
  port_flash = mmap(NULL, port_flash_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return port_flash == MAP_FAILED ? -1 : size != (off_t)port_flash_size;
}

static bool install(const char *path) {
  static uint8_t image[1 << 20];
  uint32_t size = FIRST_IMAGE_SIZE;
  make_image(image, size, 0);
  if (path) {
    FILE *file = fopen(path, "rb");
    size = file ? (uint32_t)fread(image, 1, sizeof image, file) : 0;
    if (file) fclose(file);
  }
  bool fits = size > 0 && size <= port_image_maximum;
  if (fits) port_install(image, size);
  return fits;
}

/// Writes an image of version 1.`minor`.3. Returns the exit code.
static int write_image(const char *path, const char *minor) {
  static uint8_t image[4 * FIRST_IMAGE_SIZE];
  make_image(image, sizeof image, (uint8_t)atoi(minor));
  FILE *file = fopen(path, "wb");
  bool is_written = file && fwrite(image, 1, sizeof image, file) == sizeof image;
  if (file && fclose(file) != 0) is_written = false;
  if (!is_written) perror(path);
  return !is_written;
}

static void wait_for_flash(uint32_t size) {
  usleep(size == 0 ? 85000 : 40000 * size / PORT_PAGE);
}

int main(int count, char **arguments) {
  if (count == 4 && strcmp(arguments[1], "--image") == 0)
    return write_image(arguments[2], arguments[3]);
  bool is_slow = count > 1 && strcmp(arguments[1], "--slow") == 0;
  char **words = arguments + is_slow;
  count -= is_slow;
  if (count < 3 || count > 4) {
    fprintf(
        stderr, "usage: %s [--slow] SOCKET FLASH [IMAGE]\n       %s --image FILE MINOR\n",
        arguments[0], arguments[0]);
    return 64;
  }
  // After a reset, the socket is already open.
  const char *inherited = getenv("PORT_LISTENER");
  int listener = inherited ? atoi(inherited) : listen_at(words[1]);
  int is_new = open_flash(words[2]);
  if (listener < 0 || is_new < 0) {
    perror(listener < 0 ? words[1] : words[2]);
    return 1;
  }
  if (is_new && !install(words[3])) {
    fprintf(
        stderr, "%s is missing, or has more than %u bytes\n", words[3] ? words[3] : "the image",
        port_image_maximum);
    return 1;
  }
  port_sent = send_value;
  if (!port_boot()) return 1;
  if (is_slow) port_flash_works = wait_for_flash;
  printf("%s\n", inherited ? "started again" : "listening");
  fflush(stdout);
  while (work_until_readable(listener)) {
    // A host that connects earlier waits until the device advertises.
    while (!port_is_advertising() && port_step()) continue;
    if (!port_is_advertising()) break;
    host = accept(listener, NULL, NULL);
    if (host >= 0) serve();
    if (seen.violations > 0) fprintf(stderr, "%u violations of the stub\n", seen.violations);
  }
  if (!seen.reset) {
    fprintf(stderr, "the device does not advertise\n");
    return 1;
  }
  char text[12];
  snprintf(text, sizeof text, "%d", listener);
  setenv("PORT_LISTENER", text, 1);
  execv("/proc/self/exe", arguments);
  perror("execv");
  return 1;
}
