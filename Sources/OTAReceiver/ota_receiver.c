/// The interface to the Bluetooth stack: connections, Data, Status, and the poll.
#include "ota_internal.h"

enum { DATA_HEADER_SIZE = 4 };

static bool is_complete(const ota_receiver_config *c) {
  return c->ring != NULL && c->flash_read != NULL && c->flash_write != NULL &&
         c->flash_erase != NULL && c->indicate_control != NULL && c->notify_status != NULL &&
         c->activate != NULL && (c->check_proof == NULL || c->random != NULL);
}

static bool divides(uint32_t unit, uint32_t size) { return unit != 0 && size % unit == 0; }

/// Whether `size` bytes at `a` and `other_size` bytes at `b` do not overlap.
static bool are_disjoint(uint32_t a, uint32_t size, uint32_t b, uint32_t other_size) {
  return a < b ? b - a >= size : a - b >= other_size;
}

/// Whether the metadata pages and the slot start at page boundaries, fit the address range, and do
/// not overlap.
static bool is_apart(const ota_receiver_config *c) {
  uint32_t page = c->page_size, slot = c->slot_address;
  const uint32_t *metadata = c->metadata_address;
  for (int i = 0; i < 2; i++)
    if (metadata[i] % page != 0 || metadata[i] > UINT32_MAX - (page - 1) ||
        !are_disjoint(metadata[i], page, slot, c->slot_size))
      return false;
  return slot % page == 0 && slot <= UINT32_MAX - (c->slot_size - 1) &&
         metadata[0] != metadata[1];
}

static bool is_sound(const ota_receiver_config *c) {
  return divides(c->write_alignment, OTA_WRITE_ALIGNMENT_MAXIMUM) && c->row_size != 0 &&
         divides(c->write_alignment, c->row_size) && c->page_size != 0 &&
         divides(c->row_size, c->page_size) && c->slot_size != 0 && c->slot_size <= INT32_MAX &&
         divides(c->page_size, c->slot_size) && divides(c->row_size, c->ring_size) &&
         c->ring_size <= INT32_MAX && c->ring_size >= c->row_size + c->largest_chunk &&
         (c->page_buffer == NULL || !c->erase_ahead) && c->largest_chunk != 0 && c->largest_chunk <= OTA_CHUNK_MAXIMUM && ota_record_fits(c) &&
         is_apart(c);
}

bool ota_receiver_init(ota_receiver *r, const ota_receiver_config *config) {
  memset(r, 0, sizeof *r);
  if (!is_complete(config) || !is_sound(config)) return false;
  r->config = config;
  r->trial = config->trial;
  ota_record_load(r);
  r->session.interrupted = r->session.image.size != 0;
  // After any other boot outcome, the bootloader has used the slot after the record was written.
  if (config->boot_outcome != OTA_BOOT_NORMAL) {
    r->session.interrupted = false;
    ota_record_forget(r);
  }
  return true;
}

/// Clears the state of the connection.
static void forget_link(ota_receiver *r) {
  ota_control_disconnected(r);
  memset(&r->link, 0, sizeof r->link);
#if OTA_PATCHES
  r->patch.announced.size = 0;
#endif
}

void ota_receiver_connected(ota_receiver *r) { forget_link(r); }

void ota_receiver_disconnected(ota_receiver *r) { forget_link(r); }

void ota_receiver_control_cccd(ota_receiver *r, uint16_t value) { r->link.control_cccd = value; }

void ota_receiver_status_cccd(ota_receiver *r, uint16_t value) { r->link.status_cccd = value; }

uint8_t ota_receiver_control_write(ota_receiver *r, const uint8_t *bytes, uint32_t size) {
  if (r->link.control_cccd != 2) return OTA_ATT_CCCD_IMPROPER;
  if (r->operation.phase != OTA_PHASE_REST) return OTA_ATT_BUSY;
  if (size == 0) return OTA_ATT_INVALID_LENGTH;
  // If a request is too long, the maximum length plus one byte is stored, so the request counts as
  // malformed.
  r->operation.request_size = (uint8_t)ota_least(size, OTA_REQUEST_MAXIMUM + 1);
  memcpy(r->operation.request, bytes, ota_least(size, OTA_REQUEST_MAXIMUM));
  r->operation.opcode = r->operation.request[0];
  r->link.asked = true;
  r->operation.phase = OTA_PHASE_REQUESTED;
  return OTA_ATT_OK;
}

