/// The device side of the otaflash OTA service (docs/ota-service.md), protocol version 1.
///
/// Portable C99: no heap, no operating system, no library beyond <string.h>. The integrator owns
/// the Bluetooth stack and the flash driver and connects them to one `ota_receiver`:
///
/// - the stack's events are the functions `ota_receiver_...` below. They only take notes: none of
///   them touches flash, sends anything or takes longer than copying one chunk;
/// - all work is done by `ota_receiver_poll`, and every callback is made from it (or, for
///   `flash_read`, from `ota_receiver_init`). Call it after each of the other functions and again
///   when the time that it returned is over;
/// - all functions are to be called from one context (task, loop or priority); a callback must not
///   call the receiver back.
#ifndef OTA_RECEIVER_H
#define OTA_RECEIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether patch sessions are compiled in (docs/ota-service.md, 13): 4 kB of code, 1.7 of them the decoder,
/// and 1.25 KiB of RAM with its window of 2^10 bytes. 0 = not; ota_patch.c and ota_delta.c may be left out.
#ifndef OTA_PATCHES
#define OTA_PATCHES 1
#endif

/// Whether pages can be erased ahead (docs/ota-service.md, 14). 0 = not, and `erase_ahead` has no effect.
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
  /// How often a page of the slot, or a record of the resume point, is tried anew before the
  /// session ends with a flash fault.
  OTA_FLASH_RETRY_MAXIMUM = 3,
  /// How long ACTIVATE waits for the confirmation of its answer, in milliseconds.
  OTA_ACTIVATE_WAIT_MS = 1000,
  /// After this time a notification or indication that the stack did not take is tried anew.
  OTA_SEND_RETRY_MS = 5,
  /// Bytes read from flash at a time, on the stack.
  OTA_READ_STEP = 64
};

/// What `ota_receiver_poll` returns when nothing is due before the next event.
#define OTA_POLL_IDLE UINT32_MAX

/// ATT error codes (Core 5.4, Vol 3, Part F, 3.4.1.1; 0x80... are the application's).
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

/// Second byte of an answer (4.1).
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

/// What RUNNING tells of the last boot (4.2).
enum { OTA_BOOT_NORMAL = 0, OTA_BOOT_ACTIVATED = 1, OTA_BOOT_REVERTED = 2 };

typedef enum {
  /// The operation has ended well; `ota_receiver_flash_done` must not be called for it.
  OTA_FLASH_DONE,
  /// It goes on; `ota_receiver_flash_done` will be called exactly once. The bytes to be written
  /// stay where they are until then.
  OTA_FLASH_PENDING,
  /// It could not be carried out.
  OTA_FLASH_FAILED
} ota_flash_result;

/// An image as BEGIN and the resume record name it.
typedef struct {
  /// In bytes; 0 = there is no image.
  uint32_t size;
  uint32_t crc32;
  /// As `ota_version` makes it, so that versions compare as numbers.
  uint32_t version;
  uint32_t hardware_id;
} ota_image;

/// `major.minor.patch` as one number that compares as versions do.
static inline uint32_t ota_version(uint8_t major, uint8_t minor, uint16_t patch) {
  return (uint32_t)major << 24 | (uint32_t)minor << 16 | patch;
}

