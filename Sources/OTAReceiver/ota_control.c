/// The operations of Control (docs/ota-service.md, 4).
#include "ota_internal.h"

#include <string.h>

static void answer(ota_receiver *r, uint8_t result) {
  r->answer[0] = r->operation | 0x80;
  r->answer[1] = result;
  r->answer_size = 2;
  r->phase = OTA_PHASE_ANSWERING;
}

static void append(ota_receiver *r, uint32_t value, uint8_t size) {
  for (; size > 0; size--, value >>= 8) r->answer[r->answer_size++] = (uint8_t)value;
}

static void append_version(ota_receiver *r, uint32_t version) {
  append(r, version >> 24, 1);
  append(r, version >> 16, 1);
  append(r, version, 2);
}

static void answer_progress(ota_receiver *r) {
  answer(r, OTA_RESULT_DONE);
  append(r, r->sinking ? r->sink_next : r->session.next, 4);
  append(r, r->sinking ? r->sink_crc : r->session.next_crc, 4);
  ota_status_owe(r, OTA_ERROR_NONE);
}

/// Answers VERIFY with the CRC32 found.
static void answer_verified(ota_receiver *r, uint32_t expected, uint32_t found) {
  answer(r, found == expected ? OTA_RESULT_DONE : OTA_RESULT_CRC_MISMATCH);
  append(r, found, 4);
}

static void rewrite(ota_receiver *r, const ota_image *image, uint32_t marks) {
  r->record.faults = 0;
  ota_record_rewrite(r, image, marks);
  r->phase = OTA_PHASE_RECORDING;
}

/// Forgets the session and, where one is written, its resume point.
static void discard(ota_receiver *r) {
  static const ota_image nothing = {0, 0, 0, 0};
  memset(&r->session, 0, sizeof r->session);
  r->phase = OTA_PHASE_RECORDING;
  if (r->record.image.size != 0) rewrite(r, &nothing, 0);
}

static void info(ota_receiver *r) {
  const ota_receiver_config *c = r->config;
  if (r->request[1] < OTA_PROTOCOL_VERSION) {
    answer(r, OTA_RESULT_VERSION_NOT_SUPPORTED);
    append(r, OTA_PROTOCOL_VERSION, 1);
    append(r, OTA_PROTOCOL_VERSION, 1);
    return;
  }
  uint8_t flags = 4;
  if (c->check_proof != NULL) flags |= 1;
  if (r->authorized) flags |= 2;
  answer(r, OTA_RESULT_DONE);
  append(r, OTA_PROTOCOL_VERSION, 1);
  append(r, flags, 1);
  append(r, c->running.hardware_id, 4);
  append(r, c->slot_size, 4);
  append(r, c->page_size, 4);
  append(r, c->largest_chunk, 2);
  append(r, ota_least(c->ring_size, UINT16_MAX), 2);
}

static void running(ota_receiver *r) {
  const ota_image *image = &r->config->running;
  answer(r, OTA_RESULT_DONE);
  append_version(r, image->version);
  append(r, image->size, 4);
  append(r, image->crc32, 4);
  append(r, r->config->boot_outcome, 1);
  append(r, r->trial, 1);
}

static void resume_point(ota_receiver *r) {
  const ota_session *s = &r->session;
  answer(r, OTA_RESULT_DONE);
  append(r, s->image.size, 4);
  append(r, s->image.crc32, 4);
  append(r, s->next, 4);
  append(r, s->next_crc, 4);
}

static void challenge(ota_receiver *r) {
  if (r->config->check_proof == NULL) {
    answer(r, OTA_RESULT_WRONG_STATE);
  } else if (r->wrong_proofs >= OTA_WRONG_PROOF_MAXIMUM) {
    answer(r, OTA_RESULT_LOCKED);
  } else {
    r->config->random(r->config->context, r->challenge);
    r->challenged = true;
    answer(r, OTA_RESULT_DONE);
    memcpy(r->answer + 2, r->challenge, OTA_CHALLENGE_SIZE);
    r->answer_size += OTA_CHALLENGE_SIZE;
  }
}

