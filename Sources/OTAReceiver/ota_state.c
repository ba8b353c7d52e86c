/// The state that every operation may change: the session state, the due status, and the answer to
/// the current operation. Nothing is sent here.
#include "ota_internal.h"

void ota_status_owe(ota_receiver *r, uint8_t error) {
  r->link.status_due |= (uint8_t)(1u << error);
  // A gap that the device has caused is reported here, and not again for the first data after the
  // gap.
  if (error == OTA_ERROR_GAP) r->link.status_told |= 1u << OTA_ERROR_GAP;
}

void ota_enter(ota_receiver *r, uint8_t state) {
  if (r->state != state) ota_status_owe(r, OTA_ERROR_NONE);
  r->state = state;
}

void ota_session_went_back(ota_receiver *r) {
  if (r->sinking) return;
  if (r->state == OTA_STATE_VERIFYING) {
    ota_enter(r, OTA_STATE_RECEIVING);
    ota_answer_instead(r, OTA_RESULT_WRONG_STATE);
  }
  if (r->state == OTA_STATE_RECEIVING) ota_status_owe(r, OTA_ERROR_GAP);
}

void ota_session_end(ota_receiver *r, uint8_t error, uint8_t result) {
  if (r->sinking) return;
  r->ended_by = error;
  r->state = OTA_STATE_IDLE;
  ota_status_owe(r, error);
  ota_answer_instead(r, result);
}

void ota_answer_append(ota_receiver *r, uint32_t value, uint8_t size) {
  ota_put(r->operation.answer + r->operation.answer_size, value, size);
  r->operation.answer_size += size;
}

void ota_answer(ota_receiver *r, uint8_t result) {
  r->operation.answer[0] = r->operation.opcode | 0x80;
  r->operation.answer[1] = result;
  r->operation.phase = OTA_PHASE_ANSWERING;
}

void ota_answer_instead(ota_receiver *r, uint8_t result) {
  if (ota_is_later(r)) ota_answer(r, result);
}