/// What the integrator provides. Must stay in place, unchanged, as long as the receiver is used.
typedef struct {
  /// Handed to every callback as its first argument.
  void *context;

  /// Reads `size` bytes at once. False: cannot be read (such as an ECC fault).
  bool (*flash_read)(void *context, uint32_t address, uint8_t *to, uint32_t size);
  /// Programs erased flash; `address` and `size` are multiples of `write_alignment`, and the
  /// bytes lie within one row or one metadata page.
  ota_flash_result (*flash_write)(
      void *context, uint32_t address, const uint8_t *from, uint32_t size);
  /// Erases one page to 0xFF.
  ota_flash_result (*flash_erase)(void *context, uint32_t page_address);

  /// Hands an indication of Control to the stack. False: not now, the receiver will try again.
  bool (*indicate_control)(void *context, const uint8_t *bytes, uint32_t size);
  /// Hands a notification of Status (16 bytes) to the stack. False: not now.
  bool (*notify_status)(void *context, const uint8_t *bytes);

  /// Fills in 16 bytes that nobody can foresee. Not used when `check_proof` is null.
  void (*random)(void *context, uint8_t *to);
  /// Whether `proof` (16 bytes) is right for `challenge` (16 bytes); compare in constant time.
  /// Null: the device requires no authorization.
  bool (*check_proof)(void *context, const uint8_t *challenge, const uint8_t *proof);

  /// Marks the slot for the bootloader and resets. The receiver is of no use afterwards.
  void (*activate)(void *context, uint32_t size, uint32_t crc32);
  /// Makes the trial image permanent; false: it could not. Null: there is never a trial.
  bool (*confirm)(void *context);
  /// The application's word on an update that is otherwise permitted. Null: always welcome.
  bool (*may_begin)(void *context, uint32_t size, uint32_t version, uint32_t hardware_id);

  /// What runs now. Its `hardware_id` is the board's.
  ota_image running;
  /// OTA_BOOT_...
  uint8_t boot_outcome;
  /// The running image reverts at the next reset unless confirmed.
  bool trial;

  /// Receive buffer; its size is a multiple of `row_size`, at least `row_size` + `largest_chunk`.
  /// Rows are programmed straight from it, so give it the alignment that the flash driver wants.
  uint8_t *ring;
  uint32_t ring_size;
  /// Most bytes of image in one data write, 1...508.
  uint16_t largest_chunk;

  /// Where images are received: `slot_size` bytes from a page boundary, a multiple of `page_size`.
  uint32_t slot_address;
  uint32_t slot_size;
  /// Bytes erased at a time.
  uint32_t page_size;
  /// Bytes programmed at a time: divides `page_size`, a multiple of `write_alignment`.
  uint32_t row_size;
  /// 1, 2, 4, 8 or 16.
  uint8_t write_alignment;
  /// Two different pages of `page_size` for the resume record, from page boundaries, outside the slot.
  uint32_t metadata_address[2];

  /// The next page of the slot is erased while the session waits for data.
  bool erase_ahead;
  /// With `erase_ahead`: whether the slot may be erased now, with no session held and nothing on trial;
  /// no one must want to boot what it holds. Asked before each page. Null: never.
  bool (*may_erase)(void *context);

#if OTA_PATCHES
  /// Whether patch sessions are offered. Their records need pages of at least 48 bytes and two marks,
  /// each of 20 rounded up to `write_alignment`.
  bool patches;
  /// Reads `size` bytes (1...OTA_READ_STEP) at `offset` of the running image, which `running` names.
  /// False: cannot be read. Null: what runs cannot be read; images that are compressed are taken.
  bool (*base_read)(void *context, uint32_t offset, uint8_t *to, uint32_t size);
#endif
} ota_receiver_config;

/// The resume record: one header and the marks behind it, in one of two metadata pages.
typedef struct {
  /// What the record holds, or shall hold while it is being written; size 0 = nothing.
  ota_image image;
  /// Counts the records written; 0 = there is none.
  uint32_t sequence;
  /// Bytes of image from one mark to the next; a multiple of the row size.
  uint32_t stride;
  uint32_t marks;
  /// Which metadata page holds it, 0 or 1.
  uint8_t page;
  /// What is to be done next to write a new record, and how often that failed.
  uint8_t step;
  uint8_t faults;
  /// Marks already copied to the new record; `marks` shall be.
  uint32_t copied;
} ota_record;

/// The session that writes the slot; it outlives connections and resets.
typedef struct {
  /// Size 0 = no session is held.
  ota_image image;
  /// Bytes received in order, of the image or of the stream that makes it, and their CRC32.
  uint32_t next;
  uint32_t next_crc;
  /// Bytes of the image programmed and read back, and their CRC32.
  uint32_t written;
  uint32_t written_crc;
  /// CRC32 of the bytes before the page that `written` lies in.
  uint32_t page_crc;
  /// Pages are erased up to this offset.
  uint32_t erased;
  uint8_t page_faults;
#if OTA_PATCHES
  /// Where the furthest page ends that did not hold its data: what is made again before it is no
  /// success.
  uint32_t fault_end;
#endif
  /// False after a reset, until BEGIN takes the resume record up.
  bool live;
} ota_session;

#if OTA_PATCHES
/// A stream of patches as PATCH announces it.
typedef struct {
  uint32_t base_size;
  uint32_t base_crc32;
  /// In bytes; 0 = there is none.
  uint32_t size;
  uint32_t crc32;
} ota_stream;

/// A boundary between parts, as a mark of the resume record names it.
typedef struct {
  uint32_t stream_offset;
  uint32_t stream_crc32;
  uint32_t image_offset;
  uint32_t image_crc32;
} ota_patch_point;

/// What a patch session has beside the session itself. The row that it makes lies at the ring's start.
typedef struct {
  /// What PATCH announced on this connection, and what the session held is about.
  ota_stream announced;
  ota_stream held;
  /// The last boundary that survives a reset.
  ota_patch_point point;
  /// Bytes of the stream that the decoder is done with, and their CRC32.
  uint32_t used;
  uint32_t used_crc;
  /// Bytes of the row under way.
  uint32_t filled;
  /// What runs has been read since the boot, and is what `running` says.
  bool base_is_known;
  bool base_is_right;
  /// The part under way has made something else than it was made for, once.
  bool mismatched;
  ota_delta_config config;
  ota_delta delta;
} ota_patch;
#endif

