/// The device side of the otaflash OTA service (docs/ota-service.md), protocol version 1.
///
/// Portable C99: no heap, no operating system, no library beyond <string.h>. The integrator owns
/// the Bluetooth stack and the flash driver and connects them to one `ota_receiver`:
///
/// - Report each event of the stack with one of the functions `ota_receiver_...` below. These
///   functions only record the event: they neither access flash nor send data, and the slowest
///   function copies one chunk.
/// - `ota_receiver_poll` does the work and makes every callback (`ota_receiver_init` also calls
///   `flash_read`). Call it after each of the other functions, and again after the number of
///   milliseconds that it returned.
/// - Call all functions from one context (task, loop or priority). A callback must not call the
///   receiver.
#ifndef OTA_RECEIVER_H
#define OTA_RECEIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether patch sessions are compiled in (docs/ota-service.md, 13). With all formats, they need
/// 5.8 kB of code, of which the decoder is 3.2 kB, and 7.2 kB of RAM; OTA_DELTA_LEVEL selects
/// fewer formats. 0 = no; the build may then omit ota_patch.c and the files ota_delta*.c.
#ifndef OTA_PATCHES
#define OTA_PATCHES 1
#endif

/// Whether pages can be erased ahead (docs/ota-service.md, 14). 0 = no; `erase_ahead` then has no
/// effect.
#ifndef OTA_ERASE_AHEAD
#define OTA_ERASE_AHEAD 1
#endif

#if OTA_PATCHES
#include "ota_delta.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
  OTA_PROTOCOL_VERSION = 1,
  OTA_STATUS_SIZE = 16,
  OTA_CHALLENGE_SIZE = 16,
  OTA_PROOF_SIZE = 16,
  /// The longest control request and answer, in bytes: both fit ATT_MTU 23.
  OTA_REQUEST_MAXIMUM = 18,
  OTA_ANSWER_MAXIMUM = 20,
  OTA_WRITE_ALIGNMENT_MAXIMUM = 16,
  /// A data write of 4 + 508 bytes is the longest attribute value (Core 5.4, Vol 3, Part F, 3.2.9).
  OTA_CHUNK_MAXIMUM = 508,
  OTA_WRONG_PROOF_MAXIMUM = 5,
  /// The number of retries of a page of the slot, or of a resume record, before the session ends
  /// with a flash fault.
  OTA_FLASH_RETRY_MAXIMUM = 3,
  /// The time in milliseconds that ACTIVATE waits for the confirmation of its answer.
  OTA_ACTIVATE_WAIT_MS = 1000,
  /// The time in milliseconds until a notification or indication that the stack did not accept is
  /// sent again.
  OTA_SEND_RETRY_MS = 5,
  /// The maximum number of bytes of one read of flash, except a read into `page_buffer`.
  OTA_READ_STEP = 64,
  /// The unit of `decode_rate`, in image bytes per second.
  OTA_DECODE_UNIT = 4096,
};

/// Returned by `ota_receiver_poll` if nothing is due before the next event.
#define OTA_POLL_IDLE UINT32_MAX

/// ATT error codes (Core 5.4, Vol 3, Part F, 3.4.1.1; 0x80... are application errors).
enum {
  OTA_ATT_OK = 0x00,
  OTA_ATT_INVALID_LENGTH = 0x0D,
  OTA_ATT_BUSY = 0x80,
  OTA_ATT_GAP = 0x81,
  OTA_ATT_NO_SESSION = 0x82,
  OTA_ATT_NOT_AUTHORIZED = 0x83,
  OTA_ATT_CCCD_IMPROPER = 0xFD
};

/// Status, offset 0 (docs/ota-service.md, 2).
enum {
  OTA_STATE_IDLE = 0,
  OTA_STATE_RECEIVING = 1,
  OTA_STATE_VERIFYING = 2,
  OTA_STATE_VERIFIED = 3,
  OTA_STATE_ACTIVATING = 4
};

/// Status, offset 1 (2.1).
enum {
  OTA_ERROR_NONE = 0,
  OTA_ERROR_GAP = 1,
  OTA_ERROR_OVERRUN = 2,
  OTA_ERROR_FLASH_FAULT = 3,
  OTA_ERROR_NO_SESSION = 4,
  OTA_ERROR_NOT_AUTHORIZED = 5,
  OTA_ERROR_PATCH_REFUSED = 6
};

