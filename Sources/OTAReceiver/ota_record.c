/// The resume record. A metadata page holds a header of 32 bytes followed by marks. Each mark is
/// written once, when the bytes up to its end are in flash and read back:
///
///   header  magic, sequence, size, crc32, version, hardware id, stride, crc32 of the seven before
///   mark    crc32 of the image up to here, its complement   (8 bytes, padded to the alignment)
///
/// The record of a patch session has another magic, four more words (base size and crc32, stream
/// size and crc32) before the last, and a mark for each complete part:
///
///   mark    stream offset, crc32 of the stream up to there, image offset, crc32 of the image,
///           crc32 of these four
///
/// A header of size 0 states that no session is held. Its crc32 field then holds the number of
/// bytes of the slot that are erased: all, or 0.
///
/// The valid header with the higher sequence number counts. A new record is written to the other
/// page, header last, so power may fail at any point: the old record counts until the new record is
/// complete. The two halves of a mark expose an interrupted write: a bit that was not programmed is
/// 1 in both halves.
#include "ota_internal.h"

enum { MAGIC = 0x3141544F, HEADER_SIZE = 32, MARK_SIZE = 8 };
enum { PATCH_MAGIC = 0x5041544F, PATCH_HEADER_SIZE = 48, PATCH_MARK_SIZE = 20 };
enum { HEADER_MAXIMUM = OTA_PATCHES ? PATCH_HEADER_SIZE : HEADER_SIZE };

static uint32_t mark_pitch(const ota_receiver_config *c) {
  return ota_round_up(MARK_SIZE, c->write_alignment);
}

#if OTA_PATCHES
static uint32_t patch_mark_pitch(const ota_receiver_config *c) {
  return ota_round_up(PATCH_MARK_SIZE, c->write_alignment);
}

/// The number of marks that fit one page. When the page is full, the last mark is copied to a new
/// record.
static uint32_t patch_marks(const ota_receiver_config *c) {
  return (c->page_size - PATCH_HEADER_SIZE) / patch_mark_pitch(c);
}

static uint32_t patch_mark_address(const ota_receiver *r, uint8_t page, uint32_t index) {
  return r->config->metadata_address[page] + PATCH_HEADER_SIZE +
         index * patch_mark_pitch(r->config);
}
#endif

bool ota_record_fits(const ota_receiver_config *c) {
#if OTA_PATCHES
  if (c->patches && (c->page_size < PATCH_HEADER_SIZE || patch_marks(c) < 2)) return false;
#endif
  return c->page_size >= HEADER_SIZE + mark_pitch(c);
}

/// The shortest distance of marks at which all marks of an image fit one page. The distance divides
/// the page size or is a multiple of it, so every page that contains a mark has a mark at its
/// start.
static uint32_t stride_of(const ota_receiver_config *c, uint32_t image_size) {
  uint32_t marks = (c->page_size - HEADER_SIZE) / mark_pitch(c);
  uint32_t rows = (image_size + c->row_size - 1) / c->row_size;
  uint32_t page_rows = c->page_size / c->row_size;
  uint32_t stride = rows == 0 ? 1 : (rows + marks - 1) / marks;
  // The rows of a page that is compared are durable only together.
  if (stride > page_rows || c->page_buffer != NULL)
    return ota_round_up(stride, page_rows) * c->row_size;
  while (page_rows % stride != 0) stride++;
  return stride * c->row_size;
}

static uint32_t mark_address(const ota_receiver *r, uint8_t page, uint32_t index) {
  return r->config->metadata_address[page] + HEADER_SIZE + index * mark_pitch(r->config);
}

/// The image offset of mark `index`.
static uint32_t mark_end(const ota_receiver *r, uint32_t index) {
  uint32_t size = r->session.image.size;
  return index >= size / r->record.stride ? size : (index + 1) * r->record.stride;
}

uint32_t ota_record_durable(const ota_receiver *r) {
#if OTA_PATCHES
  if (ota_is_patch(r)) return r->patch.point.image_offset;
#endif
  return r->record.marks == 0 ? 0 : mark_end(r, r->record.marks - 1);
}

bool ota_mark_read(const ota_receiver *r, uint32_t marks, uint32_t *crc) {
  uint8_t mark[MARK_SIZE];
  *crc = 0;
  if (marks == 0) return true;
  uint32_t address = mark_address(r, r->record.page, marks - 1);
  if (!r->config->flash_read(r->config->context, address, mark, MARK_SIZE)) return false;
  *crc = ota_get(mark, 4);
  return *crc == (uint32_t)~ota_get(mark + 4, 4);
}

