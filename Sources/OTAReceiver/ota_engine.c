/// Writes the rows of the ring to the slot: erases pages ahead, programs rows, reads them back, and
/// returns to the start of a page that does not hold its data.
#include "ota_internal.h"

bool ota_engine_at_rest(const ota_receiver *r) {
  return r->flash.work == OTA_WORK_NONE && r->record.step == OTA_RECORD_WHOLE &&
         r->session.saved == 0;
}

void ota_engine_fault(ota_receiver *r) {
  r->record.step = OTA_RECORD_WHOLE;
#if OTA_ERASE_AHEAD
  r->leaves_blank = true;
  bool was_blank = r->blank != 0;
#else
  const bool was_blank = false;
#endif
  // Discards the content of the ring: the session returns to the state of the resume record.
  ota_record_load(r);
  r->session.interrupted = true;
  if (!was_blank) ota_session_end(r, OTA_ERROR_FLASH_FAULT, OTA_RESULT_FLASH_FAULT);
}

/// Returns to the start of the page. A row cannot be programmed twice, so the complete page is
/// erased and the host sends its data again (for a patch stream, the current part). Marks inside
/// the page must be removed before the page is erased.
static void fall_back_to_page(ota_receiver *r) {
  ota_session *s = &r->session;
  s->saved = 0;
  if (++s->page_faults > OTA_FLASH_RETRY_MAXIMUM) {
    ota_engine_fault(r);
    return;
  }
#if OTA_PATCHES
  uint32_t end = ota_round_down(s->written, r->config->page_size) + r->config->page_size;
  if (s->fault_end < end) s->fault_end = end;
  if (ota_is_patch(r)) {
    s->erased = r->patch.point.image_offset;
    ota_patch_go_back(r);
    ota_session_went_back(r);
    return;
  }
#endif
  uint32_t page = ota_round_down(s->written, r->config->page_size);
  s->next = s->written = s->erased = page;
  s->next_crc = s->written_crc = s->page_crc;
  if (ota_record_durable(r) > page) ota_record_rewrite(r, page / r->record.stride);
  ota_session_went_back(r);
}

static uint8_t *row_in_ring(const ota_receiver *r) {
  if (ota_is_patch(r)) return r->config->ring;
  return r->config->ring + r->session.written % r->config->ring_size;
}

/// The number of image bytes in the row that starts at `written`.
static uint32_t row_size(const ota_receiver *r) {
  return ota_least(r->config->row_size, r->session.image.size - r->session.written);
}

/// Whether all bytes of the row that starts at `written` are available.
static bool row_is_made(const ota_receiver *r) {
#if OTA_PATCHES
  if (ota_is_patch(r)) return r->patch.filled >= row_size(r);
#endif
  return r->session.next - r->session.written >= row_size(r);
}

/// Counts the row that starts at `written`: the slot holds its bytes.
static void take_row(ota_receiver *r) {
  ota_session *s = &r->session;
  const uint8_t *row = row_in_ring(r);
  uint32_t size = row_size(r);
  s->written_crc = ota_crc32(s->written_crc, row, size);
  s->written += size;
#if OTA_PATCHES
  r->patch.filled = 0;
#endif
  if (s->written % r->config->page_size != 0) return;
  s->page_crc = s->written_crc;
#if OTA_PATCHES
  if (s->written < s->fault_end) return;
#endif
  s->page_faults = 0;
}

static void finish_row(ota_receiver *r, bool ok) {
  uint32_t address = r->config->slot_address + r->session.written;
  if (ok && ota_flash_equals(r, address, row_in_ring(r), r->flash.size))
    take_row(r);
  else
    fall_back_to_page(r);
}

static void finish_erase(ota_receiver *r, bool ok) {
  if (ok) r->session.erased += r->config->page_size;
  if (!ok && ++r->session.page_faults > OTA_FLASH_RETRY_MAXIMUM) ota_engine_fault(r);
}

#if OTA_ERASE_AHEAD
/// Whether the session's image has pages that are not erased yet and may be erased ahead.
static bool may_erase_ahead(const ota_receiver *r) {
  return r->config->erase_ahead && r->session.erased < r->session.image.size;
}

static void finish_blank(ota_receiver *r, bool ok) {
  r->leaves_blank = !ok;
  if (ok) r->blank += r->config->page_size;
}

/// While no session is held, erases the slot for the next session, and then writes a record that
/// states this.
static void start_blank(ota_receiver *r) {
  const ota_receiver_config *c = r->config;
  if (!c->erase_ahead || r->state != OTA_STATE_IDLE || r->session.image.size != 0 || r->trial ||
      r->leaves_blank || c->may_erase == NULL || !ota_record_wants_blank(r) ||
      !c->may_erase(c->context))
    return;
  if (r->blank < c->slot_size)
    ota_flash_erase(r, OTA_WORK_BLANK, c->slot_address + r->blank);
  else
    ota_record_rewrite(r, 0);
}
#endif