/// Requests written to Control (4).
enum {
  OTA_OP_INFO = 0x01,
  OTA_OP_RUNNING = 0x02,
  OTA_OP_RESUME_POINT = 0x03,
  OTA_OP_CHALLENGE = 0x04,
  OTA_OP_AUTHORIZE = 0x05,
  OTA_OP_BEGIN = 0x06,
  OTA_OP_REWIND = 0x07,
  OTA_OP_VERIFY = 0x08,
  OTA_OP_ACTIVATE = 0x09,
  OTA_OP_CONFIRM = 0x0A,
  OTA_OP_ABORT = 0x0B,
  OTA_OP_PATCH_INFO = 0x0D,
  OTA_OP_PATCH = 0x0E,
  OTA_OP_PATCH_POINT = 0x0F
};

/// The second byte of an answer (4.1).
enum {
  OTA_RESULT_DONE = 0x00,
  OTA_RESULT_UNKNOWN_OPCODE = 0x01,
  OTA_RESULT_MALFORMED_REQUEST = 0x02,
  OTA_RESULT_WRONG_STATE = 0x03,
  OTA_RESULT_NOT_AUTHORIZED = 0x04,
  OTA_RESULT_WRONG_HARDWARE = 0x05,
  OTA_RESULT_DOES_NOT_FIT = 0x06,
  OTA_RESULT_DOWNGRADE = 0x07,
  OTA_RESULT_CRC_MISMATCH = 0x08,
  OTA_RESULT_FLASH_FAULT = 0x09,
  OTA_RESULT_VERSION_NOT_SUPPORTED = 0x0A,
  OTA_RESULT_WRONG_PROOF = 0x0B,
  OTA_RESULT_LOCKED = 0x0C,
  OTA_RESULT_REFUSED_BY_APPLICATION = 0x0D,
  OTA_RESULT_NOTHING_TO_CONFIRM = 0x0E,
  OTA_RESULT_OTHER_BASE = 0x0F
};

/// Flags of BEGIN and ABORT (4.2).
enum {
  OTA_BEGIN_RESTART = 0x01,
  OTA_BEGIN_ALLOW_DOWNGRADE = 0x02,
  OTA_BEGIN_ALLOW_OTHER_HARDWARE = 0x04,
  OTA_BEGIN_SINK = 0x08,
  OTA_BEGIN_PATCH = 0x10,
  OTA_ABORT_DISCARD = 0x01
};

/// The boot outcome in the answer to RUNNING (4.2).
enum { OTA_BOOT_NORMAL = 0, OTA_BOOT_ACTIVATED = 1, OTA_BOOT_REVERTED = 2 };

typedef enum {
  /// The operation succeeded; do not call `ota_receiver_flash_done` for it.
  OTA_FLASH_DONE,
  /// The operation is in progress; call `ota_receiver_flash_done` exactly once when it has ended.
  /// The bytes to be written stay valid and unchanged until then.
  OTA_FLASH_PENDING,
  /// The operation failed.
  OTA_FLASH_FAILED
} ota_flash_result;

/// An image as BEGIN and the resume record specify it.
typedef struct {
  /// The size in bytes; 0 = no image.
  uint32_t size;
  uint32_t crc32;
  /// The version as `ota_version` returns it; these values have the order of the versions.
  uint32_t version;
  uint32_t hardware_id;
} ota_image;

/// Returns `major.minor.patch` as one number; the numbers have the order of the versions.
static inline uint32_t ota_version(uint8_t major, uint8_t minor, uint16_t patch) {
  return (uint32_t)major << 24 | (uint32_t)minor << 16 | patch;
}