static uint32_t header_size(uint32_t magic) {
  return OTA_PATCHES && magic == PATCH_MAGIC ? PATCH_HEADER_SIZE : HEADER_SIZE;
}

/// Reads the header of `page`, and uses it as the record if it is valid and newer.
static void read_header(ota_receiver *r, uint8_t page) {
  uint8_t header[HEADER_MAXIMUM] = {0};
  uint32_t words[HEADER_MAXIMUM / 4];
  uint32_t address = r->config->metadata_address[page];
  uint32_t read = ota_least(HEADER_MAXIMUM, r->config->page_size);
  if (!r->config->flash_read(r->config->context, address, header, read)) return;
  for (uint8_t i = 0; i < HEADER_MAXIMUM / 4; i++) words[i] = ota_get(header + i * 4, 4);
  uint32_t size = header_size(words[0]);
  if (size == HEADER_SIZE && words[0] != MAGIC) return;
  if (words[size / 4 - 1] != ota_crc32(0, header, size - 4)) return;
  if (words[1] <= r->record.sequence) return;
  r->record.sequence = words[1];
  r->record.image = (ota_image){words[2], words[3], words[4], words[5]};
  r->record.stride = words[6];
  r->record.page = page;
#if OTA_PATCHES
  memset(&r->patch.held, 0, sizeof r->patch.held);
  if (size == PATCH_HEADER_SIZE) memcpy(&r->patch.held, words + 7, sizeof r->patch.held);
#endif
}

/// Finds the resume point: the last of the consecutive valid marks. If bytes after the mark are
/// programmed, the resume point is the start of the page that contains the mark.
static void resume_from_marks(ota_receiver *r) {
  ota_session *s = &r->session;
  ota_record *record = &r->record;
  uint32_t page_size = r->config->page_size;
  uint32_t crc, page_crc;
  while (ota_record_durable(r) < s->image.size && ota_mark_read(r, record->marks + 1, &crc))
    record->marks++;
  uint32_t offset = ota_record_durable(r);
  uint32_t page_end = ota_round_up(offset, page_size);
  if (offset < s->image.size &&
      !ota_flash_equals(r, r->config->slot_address + offset, NULL, page_end - offset)) {
    offset = page_end = ota_round_down(offset, page_size);
    record->marks = offset / record->stride;
  }
  uint32_t page_marks = ota_round_down(offset, page_size) / record->stride;
  if (!ota_mark_read(r, page_marks, &page_crc) || !ota_mark_read(r, record->marks, &crc)) {
    record->marks = 0;
    return;
  }
  s->next = s->written = offset;
  s->next_crc = s->written_crc = crc;
  s->page_crc = page_crc;
  s->erased = page_end;
}

#if OTA_PATCHES
/// Reads a mark of a patch session. False: the mark is invalid.
static bool read_patch_mark(const ota_receiver *r, uint32_t index, ota_patch_point *point) {
  uint8_t mark[PATCH_MARK_SIZE];
  uint32_t address = patch_mark_address(r, r->record.page, index);
  if (!r->config->flash_read(r->config->context, address, mark, PATCH_MARK_SIZE)) return false;
  if (ota_get(mark + 16, 4) != ota_crc32(0, mark, 16)) return false;
  *point = (ota_patch_point){
      ota_get(mark, 4), ota_get(mark + 4, 4), ota_get(mark + 8, 4), ota_get(mark + 12, 4)};
  return point->stream_offset <= r->patch.held.size &&
         point->image_offset <= r->session.image.size;
}

static void resume_patch(ota_receiver *r) {
  ota_session *s = &r->session;
  ota_patch *p = &r->patch;
  while (r->record.marks < patch_marks(r->config) &&
         read_patch_mark(r, r->record.marks, &p->point))
    r->record.marks++;
  s->next = p->used = p->point.stream_offset;
  s->next_crc = p->point.stream_crc32;
  s->written = p->point.image_offset;
  s->written_crc = s->page_crc = p->point.image_crc32;
  s->erased = ota_round_up(s->written, r->config->page_size);
}
#endif

