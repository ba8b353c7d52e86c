/// Tests of a port on the stub of its SDK: connections, a host stack without buffers, complete
/// updates by an image and by a patch, and the restarts after them. The bytes are taken from
/// docs/ota-service.md.
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "images.h"
#include "ota_receiver.h"
#include "port.h"

enum { OLD_SIZE = 38004, SIZE = 40012, CHUNK = 240, PART = 2 * PORT_PAGE };

static uint8_t old_image[OLD_SIZE], image[SIZE], next_image[SIZE], stream[2 * SIZE];
static uint32_t stream_size;

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

// The host

/// Returns the result of the answer, 0x100 | ATT error, or 0xFFF without an answer.
static uint32_t request(const uint8_t *bytes, uint32_t size) {
  seen.answer_size = 0;
  uint8_t error = port_write(PORT_CONTROL, bytes, size, true);
  if (error) return 0x100 | error;
  port_run();
  return seen.answer_size >= 2 && seen.answer[0] == (bytes[0] | 0x80) ? seen.answer[1] : 0xFFF;
}

static uint32_t ask(uint8_t opcode) { return request(&opcode, 1); }

static uint32_t begin(const uint8_t *bytes, uint8_t minor, uint8_t flags) {
  uint8_t begin[18] = {OTA_OP_BEGIN, flags};
  put32(begin + 2, SIZE);
  put32(begin + 6, ota_crc32(0, bytes, SIZE));
  begin[10] = 1;
  begin[11] = minor;
  begin[12] = 3;
  put32(begin + 14, PORT_BOARD);
  return request(begin, sizeof begin);
}

static uint32_t announce(uint32_t base_size, uint32_t base_crc32) {
  uint8_t patch[17] = {OTA_OP_PATCH};
  put32(patch + 1, base_size);
  put32(patch + 5, base_crc32);
  put32(patch + 9, stream_size);
  put32(patch + 13, ota_crc32(0, stream, stream_size));
  return request(patch, sizeof patch);
}

static uint32_t status_at(uint32_t offset) {
  uint8_t status[OTA_STATUS_SIZE];
  port_read_status(status);
  return get32(status + offset);
}

static uint32_t next_offset(void) { return status_at(4); }
static uint32_t durable_offset(void) { return status_at(12); }

/// Sends within the device's window; every tenth chunk is a Write Request.
static bool send_to(const uint8_t *from, uint32_t end) {
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
    memcpy(bytes + 4, from + next, size);
    if (port_write(PORT_DATA, bytes, 4 + size, sent % 10 == 0) != 0) return false;
  }
  return false;
}

static void connect(void) {
  port_connect();
  seen.violations += port_write_cccd(PORT_CONTROL, 2) != 0 || port_write_cccd(PORT_STATUS, 1) != 0;
  port_run();
}

/// Whether RUNNING reports `expected`, version 1.`minor`.3, with this boot outcome.
static bool runs(
    const uint8_t *expected, uint32_t size, uint8_t minor, uint8_t outcome, bool trial) {
  return ask(OTA_OP_RUNNING) == 0 && seen.answer[2] == 1 && seen.answer[3] == minor &&
         seen.answer[4] == 3 && get32(seen.answer + 6) == size &&
         get32(seen.answer + 10) == ota_crc32(0, expected, size) && seen.answer[14] == outcome &&
         seen.answer[15] == trial;
}

// Scenarios. Each scenario starts a device with the flash content of the previous scenario.

/// Whether the device erases the slot before an update. A device with SMP does not, because the slot
/// may contain an image that SMP has uploaded.
static bool erases_ahead(void) { return port_smp_server == NULL; }

/// The device advertises again after each of many connections.
static int connect_often(void) {
  EXPECT(!port_slot_is_erased());
  for (int i = 0; i < 100; i++) {
    port_run();
    EXPECT(port_is_advertising());
    port_connect();
    EXPECT(!port_is_advertising());
    if (i % 2 == 0) EXPECT(port_write_cccd(PORT_STATUS, 1) == 0);
    if (i % 4 == 0) port_run();
    port_disconnect();
  }
  port_run();
  EXPECT(port_is_advertising());
  EXPECT(port_slot_is_erased() == erases_ahead());
  return 0;
}