/// The callbacks and values of the integrator. The structure must stay in place and unchanged while
/// the receiver is in use.
typedef struct {
  /// The first argument of every callback.
  void *context;

  /// Reads `size` bytes before it returns. False: the read failed (for example with an ECC fault).
  bool (*flash_read)(void *context, uint32_t address, uint8_t *to, uint32_t size);
  /// Programs erased flash. `address` and `size` are multiples of `write_alignment`, and the bytes
  /// are within one row or one metadata page.
  ota_flash_result (*flash_write)(
      void *context, uint32_t address, const uint8_t *from, uint32_t size);
  /// Erases one page to 0xFF.
  ota_flash_result (*flash_erase)(void *context, uint32_t page_address);

  /// Passes an indication of Control to the stack. False: no buffer is free, and the receiver
  /// retries.
  bool (*indicate_control)(void *context, const uint8_t *bytes, uint32_t size);
  /// Passes a notification of Status (16 bytes) to the stack. False: no buffer is free, and the
  /// receiver retries.
  bool (*notify_status)(void *context, const uint8_t *bytes);

  /// Fills in 16 unpredictable random bytes. Not used if `check_proof` is null.
  void (*random)(void *context, uint8_t *to);
  /// Whether `proof` (16 bytes) is correct for `challenge` (16 bytes). The comparison should take
  /// constant time. Null: the device requires no authorization.
  bool (*check_proof)(void *context, const uint8_t *challenge, const uint8_t *proof);

  /// Marks the slot for the bootloader and resets the device. Do not use the receiver afterwards.
  void (*activate)(void *context, uint32_t size, uint32_t crc32);
  /// Makes the image on trial permanent. False: the operation failed. Null: images never run on
  /// trial.
  bool (*confirm)(void *context);
  /// Whether the application permits an update that passed all other checks. Null: always.
  bool (*may_begin)(void *context, uint32_t size, uint32_t version, uint32_t hardware_id);

  /// The running image. Its `hardware_id` is the id of the hardware.
  ota_image running;
  /// OTA_BOOT_...: the outcome of the last activation. The value applies from the boot in which the
  /// bootloader carried out, rejected or reverted the activation until the next reset; afterwards
  /// it is OTA_BOOT_NORMAL.
  uint8_t boot_outcome;
  /// Whether the next reset reverts the running image unless it is confirmed.
  bool trial;

  /// The receive buffer. Its size is a multiple of `row_size`, and at least `row_size` +
  /// `largest_chunk`. Rows are programmed directly from it: use the alignment that the flash driver
  /// requires.
  uint8_t *ring;
  uint32_t ring_size;
  /// The maximum number of image bytes in one data write, 1...508.
  uint16_t largest_chunk;

  /// The slot that receives images. It starts at a page boundary; `slot_size` is a multiple of
  /// `page_size`.
  uint32_t slot_address;
  uint32_t slot_size;
  /// The number of bytes erased at a time.
  uint32_t page_size;
  /// The number of bytes programmed at a time: a divisor of `page_size` and a multiple of
  /// `write_alignment`.
  uint32_t row_size;
  /// The flash programming unit in bytes: 1, 2, 4, 8 or 16.
  uint8_t write_alignment;
  /// Two different pages of `page_size` bytes for the resume record, at page boundaries, outside
  /// the slot.
  uint32_t metadata_address[2];

  /// Whether pages of the slot are erased before their data arrives, while the session waits for
  /// data.
  bool erase_ahead;
  /// Used with `erase_ahead`: whether the slot may be erased now, while no session is held and no
  /// image is on trial. Return false as long as the bootloader may start or restore the image in
  /// the slot. The receiver calls this function before each page. Null: never.
  bool (*may_erase)(void *context);

  /// Memory of `page_size` bytes, with the alignment of `ring`. If it is set, the receiver compares
  /// each page with the data, and neither erases nor writes a page that already holds its data, as
  /// after a swap with the previous image. It compares no page of a session that a reset or a flash
  /// fault has interrupted. Not permitted with `erase_ahead`. Null: each page is erased and written.
  uint8_t *page_buffer;

#if OTA_PATCHES
  /// Whether patch sessions are offered. Their records need pages of at least 48 bytes plus two
  /// marks of 20 bytes, each rounded up to `write_alignment`.
  bool patches;
  /// Reads `size` bytes (1...OTA_READ_STEP) at `offset` of the image in `running`. False: the read
  /// failed. Null: the running image is not readable; only compressed images are accepted.
  bool (*base_read)(void *context, uint32_t offset, uint8_t *to, uint32_t size);
  /// The rate at which this processor decodes patches, in units of OTA_DECODE_UNIT image bytes per
  /// second, without the time of the flash. The host uses it to predict times. 0 = unknown.
  uint8_t decode_rate;
#endif
} ota_receiver_config;

