/// Brings the ring's rows into the slot: erases ahead, programs, reads back, and goes back to the
/// start of a page that will not hold its data.
#include "ota_internal.h"

bool ota_engine_at_rest(const ota_receiver *r) {
  return r->flash.work == OTA_WORK_NONE && r->record.step == OTA_RECORD_WHOLE;
}

void ota_engine_fault(ota_receiver *r) {
  r->record.step = OTA_RECORD_WHOLE;
  // What flash holds is the truth now; the ring is given up.
  ota_record_load(r);
  if (r->sinking) return;
  r->faulted = true;
  r->state = OTA_STATE_IDLE;
  ota_status_owe(r, OTA_ERROR_FLASH_FAULT);
  ota_answer_instead(r, OTA_RESULT_FLASH_FAULT);
}

/// A row cannot be programmed twice, so its whole page is erased, and the host sends it again.
/// Marks inside the page must be gone before that.
static void fall_back_to_page(ota_receiver *r) {
  ota_session *s = &r->session;
  if (++s->page_faults > OTA_FLASH_RETRY_MAXIMUM) {
    ota_engine_fault(r);
    return;
  }
  uint32_t page = ota_round_down(s->written, r->config->page_size);
  s->next = s->written = s->erased = page;
  s->next_crc = s->written_crc = s->page_crc;
  if (ota_record_durable(r) > page) ota_record_rewrite(r, page / r->record.stride);
  if (r->sinking) return;
  if (r->state == OTA_STATE_VERIFYING) {
    ota_enter(r, OTA_STATE_RECEIVING);
    ota_answer_instead(r, OTA_RESULT_WRONG_STATE);
  }
  if (r->state == OTA_STATE_RECEIVING) ota_status_owe(r, OTA_ERROR_GAP);
}

static uint8_t *row_in_ring(const ota_receiver *r) {
  return r->config->ring + r->session.written % r->config->ring_size;
}

/// The octets of image in the row that starts at `written`.
static uint32_t row_size(const ota_receiver *r) {
  return ota_least(r->config->row_size, r->session.image.size - r->session.written);
}

static void finish_row(ota_receiver *r, bool ok) {
  ota_session *s = &r->session;
  const uint8_t *row = row_in_ring(r);
  if (!ok || !ota_flash_equals(r, r->config->slot_address + s->written, row, r->flash.size)) {
    fall_back_to_page(r);
    return;
  }
  uint32_t size = row_size(r);
  s->written_crc = ota_crc32(s->written_crc, row, size);
  s->written += size;
  if (s->written % r->config->page_size != 0) return;
  s->page_crc = s->written_crc;
  s->page_faults = 0;
}

static void finish_erase(ota_receiver *r, bool ok) {
  if (ok) r->session.erased += r->config->page_size;
  if (!ok && ++r->session.page_faults > OTA_FLASH_RETRY_MAXIMUM) ota_engine_fault(r);
}

bool ota_engine_finish(ota_receiver *r) {
  uint8_t work = r->flash.work;
  bool ok = r->flash.outcome == OTA_FLASH_DONE;
  if (work == OTA_WORK_NONE || r->flash.outcome == OTA_FLASH_PENDING) return false;
  r->flash.work = OTA_WORK_NONE;
  if (work == OTA_WORK_ERASE) finish_erase(r, ok);
  if (work == OTA_WORK_ROW) finish_row(r, ok);
  if (work == OTA_WORK_RECORD && !ota_record_finish(r, ok)) ota_engine_fault(r);
  return true;
}

static void start_row(ota_receiver *r) {
  uint32_t size = row_size(r);
  uint32_t padded = ota_round_up(size, r->config->write_alignment);
  uint8_t *row = row_in_ring(r);
  // The row's place in the ring is whole even at the image's end, and nothing else uses it.
  memset(row + size, 0xFF, padded - size);
  ota_flash_write(r, OTA_WORK_ROW, r->config->slot_address + r->session.written, row, padded);
}

void ota_engine_start(ota_receiver *r) {
  const ota_session *s = &r->session;
  if (r->flash.work != OTA_WORK_NONE || r->operation.phase == OTA_PHASE_READING) return;
  if (ota_record_due(r)) {
    ota_record_start(r);
  } else if (!s->live || s->written == s->image.size) {
    return;
  } else if (s->written == s->erased) {
    ota_flash_erase(r, OTA_WORK_ERASE, r->config->slot_address + s->erased);
  } else if (s->next - s->written >= row_size(r)) {
    start_row(r);
  }
}