static void authorize(ota_receiver *r) {
  const ota_receiver_config *c = r->config;
  bool challenged = r->challenged;
  r->challenged = false;
  if (c->check_proof != NULL && r->wrong_proofs >= OTA_WRONG_PROOF_MAXIMUM) {
    answer(r, OTA_RESULT_LOCKED);
  } else if (c->check_proof == NULL || !challenged) {
    answer(r, OTA_RESULT_WRONG_STATE);
  } else if (c->check_proof(c->context, r->challenge, r->request + 1)) {
    r->authorized = true;
    r->wrong_proofs = 0;
    answer(r, OTA_RESULT_DONE);
  } else {
    r->authorized = false;
    r->wrong_proofs++;
    answer(r, OTA_RESULT_WRONG_PROOF);
  }
}

static ota_image requested_image(const ota_receiver *r) {
  const uint8_t *q = r->request;
  ota_image image;
  image.size = ota_get32(q + 2);
  image.crc32 = ota_get32(q + 6);
  image.version = ota_version(q[10], q[11], ota_get16(q + 12));
  image.hardware_id = ota_get32(q + 14);
  return image;
}

static uint8_t check_begin(const ota_receiver *r, const ota_image *image, uint8_t flags) {
  const ota_receiver_config *c = r->config;
  if (flags & ~0x0F) return OTA_RESULT_MALFORMED_REQUEST;
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

static bool is_same(const ota_image *a, const ota_image *b) {
  return a->size == b->size && a->crc32 == b->crc32 && a->version == b->version &&
         a->hardware_id == b->hardware_id;
}

static void begin(ota_receiver *r) {
  uint8_t flags = r->request[1];
  ota_image image = requested_image(r);
  uint8_t refusal = check_begin(r, &image, flags);
  if (refusal != OTA_RESULT_DONE) {
    answer(r, refusal);
    return;
  }
  ota_session *s = &r->session;
  r->faulted = false;
  r->status_told = 0;
  r->told_durable = false;
  r->sinking = flags & OTA_BEGIN_SINK;
  ota_enter(r, OTA_STATE_RECEIVING);
  if (r->sinking) {
    r->sink = image;
    r->sink_next = r->sink_crc = 0;
    answer_progress(r);
  } else if ((flags & OTA_BEGIN_RESTART) || !is_same(&image, &s->image)) {
    memset(s, 0, sizeof *s);
    s->image = image;
    s->live = true;
    rewrite(r, &image, 0);
  } else if (!s->live) {
    // Written anew, because the marks behind the resume point may be spoilt or about to be lies.
    s->live = true;
    rewrite(r, &image, r->record.marks);
  } else {
    answer_progress(r);
  }
}

/// What the ring holds is dropped from `page` on; flash stays as it is.
static void rewind_ring(ota_receiver *r, uint32_t page) {
  ota_session *s = &r->session;
  uint32_t crc = s->written_crc;
  for (uint32_t at = s->written; at < page;) {
    uint32_t position = at % r->config->ring_size;
    uint32_t count = ota_least(page - at, r->config->ring_size - position);
    crc = ota_crc32(crc, r->config->ring + position, count);
    at += count;
  }
  s->next = page;
  s->next_crc = crc;
  answer_progress(r);
}

/// The octets before `page` are read from the last mark on, for their CRC32.
static void read_to(ota_receiver *r, uint32_t page) {
  uint32_t marks = page / r->record.stride;
  r->reading.offset = r->reading.crc = 0;
  if (marks > 0 && ota_mark_read(r, marks - 1, &r->reading.crc)) {
    r->reading.offset = marks * r->record.stride;
  } else {
    r->reading.crc = 0;
  }
  r->reading.end = page;
  r->phase = OTA_PHASE_READING;
}

static void rewind(ota_receiver *r) {
  uint32_t offset = ota_get32(r->request + 1);
  uint32_t page = ota_round_down(offset, r->config->page_size);
  if (r->state != OTA_STATE_RECEIVING) {
    answer(r, OTA_RESULT_WRONG_STATE);
  } else if (offset > (r->sinking ? r->sink_next : r->session.next)) {
    answer(r, OTA_RESULT_MALFORMED_REQUEST);
  } else {
    r->status_told = 0;
    if (r->sinking) {
      r->sink_next = r->sink_crc = 0;
      answer_progress(r);
    } else if (page >= r->session.written) {
      rewind_ring(r, page);
    } else {
      read_to(r, page);
    }
  }
}

static void rewind_flash(ota_receiver *r) {
  ota_session *s = &r->session;
  uint32_t page = r->reading.end;
  s->next = s->written = s->erased = page;
  s->next_crc = s->written_crc = s->page_crc = r->reading.crc;
  s->page_faults = 0;
  r->told_durable = false;
  if (ota_record_durable(r) > page) {
    rewrite(r, &s->image, page / r->record.stride);
  } else {
    answer_progress(r);
  }
}

static void verify(ota_receiver *r) {
  uint32_t missing =
      r->sinking ? r->sink.size - r->sink_next : r->session.image.size - r->session.next;
  if (r->state != OTA_STATE_RECEIVING || missing != 0) {
    answer(r, OTA_RESULT_WRONG_STATE);
    return;
  }
  if (r->sinking) {
    ota_enter(r, r->sink_crc == r->sink.crc32 ? OTA_STATE_VERIFIED : OTA_STATE_IDLE);
    answer_verified(r, r->sink.crc32, r->sink_crc);
    r->sinking = r->state == OTA_STATE_VERIFIED;
    return;
  }
  ota_enter(r, OTA_STATE_VERIFYING);
  r->phase = OTA_PHASE_DRAINING;
}

static void conclude_verify(ota_receiver *r) {
  uint32_t expected = r->session.image.crc32;
  if (r->reading.crc == expected) {
    ota_enter(r, OTA_STATE_VERIFIED);
    answer_verified(r, expected, r->reading.crc);
  } else {
    ota_enter(r, OTA_STATE_IDLE);
    discard(r);
  }
}

static void activate(ota_receiver *r) {
  if (r->state != OTA_STATE_VERIFIED || r->sinking) {
    answer(r, OTA_RESULT_WRONG_STATE);
    return;
  }
  // The slot is the boot loader's from here on, so nothing in it may be resumed later.
  r->activating = r->session.image;
  ota_enter(r, OTA_STATE_ACTIVATING);
  discard(r);
}

static void confirm(ota_receiver *r) {
  const ota_receiver_config *c = r->config;
  if (!r->trial || c->confirm == NULL) {
    answer(r, OTA_RESULT_NOTHING_TO_CONFIRM);
  } else if (c->confirm(c->context)) {
    r->trial = false;
    answer(r, OTA_RESULT_DONE);
  } else {
    answer(r, OTA_RESULT_FLASH_FAULT);
  }
}

static void abort_session(ota_receiver *r) {
  uint8_t flags = r->request[1];
  if (flags & ~OTA_ABORT_DISCARD) {
    answer(r, OTA_RESULT_MALFORMED_REQUEST);
    return;
  }
  bool was_sink = r->sinking;
  r->sinking = false;
  ota_enter(r, OTA_STATE_IDLE);
  if ((flags & OTA_ABORT_DISCARD) && !was_sink) {
    discard(r);
  } else {
    answer(r, OTA_RESULT_DONE);
  }
}

enum { NEEDS_AUTHORIZATION = 1, NEEDS_FLASH_AT_REST = 2, NEEDS_BOTH = 3 };

typedef struct {
  void (*carry_out)(ota_receiver *r);
  uint8_t payload_size;
  uint8_t needs;
} operation_rule;

static const operation_rule rules[] = {
    [OTA_OP_INFO] = {info, 1, 0},
    [OTA_OP_RUNNING] = {running, 0, 0},
    [OTA_OP_RESUME_POINT] = {resume_point, 0, 0},
    [OTA_OP_CHALLENGE] = {challenge, 0, 0},
    [OTA_OP_AUTHORIZE] = {authorize, OTA_PROOF_SIZE, 0},
    [OTA_OP_BEGIN] = {begin, 17, NEEDS_BOTH},
    [OTA_OP_REWIND] = {rewind, 4, NEEDS_BOTH},
    [OTA_OP_VERIFY] = {verify, 0, NEEDS_AUTHORIZATION},
    [OTA_OP_ACTIVATE] = {activate, 0, NEEDS_BOTH},
    [OTA_OP_CONFIRM] = {confirm, 0, NEEDS_AUTHORIZATION},
    [OTA_OP_ABORT] = {abort_session, 1, NEEDS_BOTH},
};

static void take_up(ota_receiver *r) {
  const operation_rule *rule = &rules[0];
  if (r->operation < sizeof rules / sizeof rules[0]) rule = &rules[r->operation];
  if (rule->carry_out == NULL) {
    answer(r, OTA_RESULT_UNKNOWN_OPCODE);
  } else if (r->request_size != 1 + rule->payload_size) {
    answer(r, OTA_RESULT_MALFORMED_REQUEST);
  } else if ((rule->needs & NEEDS_AUTHORIZATION) && !ota_is_authorized(r)) {
    answer(r, OTA_RESULT_NOT_AUTHORIZED);
  } else if ((rule->needs & NEEDS_AUTHORIZATION) && r->state == OTA_STATE_ACTIVATING) {
    answer(r, OTA_RESULT_WRONG_STATE);
  } else if (!(rule->needs & NEEDS_FLASH_AT_REST) || ota_engine_at_rest(r)) {
    rule->carry_out(r);
  }
}

static void drain(ota_receiver *r) {
  if (!ota_engine_drained(r)) return;
  r->reading.offset = r->reading.crc = 0;
  r->reading.end = r->session.image.size;
  r->phase = OTA_PHASE_READING;
}

/// Reads up to one page; the operation goes on when the end is reached.
static void read_page(ota_receiver *r) {
  const ota_receiver_config *c = r->config;
  uint8_t *octets = (uint8_t *)r->scratch;
  ota_reading *reading = &r->reading;
  uint32_t page_end = reading->offset + ota_least(c->page_size, reading->end - reading->offset);
  while (reading->offset < page_end) {
    uint32_t count = ota_least(OTA_READ_STEP, page_end - reading->offset);
    if (!c->flash_read(c->context, c->slot_address + reading->offset, octets, count)) {
      ota_engine_fault(r);
      return;
    }
    reading->crc = ota_crc32(reading->crc, octets, count);
    reading->offset += count;
  }
  if (reading->offset < reading->end) return;
  if (r->operation == OTA_OP_VERIFY) {
    conclude_verify(r);
  } else {
    rewind_flash(r);
  }
}

static void conclude_recording(ota_receiver *r) {
  if (!ota_engine_at_rest(r)) return;
  if (r->operation == OTA_OP_VERIFY) {
    answer(r, OTA_RESULT_CRC_MISMATCH);
    append(r, r->reading.crc, 4);
  } else if (r->operation == OTA_OP_ACTIVATE) {
    answer(r, OTA_RESULT_DONE);
    r->activate_at_ms = r->now_ms + OTA_ACTIVATE_WAIT_MS;
    if (!r->connected) r->phase = OTA_PHASE_RESETTING;
  } else if (r->operation == OTA_OP_ABORT) {
    answer(r, OTA_RESULT_DONE);
  } else {
    answer_progress(r);
  }
}

void ota_control_run(ota_receiver *r) {
  if (r->phase == OTA_PHASE_REQUESTED) {
    take_up(r);
  } else if (r->phase == OTA_PHASE_DRAINING) {
    drain(r);
  } else if (r->phase == OTA_PHASE_READING) {
    read_page(r);
  } else if (r->phase == OTA_PHASE_RECORDING) {
    conclude_recording(r);
  }
}

void ota_control_fail(ota_receiver *r, uint8_t result) {
  if (r->phase == OTA_PHASE_DRAINING || r->phase == OTA_PHASE_READING ||
      r->phase == OTA_PHASE_RECORDING)
    answer(r, result);
}

bool ota_reset_is_promised(const ota_receiver *r) {
  return r->state == OTA_STATE_ACTIVATING && r->operation == OTA_OP_ACTIVATE &&
         (r->phase == OTA_PHASE_ANSWERING || r->phase == OTA_PHASE_CONFIRMING) &&
         r->answer[1] == OTA_RESULT_DONE;
}

void ota_control_disconnected(ota_receiver *r) {
  if (ota_reset_is_promised(r)) r->phase = OTA_PHASE_RESETTING;
  if (r->phase == OTA_PHASE_RESETTING) return;
  if (r->phase == OTA_PHASE_RECORDING && r->operation == OTA_OP_ACTIVATE) return;
  // A new resume record, once begun, is finished without anyone to tell.
  r->phase = OTA_PHASE_REST;
  if (r->state == OTA_STATE_VERIFYING) ota_enter(r, OTA_STATE_RECEIVING);
}
