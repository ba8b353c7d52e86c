/// Patch sessions (docs/ota-service.md, 13): the announced stream, and the decoder between the ring
/// and the row. The row is stored at the start of the ring and the stream in the rest of the ring,
/// so a patch session needs no additional memory except that of the decoder. The decoder runs while
/// no flash operation is in progress and the row has room. At the end of each part it stops until
/// the mark is written.
#include "ota_internal.h"

#if OTA_PATCHES

static uint32_t take_image(void *context, const uint8_t *bytes, uint32_t size) {
  ota_receiver *r = context;
  uint32_t taken = ota_least(size, r->config->row_size - r->patch.filled);
  memcpy(r->config->ring + r->patch.filled, bytes, taken);
  r->patch.filled += taken;
  return taken;
}

static bool read_base(void *context, uint32_t offset, uint8_t *to, uint32_t size) {
  const ota_receiver_config *c = ((ota_receiver *)context)->config;
  return c->base_read != NULL && c->base_read(c->context, offset, to, size);
}

bool ota_patch_is_same(const ota_receiver *r, bool patch) {
  const ota_patch *p = &r->patch;
  if (r->sinking || !patch) return !ota_is_patch(r);
  return memcmp(&p->announced, &p->held, sizeof p->held) == 0;
}

void ota_patch_go_back(ota_receiver *r) {
  ota_patch *p = &r->patch;
  ota_session *s = &r->session;
  const ota_patch_point *point = &p->point;
  p->config = (ota_delta_config){r, read_base, take_image, r->config->page_size};
  p->used = s->next = point->stream_offset;
  p->used_crc = s->next_crc = point->stream_crc32;
  if (s->written > point->image_offset) s->erased = s->written = point->image_offset;
  s->written_crc = s->page_crc = point->image_crc32;
  p->filled = 0;
  ota_delta_sizes sizes = {p->held.base_size, s->image.size, p->held.size};
  ota_delta_point from = {point->stream_offset, point->image_offset, point->image_crc32};
  // False at the end of the image, when no data is left to decode.
  (void)ota_delta_start(&p->delta, &p->config, &sizes, &from);
}

void ota_patch_begin(ota_receiver *r, bool patch, bool over) {
  ota_patch *p = &r->patch;
  if (over) {
    p->held = p->announced;
    if (!patch) p->held.size = 0;
    memset(&p->point, 0, sizeof p->point);
    p->mismatched = false;
  }
  if (patch) ota_patch_go_back(r);
}

static void refuse(ota_receiver *r) {
  ota_record_forget(r);
  ota_session_end(r, OTA_ERROR_PATCH_REFUSED, OTA_RESULT_WRONG_STATE);
}

/// Handles a part with a wrong CRC32, or with bytes that the format does not permit. The first time,
/// the part is requested again, because its bytes may have been damaged in transfer. The second
/// time, the stream is refused.
static void mismatch(ota_receiver *r) {
  if (r->patch.mismatched) {
    refuse(r);
    return;
  }
  r->patch.mismatched = true;
  ota_patch_go_back(r);
  ota_session_went_back(r);
}

/// Whether the row has room, and no mark must be written first.
static bool may_run(const ota_receiver *r) {
  const ota_patch *p = &r->patch;
  const ota_session *s = &r->session;
  return ota_is_patch(r) && s->live && p->filled < r->config->row_size &&
         p->point.image_offset < s->image.size && r->record.step == OTA_RECORD_WHOLE &&
         p->delta.point.image_offset == p->point.image_offset;
}