/// The resume record: one header and the marks after it, in one of two metadata pages.
typedef struct {
  /// The image in the record, or in the record that is being written; size 0 = no image.
  ota_image image;
  /// The number of records written so far; 0 = no record.
  uint32_t sequence;
  /// The number of image bytes from one mark to the next; a multiple of the row size.
  uint32_t stride;
  uint32_t marks;
  /// The metadata page that holds the record, 0 or 1.
  uint8_t page;
  /// The next step of writing a new record, and the number of failed attempts.
  uint8_t step;
  uint8_t faults;
  /// The number of marks, out of `marks`, that are already copied to the new record.
  uint32_t copied;
} ota_record;

/// The session that writes the slot. It outlives connections and resets.
typedef struct {
  /// The image; size 0 = no session is held.
  ota_image image;
  /// The number of bytes received in order, of the image or of the patch stream, and their CRC32.
  uint32_t next;
  uint32_t next_crc;
  /// The number of image bytes that were read back from the slot (programmed, or already there with
  /// `page_buffer`), and their CRC32.
  uint32_t written;
  uint32_t written_crc;
  /// The CRC32 of the bytes before the page that contains `written`.
  uint32_t page_crc;
  /// The offset up to which pages are erased, or hold their data (with `page_buffer`).
  uint32_t erased;
  /// The number of bytes at the start of the page before `erased` that were compared before the
  /// page was erased, and are therefore stored in `page_buffer`; and the number of these bytes that
  /// are programmed again.
  uint32_t saved;
  uint32_t restored;
  /// Whether a reset or a flash fault has interrupted this session, or an earlier session since the
  /// boot. A page may then hold its data without having been programmed completely, so no page is
  /// compared.
  bool interrupted;
  uint8_t page_faults;
#if OTA_PATCHES
  /// The end of the furthest page that did not hold its data. When pages before this offset are
  /// written again, they do not count as a success.
  uint32_t fault_end;
#endif
  /// False after a reset or a flash fault, until BEGIN starts a session or resumes the session of
  /// the resume record.
  bool live;
} ota_session;

#if OTA_PATCHES
/// A patch stream as PATCH announces it.
typedef struct {
  uint32_t base_size;
  uint32_t base_crc32;
  /// The size in bytes; 0 = no stream.
  uint32_t size;
  uint32_t crc32;
} ota_stream;

/// A boundary between parts, in the form in which a mark of the resume record stores it.
typedef struct {
  uint32_t stream_offset;
  uint32_t stream_crc32;
  uint32_t image_offset;
  uint32_t image_crc32;
} ota_patch_point;

/// The additional state of a patch session; `ota_session` holds the rest. The row that the session
/// creates is stored at the start of the ring.
typedef struct {
  /// The stream that PATCH announced on this connection, and the stream of the held session.
  ota_stream announced;
  ota_stream held;
  /// The last boundary that survives a reset.
  ota_patch_point point;
  /// The number of stream bytes that the decoder has processed, and their CRC32.
  uint32_t used;
  uint32_t used_crc;
  /// The number of bytes created so far of the current row.
  uint32_t filled;
  /// Whether the running image was read after the boot, and whether it matches `running`.
  bool base_is_known;
  bool base_is_right;
  /// Whether the current part was already requested again, because its CRC32 or its format was
  /// wrong.
  bool mismatched;
  ota_delta_config config;
  ota_delta delta;
} ota_patch;
#endif

/// A read of flash in steps.
typedef struct {
  uint32_t offset;
  uint32_t end;
  uint32_t crc;
} ota_reading;

/// The state of one connection.
typedef struct {
  bool authorized;
  /// Whether `challenge` was sent and is not used yet.
  bool challenged;
  uint8_t challenge[OTA_CHALLENGE_SIZE];
  /// Whether the current operation, if any, was requested on this connection.
  bool asked;
  uint16_t control_cccd;
  uint16_t status_cccd;
  /// The statuses that are due, and the errors that were already reported, one bit for each.
  uint8_t status_due;
  uint8_t status_told;
  /// The values of the last notified status. `told_durable`: whether all data was durable.
  uint32_t told_next;
  uint16_t told_window;
  bool told_durable;
} ota_link;