static uint32_t accepted, written;

/// Sends three receive buffers of data while the device cannot send.
static void send_without_buffers(void) {
  accepted = written = 0;
  if (!send_to(image, next_offset() + 3 * 6144)) return;
  port_run();
  accepted = next_offset();
  written = durable_offset();
  port_set_buffers(true);
}

static void disconnect_without_buffers(void) {
  port_disconnect();
  port_set_buffers(true);
}

/// While no buffer is free, the device receives and writes data, and its callbacks return.
static int run_out_of_buffers(void) {
  port_run();
  connect();
  EXPECT(begin(image, 3, OTA_BEGIN_RESTART) == 0);
  port_set_buffers(false);
  port_waits_for_buffer = send_without_buffers;
  seen.statuses = 0;
  EXPECT(send_to(image, PORT_PAGE + CHUNK));
  port_run();
  EXPECT(port_waits_for_buffer == NULL && accepted >= 3 * 6144 && written >= 2 * 6144);
  EXPECT(seen.statuses > 0 && get32(seen.status + 4) == accepted);
  // The link is lost during the wait.
  port_set_buffers(false);
  port_waits_for_buffer = disconnect_without_buffers;
  EXPECT(request((uint8_t[]){OTA_OP_REWIND, 0, 0, 0, 0}, 5) == 0xFFF);
  EXPECT(port_waits_for_buffer == NULL);
  port_run();
  EXPECT(port_is_advertising());
  connect();
  uint8_t discard[] = {OTA_OP_ABORT, OTA_ABORT_DISCARD};
  EXPECT(request(discard, sizeof discard) == 0);
  return 0;
}

static int verify_and_activate(const uint8_t *bytes) {
  EXPECT(ask(OTA_OP_VERIFY) == 0);
  EXPECT(get32(seen.answer + 2) == ota_crc32(0, bytes, SIZE));
  EXPECT(!seen.reset);
  EXPECT(ask(OTA_OP_ACTIVATE) == 0);
  port_run();
  EXPECT(seen.reset);
  return 0;
}

static int update_by_image(void) {
  port_run();
  port_connect();
  EXPECT(ask(OTA_OP_RUNNING) == (0x100 | OTA_ATT_CCCD_IMPROPER));
  port_disconnect();
  port_run();
  connect();

  uint8_t info[] = {OTA_OP_INFO, 1};
  EXPECT(request(info, sizeof info) == 0);
  EXPECT((seen.answer[3] & 0x30) == (erases_ahead() ? 0x10 : 0x20));
  EXPECT(get32(seen.answer + 4) == PORT_BOARD && get32(seen.answer + 12) == PORT_PAGE);
  EXPECT(runs(old_image, OLD_SIZE, 2, OTA_BOOT_NORMAL, false));
  EXPECT(ask(OTA_OP_CONFIRM) == OTA_RESULT_NOTHING_TO_CONFIRM);
  EXPECT(ask(0x7E) == OTA_RESULT_UNKNOWN_OPCODE);
  uint8_t early[8] = {0};
  EXPECT(port_write(PORT_DATA, early, sizeof early, true) == OTA_ATT_NO_SESSION);

  EXPECT(begin(image, 3, 0) == 0);
  EXPECT(send_to(image, SIZE / 2));
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
  connect();
  EXPECT(begin(image, 3, 0) == 0);
  EXPECT(get32(seen.answer + 2) >= SIZE / 2);
  seen.statuses = 0;
  EXPECT(send_to(image, SIZE));
  port_run();
  EXPECT(seen.statuses > 0 && get32(seen.status + 12) == SIZE);
  return verify_and_activate(image);
}

/// The application is started again before the bootloader has seen the request.
static int keep_requested_image(void) {
  port_run();
  EXPECT(!port_slot_is_erased());
  return 0;
}

static int confirm(void) {
  port_run();
  EXPECT(!port_slot_is_erased());
  connect();
  EXPECT(runs(image, SIZE, 3, OTA_BOOT_ACTIVATED, true));
  EXPECT(ask(OTA_OP_CONFIRM) == 0);
  EXPECT(runs(image, SIZE, 3, OTA_BOOT_ACTIVATED, false));
  port_disconnect();
  port_run();
  EXPECT(port_slot_is_erased() == erases_ahead());
  return 0;
}

