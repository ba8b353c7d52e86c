/// Requests to Control and their answers (docs/ota-service.md, 4), and the operations that do not
/// change the session.
#include "ota_internal.h"

static uint8_t info(ota_receiver *r) {
  const ota_receiver_config *c = r->config;
  ota_answer_append(r, OTA_PROTOCOL_VERSION, 1);
  if (r->operation.request[1] < OTA_PROTOCOL_VERSION) {
    ota_answer_append(r, OTA_PROTOCOL_VERSION, 1);
    return OTA_RESULT_VERSION_NOT_SUPPORTED;
  }
  uint32_t flags = 4u | (r->link.authorized ? 2u : 0) | (c->check_proof != NULL);
#if OTA_PATCHES
  flags |= c->patches ? 8u : 0;
#endif
#if OTA_ERASE_AHEAD
  flags |= c->erase_ahead ? 16u : 0;
#endif
  flags |= c->page_buffer != NULL ? 32u : 0;
  ota_answer_append(r, flags, 1);
  ota_answer_append(r, c->running.hardware_id, 4);
  ota_answer_append(r, c->slot_size, 4);
  ota_answer_append(r, c->page_size, 4);
  ota_answer_append(r, c->largest_chunk, 2);
  ota_answer_append(r, ota_least(c->ring_size, UINT16_MAX), 2);
  return OTA_RESULT_DONE;
}

static uint8_t running(ota_receiver *r) {
  const ota_image *image = &r->config->running;
  ota_answer_append(r, image->version >> 24, 1);
  ota_answer_append(r, image->version >> 16, 1);
  ota_answer_append(r, image->version, 2);
  ota_answer_append(r, image->size, 4);
  ota_answer_append(r, image->crc32, 4);
  ota_answer_append(r, r->config->boot_outcome, 1);
  ota_answer_append(r, r->trial, 1);
  return OTA_RESULT_DONE;
}

static uint8_t resume_point(ota_receiver *r) {
  static const ota_session none;
  const ota_session *s = ota_is_patch(r) ? &none : &r->session;
  ota_answer_append(r, s->image.size, 4);
  ota_answer_append(r, s->image.crc32, 4);
  ota_answer_append(r, s->next, 4);
  ota_answer_append(r, s->next_crc, 4);
  return OTA_RESULT_DONE;
}

static uint8_t challenge(ota_receiver *r) {
  const ota_receiver_config *c = r->config;
  if (c->check_proof == NULL) return OTA_RESULT_WRONG_STATE;
  if (r->wrong_proofs >= OTA_WRONG_PROOF_MAXIMUM) return OTA_RESULT_LOCKED;
  c->random(c->context, r->link.challenge);
  r->link.challenged = true;
  memcpy(r->operation.answer + r->operation.answer_size, r->link.challenge, OTA_CHALLENGE_SIZE);
  r->operation.answer_size += OTA_CHALLENGE_SIZE;
  return OTA_RESULT_DONE;
}

static uint8_t authorize(ota_receiver *r) {
  const ota_receiver_config *c = r->config;
  bool challenged = r->link.challenged;
  r->link.challenged = false;
  if (c->check_proof == NULL) return OTA_RESULT_WRONG_STATE;
  if (r->wrong_proofs >= OTA_WRONG_PROOF_MAXIMUM) return OTA_RESULT_LOCKED;
  if (!challenged) return OTA_RESULT_WRONG_STATE;
  if (!c->check_proof(c->context, r->link.challenge, r->operation.request + 1)) {
    r->wrong_proofs++;
    return OTA_RESULT_WRONG_PROOF;  // an earlier authorization stays valid
  }
  r->wrong_proofs = 0;
  r->link.authorized = true;
  return OTA_RESULT_DONE;
}

enum { NEEDS_AUTHORIZATION = 1, NEEDS_FLASH_AT_REST = 2, NEEDS_BOTH = 3 };

/// The states in which an operation is permitted, one bit for each.
enum { IN_RECEIVING = 0x02, IN_VERIFIED = 0x08, UNTIL_ACTIVATING = 0x0F, ALWAYS = 0x1F };

typedef struct {
  uint8_t (*carry_out)(ota_receiver *r);
  uint8_t payload_size;
  uint8_t needs;
  uint8_t states;
  /// The undefined bits of the flags byte at the start of the payload; 0 if the operation has no
  /// flags byte.
  uint8_t unknown_flags;
} operation_rule;