/// A reading of flash in steps.
typedef struct {
  uint32_t offset;
  uint32_t end;
  uint32_t crc;
} ota_reading;

/// What is forgotten with the connection.
typedef struct {
  bool authorized;
  /// `challenge` was given out and not yet used.
  bool challenged;
  uint8_t challenge[OTA_CHALLENGE_SIZE];
  /// The operation under way, if any, was asked for on this connection.
  bool asked;
  uint16_t control_cccd;
  uint16_t status_cccd;
  /// Statuses owed and told: one bit for each error.
  uint8_t status_due;
  uint8_t status_told;
  /// What the last status said.
  uint32_t told_next;
  uint16_t told_window;
  bool told_durable;
} ota_link;

/// The control operation under way.
typedef struct {
  uint8_t opcode;
  /// How far it has come.
  uint8_t phase;
  uint8_t request[OTA_REQUEST_MAXIMUM];
  uint8_t request_size;
  uint8_t answer[OTA_ANSWER_MAXIMUM];
  uint8_t answer_size;
  /// What ACTIVATE hands to the bootloader, and when it no longer waits for its confirmation.
  uint32_t activate_at_ms;
  ota_image activating;
} ota_operation;

/// The flash operation under way.
typedef struct {
  /// What it is for.
  uint8_t work;
  /// How it ended: an `ota_flash_result`.
  uint8_t outcome;
  uint32_t size;
  /// What it writes to the resume record; else bytes that were read.
  uint32_t scratch[OTA_READ_STEP / 4];
} ota_flash_work;

/// One receiver. The integrator gives the memory; every field is the receiver's own.
typedef struct {
  const ota_receiver_config *config;
  ota_session session;
  ota_record record;
  ota_reading reading;
  /// A sink session: no flash, so it can stand beside `session`. All it received counts as written.
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
  /// Bytes of the slot that are erased while no session is held.
  uint32_t blank;
  /// Flash failed while no session was held; it is left alone until the next.
  bool leaves_blank;
#endif

  uint32_t now_ms;
  ota_operation operation;
  ota_flash_work flash;
} ota_receiver;

/// Starts the receiver after a boot: checks the configuration and reads the resume record.
/// False: the configuration contradicts the rules written at its fields.
bool ota_receiver_init(ota_receiver *receiver, const ota_receiver_config *config);

/// A connection was made. A second one must not use the service.
void ota_receiver_connected(ota_receiver *receiver);

/// The connection is gone; forgets its authorization and both CCCDs.
void ota_receiver_disconnected(ota_receiver *receiver);

/// A CCCD was written, or restored for a bonded peer: 0x0000, 0x0001 or 0x0002.
void ota_receiver_control_cccd(ota_receiver *receiver, uint16_t value);
void ota_receiver_status_cccd(ota_receiver *receiver, uint16_t value);

/// Control was written. Returns 0 (send a Write Response, then poll) or the ATT error to answer.
uint8_t ota_receiver_control_write(ota_receiver *receiver, const uint8_t *bytes, uint32_t size);

/// Data was written. `with_response`: by a Write Request, which the returned ATT error (or 0)
/// answers; after a Write Command the result is of no further use.
uint8_t ota_receiver_data_write(
    ota_receiver *receiver, const uint8_t *bytes, uint32_t size, bool with_response);

/// Status is read: fills in its 16 bytes.
void ota_receiver_status_read(const ota_receiver *receiver, uint8_t *to);

/// The peer confirmed the indication of Control.
void ota_receiver_indication_confirmed(ota_receiver *receiver);

/// The flash operation that returned OTA_FLASH_PENDING has ended.
void ota_receiver_flash_done(ota_receiver *receiver, bool ok);

/// Does what is due, in bounded steps: reads at most one page, starts flash operations, sends.
/// `now_ms` runs freely and may wrap. Returns the milliseconds after which it wants to be called
/// again at the latest; 0 = as soon as possible, OTA_POLL_IDLE = after the next event.
uint32_t ota_receiver_poll(ota_receiver *receiver, uint32_t now_ms);

/// CRC32 of IEEE 802.3, as zlib's: `crc` is that of the bytes before, 0 at first.
uint32_t ota_crc32(uint32_t crc, const uint8_t *bytes, uint32_t size);

#ifdef __cplusplus
}
#endif

#endif