static int update_by_patch(void) {
  port_run();
  connect();
  EXPECT(runs(image, SIZE, 3, OTA_BOOT_NORMAL, false));
  uint32_t crc32 = ota_crc32(0, image, SIZE);
  EXPECT(ask(OTA_OP_PATCH_INFO) == 0);
  EXPECT(get32(seen.answer + 11) == SIZE && get32(seen.answer + 15) == crc32);
  EXPECT(seen.answer[19] == 66);
  EXPECT(announce(SIZE, ~crc32) == OTA_RESULT_OTHER_BASE);
  EXPECT(announce(SIZE, crc32) == 0);
  EXPECT(begin(next_image, 4, OTA_BEGIN_PATCH) == 0);
  EXPECT(send_to(stream, stream_size / 2));
  port_run();
  port_disconnect();
  port_run();

  connect();
  EXPECT(ask(OTA_OP_PATCH_POINT) == 0 && get32(seen.answer + 10) >= stream_size / 2);
  EXPECT(announce(SIZE, crc32) == 0);
  EXPECT(begin(next_image, 4, OTA_BEGIN_PATCH) == 0);
  EXPECT(get32(seen.answer + 2) >= stream_size / 2);
  EXPECT(send_to(stream, stream_size));
  port_run();
  return verify_and_activate(next_image);
}

/// The image that the patch has created is on trial, and is not confirmed.
static int try_patched_image(void) {
  port_run();
  EXPECT(!port_slot_is_erased());
  connect();
  EXPECT(runs(next_image, SIZE, 4, OTA_BOOT_ACTIVATED, true));
  return 0;
}

static int report_reversal(void) {
  port_run();
  connect();
  uint8_t outcome = port_reports_reversals ? OTA_BOOT_REVERTED : OTA_BOOT_NORMAL;
  EXPECT(runs(image, SIZE, 3, outcome, false));
  EXPECT(port_slot_is_erased() == erases_ahead());
  return 0;
}

static int report_nothing(void) {
  port_run();
  connect();
  EXPECT(runs(image, SIZE, 3, OTA_BOOT_NORMAL, false));
  return 0;
}

static uint32_t begin_patch(void) {
  uint32_t error = announce(SIZE, ota_crc32(0, image, SIZE));
  return error ? error : begin(next_image, 4, OTA_BEGIN_PATCH);
}

/// The device loses its power in the middle of a patch.
static int start_patch(void) {
  port_run();
  connect();
  EXPECT(begin_patch() == 0);
  EXPECT(send_to(stream, stream_size * 3 / 4));
  port_run();
  return 0;
}

static int finish_patch(void) {
  port_run();
  connect();
  EXPECT(begin_patch() == 0);
  EXPECT(get32(seen.answer + 2) > stream_size / 4);
  EXPECT(send_to(stream, stream_size));
  port_run();
  return verify_and_activate(next_image);
}

/// The service that starts an update last owns the slot.
static int update_by_both_services(void) {
  port_run();
  connect();
  EXPECT(begin_patch() == 0);
  EXPECT(send_to(stream, stream_size * 3 / 4));
  port_run();
  EXPECT(ask(OTA_OP_PATCH_POINT) == 0 && get32(seen.answer + 10) > 0);
  // The receiver may have started a flash operation when SMP starts.
  for (int steps = 0; steps < 6; steps++) {
    EXPECT(begin(image, 3, OTA_BEGIN_RESTART) == 0);
    EXPECT(send_to(image, 6000));
    for (int i = 0; i < steps; i++) port_step();
    EXPECT(port_smp_server->upload(next_image, SIZE, 0, SIZE) == SIZE);
  }
  EXPECT(begin_patch() == 0);
  EXPECT(send_to(stream, stream_size - 1));
  uint32_t offset = port_smp_server->upload(next_image, SIZE, 0, SIZE / 2);
  EXPECT(offset >= SIZE / 2 && offset < SIZE);
  EXPECT(status_at(0) % 256 == OTA_STATE_IDLE);
  EXPECT(ask(OTA_OP_PATCH_POINT) == 0 && get32(seen.answer + 10) == 0);

  EXPECT(begin_patch() == 0);
  EXPECT(get32(seen.answer + 2) == 0);
  EXPECT(send_to(stream, stream_size));
  EXPECT(port_smp_server->upload(next_image, SIZE, offset, SIZE) == 0);
  port_run();
  return verify_and_activate(next_image);
}