void ota_record_load(ota_receiver *r) {
  memset(&r->session, 0, sizeof r->session);
  memset(&r->record, 0, sizeof r->record);
#if OTA_PATCHES
  memset(&r->patch.held, 0, sizeof r->patch.held);
  memset(&r->patch.point, 0, sizeof r->patch.point);
#endif
  r->record.page = 1;
  read_header(r, 0);
  read_header(r, 1);
  const ota_image *image = &r->record.image;
  uint32_t slot_size = r->config->slot_size;
  bool fits = image->size != 0 && image->size <= slot_size;
#if OTA_ERASE_AHEAD
  r->blank = image->size == 0 && image->crc32 == slot_size ? slot_size : 0;
#endif
#if OTA_PATCHES
  if (!fits || !r->config->patches) {
    fits = fits && !ota_is_patch(r);
    r->patch.held.size = 0;
  }
  if (ota_is_patch(r)) {
    r->session.image = *image;
    resume_patch(r);
    return;
  }
#endif
  if (fits && r->record.stride == stride_of(r->config, image->size)) {
    r->session.image = *image;
    resume_from_marks(r);
  } else {
    r->record.stride = r->config->row_size;
  }
}

#if OTA_ERASE_AHEAD
bool ota_record_wants_blank(const ota_receiver *r) {
  return r->record.image.size != 0 || r->record.image.crc32 != r->config->slot_size;
}
#endif

void ota_record_rewrite(ota_receiver *r, uint32_t marks) {
  r->record.image = r->session.image;
#if OTA_ERASE_AHEAD
  if (r->session.image.size == 0) r->record.image.crc32 = r->blank;
#endif
  r->record.stride = stride_of(r->config, r->session.image.size);
  r->record.marks = marks;
  r->record.copied = 0;
  r->record.step = OTA_RECORD_ERASE;
}

void ota_record_forget(ota_receiver *r) {
  bool is_written = r->record.image.size != 0 || r->record.image.crc32 != 0;
  bool interrupted = r->session.interrupted;
  memset(&r->session, 0, sizeof r->session);
  r->session.interrupted = interrupted;
#if OTA_PATCHES
  r->patch.held.size = 0;
#endif
#if OTA_ERASE_AHEAD
  r->blank = 0;
#endif
  r->record.faults = 0;
  if (is_written) ota_record_rewrite(r, 0);
}

static uint32_t pitch(const ota_receiver *r) {
#if OTA_PATCHES
  if (ota_is_patch(r)) return patch_mark_pitch(r->config);
#endif
  return mark_pitch(r->config);
}

/// The address that the current step writes to.
static uint32_t target_address(const ota_receiver *r) {
  const ota_record *record = &r->record;
  bool whole = record->step == OTA_RECORD_WHOLE;
  uint8_t page = whole ? record->page : record->page ^ 1;
  uint32_t index = whole ? record->marks : record->copied;
  if (!whole && record->step != OTA_RECORD_COPY) return r->config->metadata_address[page];
#if OTA_PATCHES
  if (ota_is_patch(r)) return patch_mark_address(r, page, index);
#endif
  return mark_address(r, page, index);
}

/// Writes `size` bytes of `scratch`.
static void write_scratch(ota_receiver *r, uint32_t size) {
  ota_flash_write(r, OTA_WORK_RECORD, target_address(r), (uint8_t *)r->flash.scratch, size);
}

#if OTA_PATCHES
static void write_patch_mark(ota_receiver *r, const ota_patch_point *point) {
  uint8_t *mark = (uint8_t *)r->flash.scratch;
  memset(mark, 0xFF, sizeof r->flash.scratch);
  ota_put(mark, point->stream_offset, 4);
  ota_put(mark + 4, point->stream_crc32, 4);
  ota_put(mark + 8, point->image_offset, 4);
  ota_put(mark + 12, point->image_crc32, 4);
  ota_put(mark + 16, ota_crc32(0, mark, 16), 4);
  write_scratch(r, patch_mark_pitch(r->config));
}

/// The end of the last part that the decoder completed, as a mark stores it.
static ota_patch_point made_point(const ota_receiver *r) {
  const ota_delta_point *made = &r->patch.delta.point;
  return (ota_patch_point){
      made->stream_offset, r->patch.used_crc, made->image_offset, made->image_crc32};
}
#endif

static void write_mark(ota_receiver *r) {
#if OTA_PATCHES
  if (ota_is_patch(r)) {
    ota_patch_point point = made_point(r);
    write_patch_mark(r, &point);
    return;
  }
#endif
  uint8_t *mark = (uint8_t *)r->flash.scratch;
  memset(mark, 0xFF, sizeof r->flash.scratch);
  ota_put(mark, r->session.written_crc, 4);
  ota_put(mark + 4, ~r->session.written_crc, 4);
  write_scratch(r, mark_pitch(r->config));
}

