/// Internal declarations that the files of the receiver share; not for integrators.
#ifndef OTA_INTERNAL_H
#define OTA_INTERNAL_H

#include <string.h>

#include "ota_receiver.h"

/// The purpose of the current flash operation.
enum {
  OTA_WORK_NONE,
  OTA_WORK_ERASE,
  OTA_WORK_ROW,
  OTA_WORK_RESTORE,  // a row of a page that was compared before the page was erased
  OTA_WORK_RECORD,
  OTA_WORK_BLANK
};

/// The next write to the resume record. WHOLE = the record is complete, and the next write is a
/// mark; otherwise the next step of a new record.
enum { OTA_RECORD_WHOLE, OTA_RECORD_ERASE, OTA_RECORD_COPY, OTA_RECORD_HEADER };

/// The phases of a control operation.
enum {
  OTA_PHASE_REST,
  OTA_PHASE_REQUESTED,   // written to Control, not yet checked
  OTA_PHASE_DRAINING,    // VERIFY waits until the complete image is in flash
  OTA_PHASE_READING,     // VERIFY, REWIND or PATCH reads flash, one page per poll
  OTA_PHASE_RECORDING,   // the resume record is being written; the answer follows
  OTA_PHASE_ANSWERING,   // the answer is ready for the stack
  OTA_PHASE_CONFIRMING,  // the indication is sent, not yet confirmed
  OTA_PHASE_RESETTING    // ACTIVATE is answered; the reset is due
};

/// Returned instead of a result: the operation continues, and its answer follows later.
enum { OTA_RESULT_LATER = 0xFF };

static inline uint32_t ota_get(const uint8_t *from, uint8_t size) {
  uint32_t value = 0;
  while (size > 0) value = value << 8 | from[--size];
  return value;
}

/// Like `ota_get` with four bytes, but without a loop, so that a compiler can use one instruction.
static inline uint32_t ota_get_word(const uint8_t *from) {
  return (uint32_t)from[3] << 24 | (uint32_t)from[2] << 16 | (uint32_t)from[1] << 8 | from[0];
}

static inline void ota_put(uint8_t *to, uint32_t value, uint8_t size) {
  for (; size > 0; size--, value >>= 8) *to++ = (uint8_t)value;
}

static inline uint32_t ota_least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static inline uint32_t ota_round_down(uint32_t value, uint32_t unit) {
  return value - value % unit;
}

static inline uint32_t ota_round_up(uint32_t value, uint32_t unit) {
  return ota_round_down(value + unit - 1, unit);
}

// The files are listed from the lowest layer up: each file calls only files above it in this list.

// ota_flash.c: the one flash operation at a time.
/// Starts an operation; `ota_engine_finish` handles its end.
void ota_flash_write(
    ota_receiver *r, uint8_t work, uint32_t address, const uint8_t *from, uint32_t size);
void ota_flash_erase(ota_receiver *r, uint8_t work, uint32_t page_address);
/// Whether flash contains exactly these bytes; with NULL, whether flash is erased.
bool ota_flash_equals(const ota_receiver *r, uint32_t address, const uint8_t *want, uint32_t size);

// ota_record.c: the resume record.
/// Reads the newest complete record and restores the session that this record holds.
void ota_record_load(ota_receiver *r);
/// Schedules a new record with the session's image and the first `marks` marks.
void ota_record_rewrite(ota_receiver *r, uint32_t marks);
/// Discards the session and its resume record, if one is written.
void ota_record_forget(ota_receiver *r);
/// Whether a step of a new record, or the next mark, is due.
bool ota_record_due(const ota_receiver *r);
void ota_record_start(ota_receiver *r);
/// False: the record could not be written after all retries.
bool ota_record_finish(ota_receiver *r, bool ok);
/// Reads the CRC32 in the last of the first `marks` marks, or 0 if `marks` is 0. False: the mark is
/// invalid.
bool ota_mark_read(const ota_receiver *r, uint32_t marks, uint32_t *crc);
/// The number of image bytes that survive a reset: the end of the last mark.
uint32_t ota_record_durable(const ota_receiver *r);
/// Whether a metadata page can hold a record.
bool ota_record_fits(const ota_receiver_config *config);
#if OTA_ERASE_AHEAD
/// Whether the record does not yet state that the complete slot is erased.
bool ota_record_wants_blank(const ota_receiver *r);
#endif

