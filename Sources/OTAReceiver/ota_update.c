/// The operations of Control that change the session or the image: CONFIRM, BEGIN, REWIND, VERIFY,
/// ACTIVATE, ABORT (docs/ota-service.md, 4.2). Operations that wait for flash return
/// OTA_RESULT_LATER and are continued by `ota_update_continue`.
#include "ota_internal.h"

/// Answers BEGIN or REWIND with the offset and CRC32 of the session.
static uint8_t report_progress(ota_receiver *r) {
  const ota_session *s = ota_current(r);
  ota_answer_append(r, s->next, 4);
  ota_answer_append(r, s->next_crc, 4);
  ota_status_owe(r, OTA_ERROR_NONE);
  return OTA_RESULT_DONE;
}

static uint8_t later(ota_receiver *r, uint8_t phase) {
  r->operation.phase = phase;
  return OTA_RESULT_LATER;
}

static uint8_t rewrite(ota_receiver *r, uint32_t marks) {
  r->record.faults = 0;
  ota_record_rewrite(r, marks);
  return later(r, OTA_PHASE_RECORDING);
}

static uint8_t forget(ota_receiver *r) {
  ota_record_forget(r);
  return later(r, OTA_PHASE_RECORDING);
}

static uint8_t check_begin(const ota_receiver *r, const ota_image *image, uint8_t flags) {
  const ota_receiver_config *c = r->config;
  if (image->size == 0 || image->size > c->slot_size) return OTA_RESULT_DOES_NOT_FIT;
  if (image->hardware_id != c->running.hardware_id && !(flags & OTA_BEGIN_ALLOW_OTHER_HARDWARE))
    return OTA_RESULT_WRONG_HARDWARE;
  if (image->version < c->running.version && !(flags & OTA_BEGIN_ALLOW_DOWNGRADE))
    return OTA_RESULT_DOWNGRADE;
  if (c->may_begin != NULL &&
      !c->may_begin(c->context, image->size, image->version, image->hardware_id))
    return OTA_RESULT_REFUSED_BY_APPLICATION;
  return OTA_RESULT_DONE;
}

/// Resets the session. Pages erased ahead stay usable if nothing was programmed since.
static void start_over(ota_receiver *r, ota_session *s) {
  uint32_t erased = 0;
#if OTA_ERASE_AHEAD
  if (s != &r->sink) {
    erased = r->session.written == 0 ? r->session.erased : 0;
    if (r->session.image.size == 0) erased = r->blank;
    r->blank = 0;
  }
#else
  (void)r;
#endif
  bool interrupted = s->interrupted;
  memset(s, 0, sizeof *s);
  s->interrupted = interrupted;
  s->erased = erased;
}

uint8_t ota_confirm(ota_receiver *r) {
  const ota_receiver_config *c = r->config;
  if (!r->trial || c->confirm == NULL) return OTA_RESULT_NOTHING_TO_CONFIRM;
  if (!c->confirm(c->context)) return OTA_RESULT_FLASH_FAULT;
  r->trial = false;
  return OTA_RESULT_DONE;
}