static void copy_marks(ota_receiver *r) {
#if OTA_PATCHES
  if (ota_is_patch(r)) {
    write_patch_mark(r, &r->patch.point);
    return;
  }
#endif
  const ota_record *record = &r->record;
  uint32_t size = ota_least(OTA_READ_STEP / pitch(r), record->marks - record->copied) * pitch(r);
  uint32_t from = mark_address(r, record->page, record->copied);
  if (r->config->flash_read(r->config->context, from, (uint8_t *)r->flash.scratch, size)) {
    write_scratch(r, size);
  } else {
    r->flash.work = OTA_WORK_RECORD;
    r->flash.outcome = OTA_FLASH_FAILED;
  }
}

static void write_header(ota_receiver *r) {
  const ota_image *image = &r->record.image;
  uint32_t words[PATCH_HEADER_SIZE / 4 - 1] = {
      MAGIC, r->record.sequence + 1, image->size, image->crc32, image->version,
      image->hardware_id, r->record.stride};
  uint8_t *header = (uint8_t *)r->flash.scratch;
#if OTA_PATCHES
  if (ota_is_patch(r)) {
    words[0] = PATCH_MAGIC;
    memcpy(words + 7, &r->patch.held, sizeof r->patch.held);
  }
#endif
  uint32_t size = header_size(words[0]);
  for (uint8_t i = 0; i < size / 4 - 1; i++) ota_put(header + i * 4, words[i], 4);
  ota_put(header + size - 4, ota_crc32(0, header, size - 4), 4);
  write_scratch(r, size);
}

bool ota_record_due(const ota_receiver *r) {
  const ota_session *s = &r->session;
  if (r->record.step != OTA_RECORD_WHOLE) return true;
#if OTA_PATCHES
  if (ota_is_patch(r))
    return s->live && r->patch.delta.point.image_offset > r->patch.point.image_offset &&
           s->written == r->patch.delta.point.image_offset;
#endif
  // The rows of a page that may still be erased are not durable.
  bool is_decided = s->written <= s->erased && s->saved == 0;
  return s->live && is_decided && ota_record_durable(r) < s->written &&
         s->written == mark_end(r, r->record.marks);
}

void ota_record_start(ota_receiver *r) {
#if OTA_PATCHES
  // The page has no room for another mark.
  if (ota_is_patch(r) && r->record.step == OTA_RECORD_WHOLE &&
      r->record.marks == patch_marks(r->config))
    ota_record_rewrite(r, 1);
#endif
  uint8_t step = r->record.step;
  if (step == OTA_RECORD_WHOLE) write_mark(r);
  if (step == OTA_RECORD_ERASE) ota_flash_erase(r, OTA_WORK_RECORD, target_address(r));
  if (step == OTA_RECORD_COPY) copy_marks(r);
  if (step == OTA_RECORD_HEADER) write_header(r);
}

bool ota_record_finish(ota_receiver *r, bool ok) {
  ota_record *record = &r->record;
  const uint8_t *written = (const uint8_t *)r->flash.scratch;
  if (ok && record->step != OTA_RECORD_ERASE)
    ok = ota_flash_equals(r, target_address(r), written, r->flash.size);
  if (!ok) {
    // This location is unusable, so the record is written again, to the other page.
#if OTA_PATCHES
    if (ota_is_patch(r)) record->marks = r->patch.point.image_offset > 0;
#endif
    record->copied = 0;
    record->step = OTA_RECORD_ERASE;
    return ++record->faults <= OTA_FLASH_RETRY_MAXIMUM;
  }
  if (record->step == OTA_RECORD_WHOLE) {
    record->marks++;
    record->faults = 0;
#if OTA_PATCHES
    if (ota_is_patch(r)) r->patch.point = made_point(r);
#endif
  } else if (record->step == OTA_RECORD_HEADER) {
    record->page ^= 1;
    record->sequence++;
    record->step = OTA_RECORD_WHOLE;
  } else {
    if (record->step == OTA_RECORD_COPY) record->copied += r->flash.size / pitch(r);
    record->step = record->copied < record->marks ? OTA_RECORD_COPY : OTA_RECORD_HEADER;
  }
  return true;
}