static const operation_rule rules[] = {
    [OTA_OP_INFO] = {info, 1, 0, ALWAYS, 0},
    [OTA_OP_RUNNING] = {running, 0, 0, ALWAYS, 0},
    [OTA_OP_RESUME_POINT] = {resume_point, 0, 0, ALWAYS, 0},
    [OTA_OP_CHALLENGE] = {challenge, 0, 0, ALWAYS, 0},
    [OTA_OP_AUTHORIZE] = {authorize, OTA_PROOF_SIZE, 0, ALWAYS, 0},
    [OTA_OP_BEGIN] = {ota_begin, 17, NEEDS_BOTH, UNTIL_ACTIVATING, 0xF0},
    [OTA_OP_REWIND] = {ota_rewind, 4, NEEDS_BOTH, IN_RECEIVING, 0},
    [OTA_OP_VERIFY] = {ota_verify, 0, NEEDS_AUTHORIZATION, IN_RECEIVING, 0},
    [OTA_OP_ACTIVATE] = {ota_activate, 0, NEEDS_BOTH, IN_VERIFIED, 0},
    [OTA_OP_CONFIRM] = {ota_confirm, 0, NEEDS_AUTHORIZATION, UNTIL_ACTIVATING, 0},
    [OTA_OP_ABORT] = {ota_abort, 1, NEEDS_BOTH, UNTIL_ACTIVATING, 0xFE},
#if OTA_PATCHES
    [OTA_OP_PATCH_INFO] = {ota_patch_info, 0, 0, ALWAYS, 0},
    [OTA_OP_PATCH] = {ota_patch_announce, 16, NEEDS_BOTH, UNTIL_ACTIVATING, 0},
    [OTA_OP_PATCH_POINT] = {ota_patch_point_told, 0, 0, ALWAYS, 0},
#endif
};

static uint8_t take_up(ota_receiver *r) {
  const operation_rule *rule = &rules[0];
  if (r->operation.opcode < sizeof rules / sizeof rules[0]) rule = &rules[r->operation.opcode];
  r->operation.answer_size = 2;
  uint8_t flags = r->operation.request[1] & rule->unknown_flags;
#if OTA_PATCHES
  if (!r->config->patches && r->operation.opcode >= OTA_OP_PATCH_INFO) rule = &rules[0];
  if (r->config->patches && rule == &rules[OTA_OP_BEGIN] &&
      !(r->operation.request[1] & OTA_BEGIN_SINK))
    flags &= (uint8_t)~OTA_BEGIN_PATCH;
#endif
  if (rule->carry_out == NULL) return OTA_RESULT_UNKNOWN_OPCODE;
  if (r->operation.request_size != 1 + rule->payload_size || flags != 0)
    return OTA_RESULT_MALFORMED_REQUEST;
  if ((rule->needs & NEEDS_AUTHORIZATION) && !ota_is_authorized(r))
    return OTA_RESULT_NOT_AUTHORIZED;
  if (!(rule->states & 1u << r->state)) return OTA_RESULT_WRONG_STATE;
  if ((rule->needs & NEEDS_FLASH_AT_REST) && !ota_engine_at_rest(r)) return OTA_RESULT_LATER;
  return rule->carry_out(r);
}

void ota_control_run(ota_receiver *r) {
  uint8_t result = OTA_RESULT_LATER;
  if (ota_is_later(r)) result = ota_update_continue(r);
  if (r->operation.phase == OTA_PHASE_REQUESTED) result = take_up(r);
  if (result != OTA_RESULT_LATER) ota_answer(r, result);
}

bool ota_reset_is_promised(const ota_receiver *r) {
  const ota_operation *o = &r->operation;
  return r->state == OTA_STATE_ACTIVATING && o->opcode == OTA_OP_ACTIVATE &&
         (o->phase == OTA_PHASE_ANSWERING || o->phase == OTA_PHASE_CONFIRMING) &&
         o->answer[1] == OTA_RESULT_DONE;
}

void ota_control_disconnected(ota_receiver *r) {
  if (ota_reset_is_promised(r)) r->operation.phase = OTA_PHASE_RESETTING;
  if (r->operation.phase == OTA_PHASE_RESETTING) return;
  if (r->operation.phase == OTA_PHASE_RECORDING && r->operation.opcode == OTA_OP_ACTIVATE) return;
  // A resume record that is being written is completed, but no answer is sent.
  r->operation.phase = OTA_PHASE_REST;
  if (r->state == OTA_STATE_VERIFYING) ota_enter(r, OTA_STATE_RECEIVING);
}