/// The current control operation.
typedef struct {
  uint8_t opcode;
  /// An `OTA_PHASE_...`.
  uint8_t phase;
  uint8_t request[OTA_REQUEST_MAXIMUM];
  uint8_t request_size;
  uint8_t answer[OTA_ANSWER_MAXIMUM];
  uint8_t answer_size;
  /// The time when ACTIVATE stops waiting for the confirmation of its answer, and the image that it
  /// passes to the bootloader.
  uint32_t activate_at_ms;
  ota_image activating;
} ota_operation;

/// The current flash operation.
typedef struct {
  /// Its purpose, an `OTA_WORK_...`.
  uint8_t work;
  /// An `ota_flash_result`.
  uint8_t outcome;
  uint32_t size;
  /// The bytes to write to the resume record, or bytes that were read.
  uint32_t scratch[OTA_READ_STEP / 4];
} ota_flash_work;

/// One receiver. The integrator provides the memory; all fields are private to the receiver.
typedef struct {
  const ota_receiver_config *config;
  ota_session session;
  ota_record record;
  ota_reading reading;
  /// The sink session. It uses no flash, so `session` stays held during it. All bytes that it has
  /// received count as written.
  ota_session sink;
  bool sinking;

  uint8_t state;
  ota_link link;
  bool trial;
  /// The error that ended a session, until the next BEGIN.
  uint8_t ended_by;
  uint8_t wrong_proofs;
#if OTA_PATCHES
  ota_patch patch;
#endif
#if OTA_ERASE_AHEAD
  /// The number of bytes at the start of the slot that are erased in advance for the next session;
  /// 0 while a session is held.
  uint32_t blank;
  /// Whether flash failed since the boot. The slot is then erased only during sessions.
  bool leaves_blank;
#endif

  uint32_t now_ms;
  ota_operation operation;
  ota_flash_work flash;
} ota_receiver;

/// Starts the receiver after a boot: checks the configuration and reads the resume record. False:
/// the configuration violates the rules that its fields state.
bool ota_receiver_init(ota_receiver *receiver, const ota_receiver_config *config);

/// Reports a new connection. Only one connection at a time may use the service.
void ota_receiver_connected(ota_receiver *receiver);

/// Reports the end of the connection; clears its authorization and both CCCDs.
void ota_receiver_disconnected(ota_receiver *receiver);

/// Reports that a CCCD was written, or restored for a bonded peer: 0x0000, 0x0001 or 0x0002.
void ota_receiver_control_cccd(ota_receiver *receiver, uint16_t value);
void ota_receiver_status_cccd(ota_receiver *receiver, uint16_t value);

/// Reports a write to Control. Returns 0 (send a Write Response, then poll) or the ATT error to
/// answer.
uint8_t ota_receiver_control_write(ota_receiver *receiver, const uint8_t *bytes, uint32_t size);

/// Reports a write to Data. `with_response`: whether it was a Write Request; answer it with the
/// returned ATT error, or with a Write Response for 0. Ignore the result for a Write Command.
uint8_t ota_receiver_data_write(
    ota_receiver *receiver, const uint8_t *bytes, uint32_t size, bool with_response);

/// Fills in the 16 bytes of Status for a read.
void ota_receiver_status_read(const ota_receiver *receiver, uint8_t *to);

/// Reports that the peer confirmed the indication of Control.
void ota_receiver_indication_confirmed(ota_receiver *receiver);

/// Reports the end of the flash operation that returned OTA_FLASH_PENDING.
void ota_receiver_flash_done(ota_receiver *receiver, bool ok);

/// Does the work that is due, in bounded steps: reads at most one page, starts flash operations,
/// sends data. `now_ms` is a free-running clock and may wrap. Returns the maximum number of
/// milliseconds until the next call; 0 = as soon as possible, OTA_POLL_IDLE = after the next event.
uint32_t ota_receiver_poll(ota_receiver *receiver, uint32_t now_ms);

/// Returns the CRC32 of IEEE 802.3, like zlib's crc32(). `crc` is the CRC32 of the preceding bytes,
/// or 0 at the start.
uint32_t ota_crc32(uint32_t crc, const uint8_t *bytes, uint32_t size);

#ifdef __cplusplus
}
#endif

#endif