// ota_state.c: the state, the due status, and the answer to the current operation.
static inline bool ota_is_authorized(const ota_receiver *r) {
  return r->config->check_proof == NULL || r->link.authorized;
}
void ota_enter(ota_receiver *r, uint8_t state);
void ota_status_owe(ota_receiver *r, uint8_t error);
/// The session that receives the data.
static inline const ota_session *ota_current(const ota_receiver *r) {
  return r->sinking ? &r->sink : &r->session;
}
void ota_answer_append(ota_receiver *r, uint32_t value, uint8_t size);
void ota_answer(ota_receiver *r, uint8_t result);
/// Whether the current operation has started and is not yet answered.
static inline bool ota_is_later(const ota_receiver *r) {
  return r->operation.phase >= OTA_PHASE_DRAINING && r->operation.phase <= OTA_PHASE_RECORDING;
}
/// Ends the current operation with `result` if it is not yet answered.
void ota_answer_instead(ota_receiver *r, uint8_t result);
/// Reports that the session went back and needs bytes again. A running VERIFY ends.
void ota_session_went_back(ota_receiver *r);
/// Ends the session, unless it is a sink, and reports `error`. A running operation on the session
/// is answered with `result`.
void ota_session_end(ota_receiver *r, uint8_t error, uint8_t result);

// ota_patch.c: from the patch stream to the row, and the operations of patch sessions.
#if OTA_PATCHES
/// Whether the held session is a patch session.
static inline bool ota_is_patch(const ota_receiver *r) { return r->patch.held.size != 0; }
/// Whether data belongs to the stream of a patch session.
static inline bool ota_takes_stream(const ota_receiver *r) {
  return !r->sinking && ota_is_patch(r);
}
/// Whether BEGIN announces the same stream as that of the held session, or neither is a patch
/// session. `patch`: whether BEGIN has the patch flag.
bool ota_patch_is_same(const ota_receiver *r, bool patch);
/// Performs BEGIN for the state of patch sessions: starts the announced stream from its first byte
/// (`over`), or resumes from the record. Without `patch`, ends a patch session.
void ota_patch_begin(ota_receiver *r, bool patch, bool over);
/// Returns to the last boundary that survives a reset; the host must send the current part again.
void ota_patch_go_back(ota_receiver *r);
/// Decodes as much as one poll may. True: more work is due immediately.
bool ota_patch_run(ota_receiver *r);
uint8_t ota_patch_info(ota_receiver *r);
uint8_t ota_patch_announce(ota_receiver *r);
uint8_t ota_patch_conclude(ota_receiver *r, bool read, uint32_t found);
uint8_t ota_patch_point_told(ota_receiver *r);
#else
static inline bool ota_is_patch(const ota_receiver *r) {
  (void)r;
  return false;
}
#endif

/// The number of bytes at the start of the ring that hold no received data.
static inline uint32_t ota_ring_reserve(const ota_receiver *r) {
#if OTA_PATCHES
  if (ota_takes_stream(r)) return r->config->row_size;
#else
  (void)r;
#endif
  return 0;
}
/// The number of bytes that the current session receives through Data.
static inline uint32_t ota_data_size(const ota_receiver *r) {
#if OTA_PATCHES
  if (ota_takes_stream(r)) return r->patch.held.size;
#endif
  return ota_current(r)->image.size;
}
/// The number of received bytes that are still in the ring.
static inline uint32_t ota_data_buffered(const ota_receiver *r) {
  const ota_session *s = ota_current(r);
#if OTA_PATCHES
  if (ota_takes_stream(r)) return s->next - r->patch.used;
#endif
  return s->next - s->written;
}

// ota_engine.c: from the ring to the slot.
/// Whether no flash operation is in progress, the resume record is complete, and no saved row must
/// be programmed again. Control operations may then change slot and record.
bool ota_engine_at_rest(const ota_receiver *r);
/// Handles the end of a flash operation. True: an operation has ended.
bool ota_engine_finish(ota_receiver *r);
/// Starts the next flash operation that is due, if any. True: more work is due immediately.
bool ota_engine_start(ota_receiver *r);
/// Ends the session, because flash failed in all retries or a read failed. Without a session,
/// ends only the erasing of the slot in advance.
void ota_engine_fault(ota_receiver *r);

// ota_update.c: the operations on the session. Each returns its result, or OTA_RESULT_LATER.
uint8_t ota_confirm(ota_receiver *r);
uint8_t ota_begin(ota_receiver *r);
uint8_t ota_rewind(ota_receiver *r);
uint8_t ota_verify(ota_receiver *r);
uint8_t ota_activate(ota_receiver *r);
uint8_t ota_abort(ota_receiver *r);
/// Continues an operation that returned OTA_RESULT_LATER.
uint8_t ota_update_continue(ota_receiver *r);

// ota_control.c: requests and answers.
/// Continues the current operation.
void ota_control_run(ota_receiver *r);
/// Handles the end of the connection that requested the current operation.
void ota_control_disconnected(ota_receiver *r);
/// Whether the answer to ACTIVATE is sent or due, and the reset waits for its confirmation.
bool ota_reset_is_promised(const ota_receiver *r);

#endif