bool ota_patch_run(ota_receiver *r) {
  ota_patch *p = &r->patch;
  if (!may_run(r)) return false;
  uint32_t size = r->config->ring_size - r->config->row_size;
  uint32_t position = p->used % size;
  const uint8_t *bytes = r->config->ring + r->config->row_size + position;
  uint32_t count = ota_least(r->session.next - p->used, size - position);
  uint32_t used;
  ota_delta_result result = ota_delta_run(&p->delta, bytes, count, &used);
  p->used_crc = ota_crc32(p->used_crc, bytes, used);
  p->used += used;
  if (result == OTA_DELTA_BASE_FAULT) {
    refuse(r);
  } else if (
      result == OTA_DELTA_MISMATCH || result == OTA_DELTA_REFUSED ||
      (result == OTA_DELTA_MORE && p->used == p->held.size)) {
    mismatch(r);
    return false;
  }
  if (result == OTA_DELTA_PART || result == OTA_DELTA_DONE) p->mismatched = false;
  return result == OTA_DELTA_AGAIN || (result == OTA_DELTA_MORE && p->used < r->session.next);
}

/// Appends size and CRC32 of the running image, or zeros if it cannot be the base of patches: it is
/// not readable, too large, or was found to have another CRC32. Returns whether it can be the base.
static bool append_base(ota_receiver *r) {
  const ota_image *running = &r->config->running;
  bool readable = r->config->base_read != NULL && running->size <= INT32_MAX &&
                  (r->patch.base_is_right || !r->patch.base_is_known);
  ota_answer_append(r, readable ? running->size : 0, 4);
  ota_answer_append(r, readable ? running->crc32 : 0, 4);
  return readable;
}

uint8_t ota_patch_info(ota_receiver *r) {
  ota_answer_append(r, OTA_DELTA_FORMATS, 1);
  ota_answer_append(r, OTA_DELTA_CODECS, 2);
  ota_answer_append(r, OTA_DELTA_WINDOW_BITS, 1);
  ota_answer_append(r, OTA_DELTA_WINDOW_BITS > 0 ? OTA_DELTA_LOOKAHEAD_BITS : 0, 1);
  ota_answer_append(r, r->config->page_size, 4);
  append_base(r);
  ota_answer_append(r, r->config->decode_rate, 1);
  return OTA_RESULT_DONE;
}

static uint8_t take_up(ota_receiver *r) {
  const uint8_t *q = r->operation.request + 1;
  r->patch.announced =
      (ota_stream){ota_get(q, 4), ota_get(q + 4, 4), ota_get(q + 8, 4), ota_get(q + 12, 4)};
  return OTA_RESULT_DONE;
}

uint8_t ota_patch_announce(ota_receiver *r) {
  const uint8_t *q = r->operation.request + 1;
  const ota_image *running = &r->config->running;
  uint32_t base_size = ota_get(q, 4), base_crc32 = ota_get(q + 4, 4), size = ota_get(q + 8, 4);
  r->patch.announced.size = 0;
  if (size == 0 || size > INT32_MAX || (base_size == 0 && base_crc32 != 0))
    return OTA_RESULT_MALFORMED_REQUEST;
  if (base_size == 0) return take_up(r);
  bool readable = append_base(r);
  if (!readable || base_size != running->size || base_crc32 != running->crc32)
    return OTA_RESULT_OTHER_BASE;
  r->operation.answer_size = 2;
  if (r->patch.base_is_known) return take_up(r);
  r->reading = (ota_reading){0, running->size, 0};
  r->operation.phase = OTA_PHASE_READING;
  return OTA_RESULT_LATER;
}

uint8_t ota_patch_conclude(ota_receiver *r, bool read, uint32_t found) {
  r->patch.base_is_known = true;
  r->patch.base_is_right = read && found == r->config->running.crc32;
  if (r->patch.base_is_right) return take_up(r);
  append_base(r);
  return OTA_RESULT_OTHER_BASE;
}

uint8_t ota_patch_point_told(ota_receiver *r) {
  const ota_patch *p = &r->patch;
  bool held = ota_is_patch(r);
  ota_answer_append(r, held ? p->held.size : 0, 4);
  ota_answer_append(r, held ? p->held.crc32 : 0, 4);
  ota_answer_append(r, held ? r->session.next : 0, 4);
  ota_answer_append(r, held ? p->point.image_offset : 0, 4);
  return OTA_RESULT_DONE;
}

#endif
