/// What the parts of the receiver share; not for integrators.
#ifndef OTA_INTERNAL_H
#define OTA_INTERNAL_H

#include <string.h>

#include "ota_receiver.h"

/// What the one flash operation under way is for.
enum { OTA_WORK_NONE, OTA_WORK_ERASE, OTA_WORK_ROW, OTA_WORK_RECORD, OTA_WORK_BLANK };

/// What is written to the resume record next: while it is whole, marks; else a new one.
enum { OTA_RECORD_WHOLE, OTA_RECORD_ERASE, OTA_RECORD_COPY, OTA_RECORD_HEADER };

/// How far a control operation has come.
enum {
  OTA_PHASE_REST,
  OTA_PHASE_REQUESTED,   // written to Control, not yet looked at
  OTA_PHASE_DRAINING,    // VERIFY waits until all of the image is in flash
  OTA_PHASE_READING,     // VERIFY, REWIND or PATCH reads flash, one page a poll
  OTA_PHASE_RECORDING,   // the resume record is being written; the answer follows
  OTA_PHASE_ANSWERING,   // the answer is ready for the stack
  OTA_PHASE_CONFIRMING,  // the indication is out
  OTA_PHASE_RESETTING    // ACTIVATE is answered; the reset is due
};

/// Instead of a result: the operation goes on, and its answer follows.
enum { OTA_RESULT_LATER = 0xFF };