/// The OTA service does not overwrite an image that SMP has marked.
static int mark_by_smp(void) {
  port_run();
  connect();
  EXPECT(port_smp_server->upload(next_image, SIZE, 0, SIZE) == SIZE);
  EXPECT(port_smp_server->mark());
  EXPECT(begin_patch() == OTA_RESULT_REFUSED_BY_APPLICATION);
  EXPECT(begin(next_image, 4, 0) == OTA_RESULT_REFUSED_BY_APPLICATION);
  return 0;
}

static int refuse_smp_on_trial(void) {
  EXPECT(try_patched_image() == 0);
  EXPECT(port_smp_server->upload(next_image, SIZE, 0, SIZE) == UINT32_MAX);
  return 0;
}

/// An image that the bootloader rejects.
static int update_by_other_file(void) {
  static uint8_t other[SIZE];
  port_run();
  connect();
  EXPECT(begin(other, 5, 0) == 0);
  EXPECT(send_to(other, SIZE));
  port_run();
  return verify_and_activate(other);
}

/// Starts the device in a process, whose end is a reset. Returns the number of failures.
static int in_device(bool (*boot)(void), int (*scenario)(void), const char *name) {
  fflush(stdout);
  pid_t process = fork();
  if (process == 0) {
    int failed = !boot() || scenario() != 0;
    if (seen.violations > 0) printf("FAILED: %u violations of the stub\n", seen.violations);
    fflush(stdout);
    _exit(failed || seen.violations > 0);
  }
  int status = -1;
  bool passed = waitpid(process, &status, 0) == process && status == 0;
  if (!passed) printf("FAILED: %s\n", name);
  return !passed;
}

#define IN_DEVICE(boot, scenario) (scenarios++, failed += in_device(boot, scenario, #scenario))

int main(void) {
  port_flash = mmap(
      NULL, port_flash_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (port_flash == MAP_FAILED) return 1;
  int scenarios = 0, failed = 0;
  make_image(old_image, OLD_SIZE, 2);
  make_image(image, SIZE, 3);
  make_image(next_image, SIZE, 4);
  stream_size = make_stream(stream, image, next_image, SIZE, PART);
  port_install(old_image, OLD_SIZE);
  IN_DEVICE(port_boot, connect_often);
  IN_DEVICE(port_boot, run_out_of_buffers);
  IN_DEVICE(port_boot, update_by_image);
  IN_DEVICE(port_start, keep_requested_image);
  IN_DEVICE(port_boot, confirm);
  IN_DEVICE(port_boot, update_by_patch);
  IN_DEVICE(port_boot, try_patched_image);
  IN_DEVICE(port_boot, report_reversal);
  IN_DEVICE(port_boot, report_nothing);
  IN_DEVICE(port_boot, update_by_other_file);
  IN_DEVICE(port_boot, report_reversal);
  IN_DEVICE(port_boot, report_nothing);
  IN_DEVICE(port_boot, start_patch);
  IN_DEVICE(port_boot, finish_patch);
  IN_DEVICE(port_boot, try_patched_image);
  IN_DEVICE(port_boot, report_reversal);
  if (port_smp_server) {
    IN_DEVICE(port_boot, update_by_both_services);
    IN_DEVICE(port_boot, try_patched_image);
    IN_DEVICE(port_boot, report_reversal);
    IN_DEVICE(port_boot, mark_by_smp);
    IN_DEVICE(port_boot, refuse_smp_on_trial);
    IN_DEVICE(port_boot, report_reversal);
  }
  printf(
      "a port: %d scenarios, %d failed; an image of %d bytes by a patch of %u bytes\n", scenarios,
      failed, SIZE, stream_size);
  return failed != 0;
}