uint8_t ota_begin(ota_receiver *r) {
  const uint8_t *q = r->operation.request;
  uint8_t flags = q[1];
  uint32_t version = ota_version(q[10], q[11], (uint16_t)ota_get(q + 12, 2));
  ota_image image = {ota_get(q + 2, 4), ota_get(q + 6, 4), version, ota_get(q + 14, 4)};
#if OTA_PATCHES
  bool patch = flags & OTA_BEGIN_PATCH;
  if (patch && r->patch.announced.size == 0) return OTA_RESULT_WRONG_STATE;
#endif
  uint8_t refusal = check_begin(r, &image, flags);
  if (refusal != OTA_RESULT_DONE) return refusal;
  // The data overwrites the image that the bootloader would revert to.
  if (r->trial && !(flags & OTA_BEGIN_SINK) && ota_confirm(r) != OTA_RESULT_DONE)
    return OTA_RESULT_FLASH_FAULT;
  r->ended_by = OTA_ERROR_NONE;
  r->link.status_told = 0;
  r->link.told_durable = false;
  r->sinking = flags & OTA_BEGIN_SINK;
  ota_session *s = r->sinking ? &r->sink : &r->session;
  ota_enter(r, OTA_STATE_RECEIVING);
  bool same = memcmp(&image, &s->image, sizeof image) == 0;
#if OTA_PATCHES
  same = same && ota_patch_is_same(r, patch);
#endif
  bool over = r->sinking || (flags & OTA_BEGIN_RESTART) || !same;
  bool live = s->live;
  if (over) start_over(r, s);
  s->image = image;
  s->live = true;
#if OTA_PATCHES
  if (!r->sinking && (over || !live)) ota_patch_begin(r, patch, over);
  r->patch.announced.size = 0;
#endif
  if (r->sinking || (live && !over)) return report_progress(r);
  // A resumed session receives a new record, too, because marks after the resume point may be
  // damaged or become wrong.
  return rewrite(r, over ? 0 : r->record.marks);
}

/// Discards the content of the ring from `page` on; flash is unchanged.
static uint8_t rewind_ring(ota_receiver *r, uint32_t page) {
  ota_session *s = &r->session;
  s->next_crc = s->written_crc;
  for (s->next = s->written; s->next < page;) {
    uint32_t position = s->next % r->config->ring_size;
    uint32_t count = ota_least(page - s->next, r->config->ring_size - position);
    s->next_crc = ota_crc32(s->next_crc, r->config->ring + position, count);
    s->next += count;
  }
  return report_progress(r);
}

uint8_t ota_rewind(ota_receiver *r) {
  uint32_t offset = ota_get(r->operation.request + 1, 4);
  uint32_t page = ota_round_down(offset, r->config->page_size);
  if (offset > ota_current(r)->next) return OTA_RESULT_MALFORMED_REQUEST;
  r->link.status_told = 0;
  if (r->sinking) {
    r->sink.next = r->sink.next_crc = r->sink.written = 0;
    return report_progress(r);
  }
#if OTA_PATCHES
  if (ota_is_patch(r)) {
    bool to_start = offset < r->patch.point.stream_offset;
    if (to_start) memset(&r->patch.point, 0, sizeof r->patch.point);
    ota_patch_go_back(r);
    r->session.page_faults = 0;
    r->link.told_durable = false;
    return to_start ? rewrite(r, 0) : report_progress(r);
  }
#endif
  if (page >= r->session.written) return rewind_ring(r, page);
  // To calculate the CRC32 of the bytes before the page, flash is read from the last mark onwards.
  uint32_t marks = page / r->record.stride;
  bool found = ota_mark_read(r, marks, &r->reading.crc);
  if (!found) r->reading.crc = 0;
  r->reading.offset = found ? marks * r->record.stride : 0;
  r->reading.end = page;
  return later(r, OTA_PHASE_READING);
}

static uint8_t rewind_flash(ota_receiver *r) {
  ota_session *s = &r->session;
  uint32_t page = r->reading.end;
  s->next = s->written = s->erased = page;
  s->next_crc = s->written_crc = s->page_crc = r->reading.crc;
  s->page_faults = 0;
  r->link.told_durable = false;
  return ota_record_durable(r) > page ? rewrite(r, page / r->record.stride) : report_progress(r);
}

static uint8_t conclude_verify(ota_receiver *r, uint32_t found) {
  bool equal = found == ota_current(r)->image.crc32;
  ota_enter(r, equal ? OTA_STATE_VERIFIED : OTA_STATE_IDLE);
  if (!equal && !r->sinking) return forget(r);
  r->sinking = r->sinking && equal;
  ota_answer_append(r, found, 4);
  return equal ? OTA_RESULT_DONE : OTA_RESULT_CRC_MISMATCH;
}