/// Fills the row that starts at `written` up to the write alignment. Returns the number of bytes to
/// write.
static uint32_t pad_row(ota_receiver *r) {
  uint32_t size = row_size(r);
  uint32_t padded = ota_round_up(size, r->config->write_alignment);
  // The ring has a full row of space even for the last row of the image, and this space holds no
  // other data.
  memset(row_in_ring(r) + size, 0xFF, padded - size);
  return padded;
}

static void start_row(ota_receiver *r) {
  uint32_t padded = pad_row(r);
  uint8_t *row = row_in_ring(r);
  ota_flash_write(r, OTA_WORK_ROW, r->config->slot_address + r->session.written, row, padded);
}

static void start_erase(ota_receiver *r) {
  ota_flash_erase(r, OTA_WORK_ERASE, r->config->slot_address + r->session.erased);
}

// Pages that already hold their data (`page_buffer`). Until a row differs, `erased` stays at the
// start of the page, and the rows before `written` are in flash from an earlier use of the slot.
// Before the page is erased, these rows are saved, and afterwards they are programmed again. No mark
// is written in the meantime.

static bool compares(const ota_receiver *r) {
  return r->config->page_buffer != NULL && !r->session.interrupted;
}

/// Continues at an undecided page: takes a row that the slot already holds, or erases the page.
/// True: more work is due immediately.
static bool decide_page(ota_receiver *r) {
  ota_session *s = &r->session;
  uint32_t page = r->config->slot_address + s->erased;
  if (compares(r) && !row_is_made(r)) return false;
  if (compares(r) &&
      ota_flash_equals(r, r->config->slot_address + s->written, row_in_ring(r), pad_row(r))) {
    take_row(r);
    if (s->written % r->config->page_size == 0 || s->written == s->image.size)
      s->erased = ota_round_up(s->written, r->config->page_size);
    return true;
  }
  s->saved = s->written - s->erased;
  s->restored = 0;
  uint8_t *to = r->config->page_buffer;
  if (s->saved > 0 && !r->config->flash_read(r->config->context, page, to, s->saved))
    fall_back_to_page(r);
  else
    start_erase(r);
  return false;
}

/// Programs the next saved row again.
static void start_restore(ota_receiver *r) {
  const ota_session *s = &r->session;
  uint32_t page = s->erased - r->config->page_size;
  ota_flash_write(
      r, OTA_WORK_RESTORE, r->config->slot_address + page + s->restored,
      r->config->page_buffer + s->restored, r->config->row_size);
}

static void finish_restore(ota_receiver *r, bool ok) {
  ota_session *s = &r->session;
  uint32_t address = r->config->slot_address + s->erased - r->config->page_size + s->restored;
  const uint8_t *row = r->config->page_buffer + s->restored;
  if (!ok || !ota_flash_equals(r, address, row, r->flash.size)) {
    fall_back_to_page(r);
    return;
  }
  s->restored += r->flash.size;
  if (s->restored == s->saved) s->saved = 0;
}

bool ota_engine_finish(ota_receiver *r) {
  uint8_t work = r->flash.work;
  bool ok = r->flash.outcome == OTA_FLASH_DONE;
  if (work == OTA_WORK_NONE || r->flash.outcome == OTA_FLASH_PENDING) return false;
  r->flash.work = OTA_WORK_NONE;
  if (work == OTA_WORK_ERASE) finish_erase(r, ok);
  if (work == OTA_WORK_ROW) finish_row(r, ok);
  if (work == OTA_WORK_RESTORE) finish_restore(r, ok);
#if OTA_ERASE_AHEAD
  if (work == OTA_WORK_BLANK) finish_blank(r, ok);
#endif
  if (work == OTA_WORK_RECORD && !ota_record_finish(r, ok)) ota_engine_fault(r);
  return true;
}

bool ota_engine_start(ota_receiver *r) {
  const ota_session *s = &r->session;
  if (r->flash.work != OTA_WORK_NONE || r->operation.phase == OTA_PHASE_READING) return false;
#if OTA_PATCHES
  bool more = ota_patch_run(r);
#else
  bool more = false;
#endif
  if (ota_record_due(r)) {
    ota_record_start(r);
  } else if (!s->live || s->written == s->image.size) {
#if OTA_ERASE_AHEAD
    start_blank(r);
    more = more || r->record.step != OTA_RECORD_WHOLE;
#endif
  } else if (s->written >= s->erased) {
    more = decide_page(r) || more;
  } else if (s->saved > 0) {
    start_restore(r);
  } else if (row_is_made(r)) {
    start_row(r);
#if OTA_ERASE_AHEAD
  } else if (!more && may_erase_ahead(r)) {
    start_erase(r);
#endif
  }
  return more && r->flash.work == OTA_WORK_NONE;
}