void ota_receiver_indication_confirmed(ota_receiver *r) {
  if (r->operation.phase != OTA_PHASE_CONFIRMING) return;
  r->operation.phase = ota_reset_is_promised(r) ? OTA_PHASE_RESETTING : OTA_PHASE_REST;
}

void ota_receiver_flash_done(ota_receiver *r, bool ok) {
  if (r->flash.work == OTA_WORK_NONE || r->flash.outcome != OTA_FLASH_PENDING) return;
  r->flash.outcome = ok ? OTA_FLASH_DONE : OTA_FLASH_FAILED;
}

static uint32_t window(const ota_receiver *r) {
  if (r->state != OTA_STATE_RECEIVING) return 0;
  return ota_least(
      r->config->ring_size - ota_ring_reserve(r) - ota_data_buffered(r), UINT16_MAX);
}

/// Refuses a data write. Without a response, Status reports the error once, and not again until a
/// write, a BEGIN or a REWIND is accepted.
static uint8_t refuse(ota_receiver *r, bool with_response, uint8_t error, uint8_t att_error) {
  uint8_t bit = (uint8_t)(1u << error);
  if (with_response || (r->link.status_told & bit)) return att_error;
  r->link.status_told |= bit;
  r->link.status_due |= bit;
  return att_error;
}

static void receive(ota_receiver *r, const uint8_t *bytes, uint32_t count) {
  ota_session *s = r->sinking ? &r->sink : &r->session;
  uint8_t *ring = r->config->ring + ota_ring_reserve(r);
  uint32_t size = r->config->ring_size - ota_ring_reserve(r);
  uint32_t position = s->next % size;
  uint32_t first = ota_least(count, size - position);
  s->next_crc = ota_crc32(s->next_crc, bytes, count);
  s->next += count;
  if (r->sinking) {
    s->written = s->next;
    return;
  }
  memcpy(ring + position, bytes, first);
  memcpy(ring, bytes + first, count - first);
}

uint8_t ota_receiver_data_write(
    ota_receiver *r, const uint8_t *bytes, uint32_t size, bool with_response) {
  const ota_session *s = ota_current(r);
  uint32_t count = size - DATA_HEADER_SIZE;
  if (size <= DATA_HEADER_SIZE || count > r->config->largest_chunk) return OTA_ATT_INVALID_LENGTH;
  if (!ota_is_authorized(r))
    return refuse(r, with_response, OTA_ERROR_NOT_AUTHORIZED, OTA_ATT_NOT_AUTHORIZED);
  if (r->state != OTA_STATE_RECEIVING)
    return refuse(r, with_response, OTA_ERROR_NO_SESSION, OTA_ATT_NO_SESSION);
  if (ota_get(bytes, 4) != s->next) return refuse(r, with_response, OTA_ERROR_GAP, OTA_ATT_GAP);
  if (count > ota_data_size(r) - s->next)
    return refuse(r, with_response, OTA_ERROR_OVERRUN, OTA_ATT_INVALID_LENGTH);
  if (count > window(r)) return refuse(r, with_response, OTA_ERROR_OVERRUN, OTA_ATT_BUSY);
  receive(r, bytes + DATA_HEADER_SIZE, count);
  r->link.status_told = 0;
  return OTA_ATT_OK;
}

static uint32_t durable(const ota_receiver *r) {
#if OTA_PATCHES
  if (ota_takes_stream(r)) return r->patch.point.stream_offset;
#endif
  return r->sinking ? r->sink.next : ota_record_durable(r);
}

static void fill_status(const ota_receiver *r, uint8_t error, uint8_t *to) {
  const ota_session *s = ota_current(r);
  to[0] = r->state;
  to[1] = error;
  ota_put(to + 2, window(r), 2);
  ota_put(to + 4, s->next, 4);
  ota_put(to + 8, s->next_crc, 4);
  ota_put(to + 12, durable(r), 4);
}

void ota_receiver_status_read(const ota_receiver *r, uint8_t *to) {
  fill_status(r, r->ended_by, to);
}

