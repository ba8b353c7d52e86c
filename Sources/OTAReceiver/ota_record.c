/// The resume record. A metadata page holds a header of 32 octets and then marks, each written once
/// when the octets up to its end are in flash and read back:
///
///   header  magic, sequence, size, crc32, version, hardware id, stride, crc32 of the seven before
///   mark    crc32 of the image up to here, its complement   (8 octets, padded to the alignment)
///
/// The header with the higher sequence counts. A new record goes to the other page, header last,
/// so the power may fail at any point: the old record counts until the new one is whole. A mark
/// that the power cut is told by its halves: both have a bit 1 where programming did not get to.
#include "ota_internal.h"

enum { MAGIC = 0x3141544F, HEADER_SIZE = 32, MARK_SIZE = 8 };

static uint32_t mark_pitch(const ota_receiver_config *c) {
  return ota_round_up(MARK_SIZE, c->write_alignment);
}

bool ota_record_fits(const ota_receiver_config *c) {
  return c->page_size >= HEADER_SIZE + mark_pitch(c);
}

/// The shortest distance at which the marks of an image fit one page. It divides the page, or is
/// a multiple of it, so that every page that has a mark in it has one at its start.
static uint32_t stride_of(const ota_receiver_config *c, uint32_t image_size) {
  uint32_t marks = (c->page_size - HEADER_SIZE) / mark_pitch(c);
  uint32_t rows = (image_size + c->row_size - 1) / c->row_size;
  uint32_t page_rows = c->page_size / c->row_size;
  uint32_t stride = rows == 0 ? 1 : (rows + marks - 1) / marks;
  if (stride > page_rows) return ota_round_up(stride, page_rows) * c->row_size;
  while (page_rows % stride != 0) stride++;
  return stride * c->row_size;
}

static uint32_t mark_address(const ota_receiver *r, uint8_t page, uint32_t index) {
  return r->config->metadata_address[page] + HEADER_SIZE + index * mark_pitch(r->config);
}

/// Where in the image mark `index` stands.
static uint32_t mark_end(const ota_receiver *r, uint32_t index) {
  uint32_t size = r->session.image.size;
  return index >= size / r->record.stride ? size : (index + 1) * r->record.stride;
}

uint32_t ota_record_durable(const ota_receiver *r) {
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

/// Reads the header of `page`, and takes it for the record if it is whole and newer.
static void read_header(ota_receiver *r, uint8_t page) {
  uint8_t header[HEADER_SIZE];
  uint32_t words[HEADER_SIZE / 4];
  uint32_t address = r->config->metadata_address[page];
  if (!r->config->flash_read(r->config->context, address, header, HEADER_SIZE)) return;
  for (uint8_t i = 0; i < HEADER_SIZE / 4; i++) words[i] = ota_get(header + i * 4, 4);
  if (words[0] != MAGIC || words[7] != ota_crc32(0, header, HEADER_SIZE - 4)) return;
  if (words[1] <= r->record.sequence) return;
  r->record.sequence = words[1];
  r->record.image = (ota_image){words[2], words[3], words[4], words[5]};
  r->record.stride = words[6];
  r->record.page = page;
}

/// Finds the resume point: the last mark in line, or the start of its page if something was
/// programmed behind it.
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

void ota_record_load(ota_receiver *r) {
  memset(&r->session, 0, sizeof r->session);
  memset(&r->record, 0, sizeof r->record);
  r->record.page = 1;
  read_header(r, 0);
  read_header(r, 1);
  uint32_t size = r->record.image.size;
  if (size != 0 && size <= r->config->slot_size &&
      r->record.stride == stride_of(r->config, size)) {
    r->session.image = r->record.image;
    resume_from_marks(r);
  } else {
    r->record.stride = r->config->row_size;
  }
}

void ota_record_rewrite(ota_receiver *r, uint32_t marks) {
  r->record.image = r->session.image;
  r->record.stride = stride_of(r->config, r->session.image.size);
  r->record.marks = marks;
  r->record.copied = 0;
  r->record.step = OTA_RECORD_ERASE;
}

void ota_record_forget(ota_receiver *r) {
  memset(&r->session, 0, sizeof r->session);
  r->record.faults = 0;
  if (r->record.image.size != 0) ota_record_rewrite(r, 0);
}

/// Where what `step` writes belongs.
static uint32_t target_address(const ota_receiver *r) {
  const ota_record *record = &r->record;
  if (record->step == OTA_RECORD_WHOLE) return mark_address(r, record->page, record->marks);
  if (record->step == OTA_RECORD_COPY) return mark_address(r, record->page ^ 1, record->copied);
  return r->config->metadata_address[record->page ^ 1];
}

/// Writes `size` octets of `scratch`.
static void write_scratch(ota_receiver *r, uint32_t size) {
  ota_flash_write(r, OTA_WORK_RECORD, target_address(r), (uint8_t *)r->flash.scratch, size);
}

static void write_mark(ota_receiver *r) {
  uint8_t *mark = (uint8_t *)r->flash.scratch;
  memset(mark, 0xFF, sizeof r->flash.scratch);
  ota_put(mark, r->session.written_crc, 4);
  ota_put(mark + 4, ~r->session.written_crc, 4);
  write_scratch(r, mark_pitch(r->config));
}

static void copy_marks(ota_receiver *r) {
  const ota_record *record = &r->record;
  uint32_t pitch = mark_pitch(r->config);
  uint32_t size = ota_least(OTA_READ_STEP / pitch, record->marks - record->copied) * pitch;
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
  const uint32_t words[] = {
      MAGIC, r->record.sequence + 1, image->size, image->crc32, image->version,
      image->hardware_id, r->record.stride};
  uint8_t *header = (uint8_t *)r->flash.scratch;
  for (uint8_t i = 0; i < sizeof words / 4; i++) ota_put(header + i * 4, words[i], 4);
  ota_put(header + sizeof words, ota_crc32(0, header, sizeof words), 4);
  write_scratch(r, HEADER_SIZE);
}

bool ota_record_due(const ota_receiver *r) {
  const ota_session *s = &r->session;
  return r->record.step != OTA_RECORD_WHOLE ||
         (s->live && ota_record_durable(r) < s->written &&
          s->written == mark_end(r, r->record.marks));
}

void ota_record_start(ota_receiver *r) {
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
    // The place is spoilt; the record is written anew, on the other page.
    record->copied = 0;
    record->step = OTA_RECORD_ERASE;
    return ++record->faults <= OTA_FLASH_RETRY_MAXIMUM;
  }
  if (record->step == OTA_RECORD_WHOLE) {
    record->marks++;
    record->faults = 0;
  } else if (record->step == OTA_RECORD_HEADER) {
    record->page ^= 1;
    record->sequence++;
    record->step = OTA_RECORD_WHOLE;
  } else {
    if (record->step == OTA_RECORD_COPY) record->copied += r->flash.size / mark_pitch(r->config);
    record->step = record->copied < record->marks ? OTA_RECORD_COPY : OTA_RECORD_HEADER;
  }
  return true;
}