static inline uint32_t ota_get(const uint8_t *from, uint8_t size) {
  uint32_t value = 0;
  while (size > 0) value = value << 8 | from[--size];
  return value;
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

// The files stand in the order in which they may call each other: each calls those before it alone.

// ota_flash.c: the one flash operation at a time.
/// Starts an operation; its end is looked at by the next `ota_engine_finish`.
void ota_flash_write(
    ota_receiver *r, uint8_t work, uint32_t address, const uint8_t *from, uint32_t size);
void ota_flash_erase(ota_receiver *r, uint8_t work, uint32_t page_address);
/// Whether flash holds exactly these bytes; NULL: whether it is erased.
bool ota_flash_equals(const ota_receiver *r, uint32_t address, const uint8_t *want, uint32_t size);

// ota_record.c: the resume record.
/// Reads the newest whole record, and from it the session that can be gone on with.
void ota_record_load(ota_receiver *r);
/// Has a new record written that names the session's image and keeps the first `marks` marks.
void ota_record_rewrite(ota_receiver *r, uint32_t marks);
/// Forgets the session and, where one is written, its resume point.
void ota_record_forget(ota_receiver *r);
/// Whether a step of a new record, or the next mark, is to be written.
bool ota_record_due(const ota_receiver *r);
void ota_record_start(ota_receiver *r);
/// False: the record could not be written in spite of all retries.
bool ota_record_finish(ota_receiver *r, bool ok);
/// The CRC32 in the last of the first `marks` marks, 0 without any; false if it is not whole.
bool ota_mark_read(const ota_receiver *r, uint32_t marks, uint32_t *crc);
/// Bytes that a reset leaves: the end of the last mark.
uint32_t ota_record_durable(const ota_receiver *r);
/// Whether the metadata pages can hold a record at all.
bool ota_record_fits(const ota_receiver_config *config);
#if OTA_ERASE_AHEAD
/// Whether the record does not say yet that the whole slot is erased.
bool ota_record_wants_blank(const ota_receiver *r);
#endif

// ota_state.c: the state, the status owed to the host, the answer to the operation under way.
static inline bool ota_is_authorized(const ota_receiver *r) {
  return r->config->check_proof == NULL || r->link.authorized;
}
void ota_enter(ota_receiver *r, uint8_t state);
void ota_status_owe(ota_receiver *r, uint8_t error);
/// The session that data goes to.
static inline const ota_session *ota_current(const ota_receiver *r) {
  return r->sinking ? &r->sink : &r->session;
}
void ota_answer_append(ota_receiver *r, uint32_t value, uint8_t size);
void ota_answer(ota_receiver *r, uint8_t result);
/// The operation under way is taken up, and not yet answered.
static inline bool ota_is_later(const ota_receiver *r) {
  return r->operation.phase >= OTA_PHASE_DRAINING && r->operation.phase <= OTA_PHASE_RECORDING;
}
/// Ends the operation under way, if it has not been answered yet, with `result`.
void ota_answer_instead(ota_receiver *r, uint8_t result);
/// The session wants bytes again that it had: tells it, and ends a VERIFY.
void ota_session_went_back(ota_receiver *r);
/// Ends the session under way, if it is no sink, and tells why; `result` answers an operation on it.
void ota_session_end(ota_receiver *r, uint8_t error, uint8_t result);

// ota_patch.c: from the stream to the row, and the operations that only patch sessions know.
#if OTA_PATCHES
/// The session held is a patch session.
static inline bool ota_is_patch(const ota_receiver *r) { return r->patch.held.size != 0; }
/// What data comes for is the stream of a patch session.
static inline bool ota_takes_stream(const ota_receiver *r) {
  return !r->sinking && ota_is_patch(r);
}
/// Whether BEGIN is about the session held, as far as streams go; `patch`: it has the flag.
bool ota_patch_is_same(const ota_receiver *r, bool patch);
/// BEGIN: takes up what was announced, `over` from its beginning, else from what the record says.
void ota_patch_begin(ota_receiver *r, bool patch, bool over);
/// Goes on from the boundary that survives a reset: the part under way is wanted once more.
void ota_patch_go_back(ota_receiver *r);
/// Decodes as much as one poll may. True: there is more to be done at once.
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

/// Bytes at the ring's start that are not for data.
static inline uint32_t ota_ring_reserve(const ota_receiver *r) {
#if OTA_PATCHES
  if (ota_takes_stream(r)) return r->config->row_size;
#else
  (void)r;
#endif
  return 0;
}
/// Bytes that Data brings to the session under way.
static inline uint32_t ota_data_size(const ota_receiver *r) {
#if OTA_PATCHES
  if (ota_takes_stream(r)) return r->patch.held.size;
#endif
  return ota_current(r)->image.size;
}
/// Bytes received that are still in the ring.
static inline uint32_t ota_data_buffered(const ota_receiver *r) {
  const ota_session *s = ota_current(r);
#if OTA_PATCHES
  if (ota_takes_stream(r)) return s->next - r->patch.used;
#endif
  return s->next - s->written;
}

// ota_engine.c: from the ring to the slot.
/// No operation is under way and the resume record is whole: control operations may change both.
bool ota_engine_at_rest(const ota_receiver *r);
/// Looks at the end of an operation; true if there was one.
bool ota_engine_finish(ota_receiver *r);
/// Starts the next operation that is due, if any. True: there is more to be done at once.
bool ota_engine_start(ota_receiver *r);
/// Ends the session: flash did not do its part in spite of all retries.
void ota_engine_fault(ota_receiver *r);

// ota_update.c: the operations on the session. Each returns its result, or OTA_RESULT_LATER.
uint8_t ota_confirm(ota_receiver *r);
uint8_t ota_begin(ota_receiver *r);
uint8_t ota_rewind(ota_receiver *r);
uint8_t ota_verify(ota_receiver *r);
uint8_t ota_activate(ota_receiver *r);
uint8_t ota_abort(ota_receiver *r);
/// Goes on with an operation that was to be answered later.
uint8_t ota_update_continue(ota_receiver *r);

// ota_control.c: requests and answers.
/// Goes on with the operation under way.
void ota_control_run(ota_receiver *r);
/// The connection of the operation under way is gone.
void ota_control_disconnected(ota_receiver *r);
/// ACTIVATE is answered, or about to be, and the reset waits for the confirmation.
bool ota_reset_is_promised(const ota_receiver *r);

#endif