/// Whether the progress since the last notification requires another one (2.2).
static bool needs_status(const ota_receiver *r) {
  const ota_receiver_config *c = r->config;
  const ota_session *s = ota_current(r);
  const ota_link *link = &r->link;
  if (r->state != OTA_STATE_RECEIVING) return false;
  uint32_t limit = s->next + window(r);
  uint32_t reported_limit = link->told_next + link->told_window;
  uint32_t quarter = ota_least(c->ring_size, UINT16_MAX) / 4;
  uint32_t step = quarter > c->largest_chunk ? quarter : c->largest_chunk;
  uint32_t block = c->page_size * (quarter > c->page_size ? quarter / c->page_size : 1);
  // No chunk fits the rest of the reported limit, and the buffered bytes do not fill a row.
  // Therefore, the host cannot continue without a notification of a new limit.
  bool stuck = reported_limit < s->next + c->largest_chunk && ota_data_buffered(r) < c->row_size;
  return (limit >= reported_limit && limit - reported_limit >= step) ||
         ((link->told_window < c->largest_chunk || stuck) && window(r) >= c->largest_chunk) ||
         s->next / block > link->told_next / block ||
         (s->next == ota_data_size(r) && link->told_next != s->next) ||
         (durable(r) == ota_data_size(r) && !link->told_durable);
}

/// The next error to report. The error that ended a session comes before errors of later data.
static uint8_t next_error(uint8_t due) {
  uint8_t error = OTA_ERROR_PATCH_REFUSED;
  if (due & 1u << OTA_ERROR_FLASH_FAULT) return OTA_ERROR_FLASH_FAULT;
  while (!(due & 1u << error)) error--;
  return error;
}

/// Sends one status for each error that is due, otherwise one for progress. False: the stack has no
/// free buffer.
static bool send_status(ota_receiver *r) {
  uint8_t status[OTA_STATUS_SIZE];
  ota_link *link = &r->link;
  if (link->status_cccd != 1) link->status_due = 0;
  if (link->status_cccd == 1 && needs_status(r)) ota_status_owe(r, OTA_ERROR_NONE);
  while (link->status_due != 0) {
    uint8_t error = next_error(link->status_due);
    fill_status(r, error, status);
    if (!r->config->notify_status(r->config->context, status)) return false;
    // This status also reports progress that was due.
    link->status_due &= (uint8_t) ~(1u << error | 1u << OTA_ERROR_NONE);
    link->told_next = ota_current(r)->next;
    link->told_window = (uint16_t)window(r);
    link->told_durable = durable(r) == ota_data_size(r);
  }
  return true;
}

static bool send_answer(ota_receiver *r) {
  ota_operation *o = &r->operation;
  if (o->phase != OTA_PHASE_ANSWERING) return true;
  if (!r->link.asked) {
    ota_control_disconnected(r);  // the requester has disconnected; a promised reset is still due
    return true;
  }
  if (!r->config->indicate_control(r->config->context, o->answer, o->answer_size)) return false;
  o->phase = OTA_PHASE_CONFIRMING;
  return true;
}

/// Performs the reset that ACTIVATE promised. Returns the milliseconds until the reset is due.
static uint32_t reset_when_due(ota_receiver *r) {
  ota_operation *o = &r->operation;
  bool waits = ota_reset_is_promised(r);
  uint32_t left = o->activate_at_ms - r->now_ms;
  if (waits && left - 1 < OTA_ACTIVATE_WAIT_MS) return left;
  if (waits || o->phase == OTA_PHASE_RESETTING) {
    o->phase = OTA_PHASE_REST;
    r->config->activate(r->config->context, o->activating.size, o->activating.crc32);
  }
  return OTA_POLL_IDLE;
}

uint32_t ota_receiver_poll(ota_receiver *r, uint32_t now_ms) {
  const uint8_t *phase = &r->operation.phase;
  uint8_t before = *phase;
  r->now_ms = now_ms;
  bool finished = ota_engine_finish(r);
  ota_control_run(r);
  bool again = ota_engine_start(r);
  bool sent = send_status(r);
  sent = send_answer(r) && sent;
  uint32_t wait = reset_when_due(r);
  bool flash_ended = r->flash.work != OTA_WORK_NONE && r->flash.outcome != OTA_FLASH_PENDING;
  if (finished || flash_ended || again || before != *phase || *phase == OTA_PHASE_READING) return 0;
  return sent ? wait : ota_least(wait, OTA_SEND_RETRY_MS);
}