uint8_t ota_verify(ota_receiver *r) {
  const ota_session *s = ota_current(r);
  if (s->next != ota_data_size(r)) return OTA_RESULT_WRONG_STATE;
  if (r->sinking) return conclude_verify(r, s->next_crc);
  ota_enter(r, OTA_STATE_VERIFYING);
  return later(r, OTA_PHASE_DRAINING);
}

uint8_t ota_activate(ota_receiver *r) {
  if (r->sinking) return OTA_RESULT_WRONG_STATE;
  // The slot now belongs to the bootloader, so a session in the slot must not be resumed.
  r->operation.activating = r->session.image;
  ota_enter(r, OTA_STATE_ACTIVATING);
  return forget(r);
}

uint8_t ota_abort(ota_receiver *r) {
  uint8_t flags = r->operation.request[1];
  bool was_sink = r->sinking;
  r->sinking = false;
  ota_enter(r, OTA_STATE_IDLE);
  return (flags & OTA_ABORT_DISCARD) && !was_sink ? forget(r) : OTA_RESULT_DONE;
}

static bool read_bytes(ota_receiver *r, uint32_t offset, uint8_t *to, uint32_t count) {
  const ota_receiver_config *c = r->config;
#if OTA_PATCHES
  if (r->operation.opcode == OTA_OP_PATCH) return c->base_read(c->context, offset, to, count);
#endif
  return c->flash_read(c->context, c->slot_address + offset, to, count);
}

/// Continues the operation after its last byte was read, or after a read failed.
static uint8_t conclude_reading(ota_receiver *r, bool read) {
#if OTA_PATCHES
  if (r->operation.opcode == OTA_OP_PATCH) return ota_patch_conclude(r, read, r->reading.crc);
#endif
  if (!read) {
    ota_engine_fault(r);
    return OTA_RESULT_LATER;
  }
  return r->operation.opcode == OTA_OP_VERIFY ? conclude_verify(r, r->reading.crc)
                                              : rewind_flash(r);
}

/// Reads up to one page; at the end of the range the operation continues.
static uint8_t read_page(ota_receiver *r) {
  uint8_t *bytes = (uint8_t *)r->flash.scratch;
  ota_reading *reading = &r->reading;
  uint32_t page_end =
      reading->offset + ota_least(r->config->page_size, reading->end - reading->offset);
  while (reading->offset < page_end) {
    uint32_t count = ota_least(OTA_READ_STEP, page_end - reading->offset);
    if (!read_bytes(r, reading->offset, bytes, count)) return conclude_reading(r, false);
    reading->crc = ota_crc32(reading->crc, bytes, count);
    reading->offset += count;
  }
  return reading->offset < reading->end ? OTA_RESULT_LATER : conclude_reading(r, true);
}

/// Answers the operation after its resume record was written or discarded.
static uint8_t conclude_recording(ota_receiver *r) {
  ota_operation *o = &r->operation;
  if (o->opcode == OTA_OP_VERIFY) {
    ota_answer_append(r, r->reading.crc, 4);
    return OTA_RESULT_CRC_MISMATCH;
  }
  if (o->opcode == OTA_OP_BEGIN || o->opcode == OTA_OP_REWIND) return report_progress(r);
  if (o->opcode == OTA_OP_ACTIVATE) o->activate_at_ms = r->now_ms + OTA_ACTIVATE_WAIT_MS;
  return OTA_RESULT_DONE;
}

uint8_t ota_update_continue(ota_receiver *r) {
  const ota_session *s = &r->session;
  if (r->operation.phase == OTA_PHASE_READING) return read_page(r);
  if (!ota_engine_at_rest(r)) return OTA_RESULT_LATER;
  if (r->operation.phase == OTA_PHASE_RECORDING) return conclude_recording(r);
  if (ota_record_durable(r) < s->image.size) return OTA_RESULT_LATER;
  r->reading = (ota_reading){0, s->image.size, 0};
  return later(r, OTA_PHASE_READING);
}
