/// The patch decoder (docs/delta.md). Every size is unsigned and is compared with the remaining
/// bytes before its use, so no byte outside the base is read, and no byte beyond the image is
/// created.
#include "ota_delta.h"

#include <string.h>

#include "ota_delta_internal.h"
#include "ota_internal.h"

enum { SIZE_MAXIMUM = OTA_DELTA_SIZE_MAXIMUM, NONE = OTA_DELTA_NONE };
/// The field that the next decompressed byte belongs to. Bytes before FORMAT are not compressed.
enum {
  PHASE_HEADER,
  PHASE_HEAD,
  PHASE_SIZE,
  PHASE_WINDOW,
  PHASE_CODE,
  PHASE_FORMAT,
  PHASE_ORIGIN,
  PHASE_MAP_START,
  PHASE_MAP_SHIFT,
  PHASE_MAP_SEEK,
  PHASE_DIFFERENCE_SIZE,
  PHASE_DIFFERENCE,
  PHASE_EXTRA_SIZE,
  PHASE_EXTRA,
  PHASE_SEEK,
  PHASE_PART_END
};
enum { CODEC_NONE = 0, CODEC_CRLE = 2, CODEC_HEATSHRINK = 4, CODEC_RANGE = 8 };
enum { RUN_KIND, RUN_SIZE, RUN_BYTE };
/// The first byte of a patch of format 2 without its codec.
enum { FORMAT_2 = 0x40 };

#define refuse ota_delta_refuse
#define take ota_delta_take

int ota_delta_refuse(ota_delta *d) {
  d->end = OTA_DELTA_REFUSED;
  return NONE;
}

int ota_delta_take(ota_delta *d) {
  if (d->patch_left == 0) return refuse(d);
  if (d->input_size == 0) {
    d->starved = true;
    return NONE;
  }
  d->patch_left--;
  d->stream_offset++;
  d->input_size--;
  return *d->input++;
}

#if OTA_DELTA_LEVEL > 1
static bool is_mapped(const ota_delta *d) { return d->mapped; }
#else
static bool is_mapped(const ota_delta *d) {
  (void)d;
  return false;
}
#endif
#if OTA_DELTA_LEVEL > 2
static bool is_range(const ota_delta *d) { return d->codec == CODEC_RANGE; }
#else
static bool is_range(const ota_delta *d) {
  (void)d;
  return false;
}
#endif

/// Adds the bits of one byte to a number of at most 31 bits. False: the number has more bits.
static bool grow(uint32_t *number, uint8_t *shift, uint32_t bits, uint8_t count) {
  if (*shift > 30 || bits > (uint32_t)SIZE_MAXIMUM >> *shift) return false;
  *number |= bits << *shift;
  *shift = (uint8_t)(*shift + count);
  return true;
}

/// Copies up to `size` bytes of the patch.
static uint32_t fill_from_input(ota_delta *d, uint8_t *to, uint32_t size) {
  uint32_t count = ota_least(size, ota_least(d->patch_left, d->input_size));
  if (count > 0) memcpy(to, d->input, count);
  d->input += count;
  d->input_size -= count;
  d->patch_left -= count;
  d->stream_offset += count;
  if (count < size && d->patch_left == 0) refuse(d);
  else if (count < size) d->starved = true;
  return count;
}

/// Reads the start of a CRLE block with at least one byte. False: a byte is missing or wrong.
static bool start_run(ota_delta *d) {
  while (d->run_left == 0) {
    int byte = take(d);
    if (byte < 0) return false;
    if (d->run_step == RUN_KIND) {
      if (byte > 1) return refuse(d), false;
      d->run_kind = (uint8_t)byte;
      d->run_step = RUN_SIZE;
      d->run_size = d->run_shift = 0;
    } else if (d->run_step == RUN_SIZE) {
      if (!grow(&d->run_size, &d->run_shift, byte & 0x7F, 7)) return refuse(d), false;
      if (byte & 0x80) continue;
      d->run_step = d->run_kind ? RUN_BYTE : RUN_KIND;
      if (!d->run_kind) d->run_left = d->run_size;
    } else {
      d->run_byte = (uint8_t)byte;
      d->run_step = RUN_KIND;
      d->run_left = d->run_size;
    }
  }
  return true;
}

static uint32_t fill_from_runs(ota_delta *d, uint8_t *to, uint32_t size) {
  uint32_t made = 0;
  while (made < size && start_run(d)) {
    uint32_t want = ota_least(size - made, d->run_left), count = want;
    if (d->run_kind) memset(to + made, d->run_byte, want);
    else count = fill_from_input(d, to + made, want);
    d->run_left -= count;
    made += count;
    if (count < want) break;
  }
  return made;
}

#if OTA_DELTA_WINDOW_BITS > 0
/// Reads a token. Returns a literal, or 256 for a reference; NONE if a byte is missing.
static int start_token(ota_delta *d) {
  uint32_t need = 1;
  for (;;) {
    if (d->bit_count > 0)
      need = d->bits >> (d->bit_count - 1) ? 9 : 1u + d->window_bits + d->lookahead_bits;
    if (d->bit_count >= need) break;
    int more = take(d);
    if (more < 0) return more;
    d->bits = d->bits << 8 | (uint32_t)more;
    d->bit_count = (uint8_t)(d->bit_count + 8);
  }
  d->bit_count = (uint8_t)(d->bit_count - need);
  uint32_t token = d->bits >> d->bit_count;
  d->bits &= (1u << d->bit_count) - 1;
  if (need == 9 && token & 0x100) return (int)(token & 0xFF);
  d->distance = (uint16_t)((token >> d->lookahead_bits) + 1);
  d->run_left = (token & ((1u << d->lookahead_bits) - 1)) + 1;
  return 256;
}

static uint32_t fill_from_heatshrink(ota_delta *d, uint8_t *to, uint32_t size) {
  const uint32_t mask = (1u << OTA_DELTA_WINDOW_BITS) - 1;
  uint32_t made = 0, head = d->head;
  while (made < size) {
    if (d->run_left == 0) {
      int token = start_token(d);
      if (token < 0) break;
      if (token < 256) d->memory.window[head++ & mask] = to[made++] = (uint8_t)token;
      continue;
    }
    uint32_t count = ota_least(size - made, d->run_left), from = head - d->distance;
    d->run_left -= count;
    while (count-- > 0)
      d->memory.window[head++ & mask] = to[made++] = d->memory.window[from++ & mask];
  }
  d->head = (uint16_t)head;
  return made;
}
#endif

/// Decompresses up to `size` bytes. If it returns fewer, a byte is missing or `end` is set.
static uint32_t fill(ota_delta *d, uint8_t *to, uint32_t size) {
  if (d->phase < PHASE_FORMAT || d->codec == CODEC_NONE) return fill_from_input(d, to, size);
  if (d->codec == CODEC_CRLE) return fill_from_runs(d, to, size);
#if OTA_DELTA_WINDOW_BITS > 0
  return fill_from_heatshrink(d, to, size);
#else
  return refuse(d), 0;
#endif
}

/// Continues to read `number`. Returns 1 once the number is complete, 0 while bytes are missing or
/// `end` is set.
static int read_number(ota_delta *d, uint8_t field) {
#if OTA_DELTA_LEVEL > 2
  if (d->phase >= PHASE_FORMAT && is_range(d)) return ota_range_number(d, field);
#endif
  (void)field;
  for (;;) {
    uint8_t byte;
    if (fill(d, &byte, 1) == 0) return 0;
    bool first = d->shift == 0;
    if (first) {
      d->number = 0;
      d->negative = (byte & 0x40) != 0;
    }
    uint32_t bits = (uint32_t)byte & (first ? 0x3F : 0x7F);
    if (!grow(&d->number, &d->shift, bits, first ? 6 : 7)) {
      refuse(d);
      return 0;
    }
    if (!(byte & 0x80)) break;
  }
  d->shift = 0;
  return 1;
}

static bool header_is_possible(ota_delta *d) {
  uint32_t offset = ota_get(d->piece, 4);
  uint32_t size = ota_get(d->piece + 4, 4);
  uint32_t bytes = ota_get(d->piece + 8, 4);
  uint32_t stream_left = d->sizes.stream_size - d->stream_offset;
  uint32_t image_left = d->sizes.image_size - d->point.image_offset;
  bool last = size == image_left;
  if (offset != d->point.image_offset || size == 0 || size > image_left) return false;
  if (!last && size % d->config->page_size != 0) return false;
  if (bytes > stream_left || last != (bytes == stream_left)) return false;
  d->part_size = d->image_left = size;
  d->patch_left = bytes;
  d->part_crc32 = ota_get(d->piece + 12, 4);
  return true;
}

static void run_header(ota_delta *d) {
  // The header belongs to the stream and not to the patch, so `take` may consume one byte at a
  // time.
  while (d->filled < OTA_DELTA_HEADER_SIZE) {
    d->patch_left = 1;
    int byte = take(d);
    if (byte < 0) return;
    d->piece[d->filled++] = (uint8_t)byte;
  }
  d->filled = 0;
  if (!header_is_possible(d)) refuse(d);
  d->phase = PHASE_HEAD;
}

static void start_patch(ota_delta *d) {
  d->from = d->run_left = 0;
  d->run_step = RUN_KIND;
  d->empty = 0;
#if OTA_DELTA_WINDOW_BITS > 0
  d->bits = d->bit_count = 0;
  d->head = 0;
  memset(d->memory.window, 0, sizeof d->memory.window);
#endif
#if OTA_DELTA_LEVEL > 1
  d->entries = d->entry = 0;
#endif
#if OTA_DELTA_LEVEL > 2
  if (is_range(d)) ota_range_reset(d);
#endif
}

/// Whether the first byte of a patch states a format and a codec of this decoder.
static bool head_is_possible(ota_delta *d, uint8_t head) {
  d->codec = head & 15;
#if OTA_DELTA_LEVEL > 1
  d->mapped = (head & 0xF0) == FORMAT_2;
  if (d->mapped && d->codec < CODEC_HEATSHRINK) return false;
#endif
  if (!is_mapped(d) && head > CODEC_HEATSHRINK) return false;
  return OTA_DELTA_CODECS >> d->codec & 1;
}

static void run_head(ota_delta *d) {
  int byte = take(d);
  if (byte < 0) return;
  if (!head_is_possible(d, (uint8_t)byte)) refuse(d);
  start_patch(d);
  d->phase = PHASE_SIZE;
}

static void run_size(ota_delta *d) {
  if (!read_number(d, 0)) return;
  if (d->negative || d->number != d->part_size) refuse(d);
  d->phase = d->codec == CODEC_HEATSHRINK ? PHASE_WINDOW : is_range(d) ? PHASE_CODE : PHASE_FORMAT;
}

static void run_window(ota_delta *d) {
#if OTA_DELTA_WINDOW_BITS > 0
  int byte = take(d);
  if (byte < 0) return;
  d->window_bits = (uint8_t)((byte >> 4) + 4);
  d->lookahead_bits = (uint8_t)((byte & 15) + 3);
  if (d->window_bits > OTA_DELTA_WINDOW_BITS || d->lookahead_bits > OTA_DELTA_LOOKAHEAD_BITS ||
      d->lookahead_bits >= d->window_bits)
    refuse(d);
#endif
  d->phase = PHASE_FORMAT;
}

#if OTA_DELTA_LEVEL > 2
static void run_code(ota_delta *d) {
  if (ota_range_start(d)) d->phase = PHASE_FORMAT;
}
enum { FIELD_SHIFT = OTA_NUMBER_SHIFT, FIELD_START = OTA_NUMBER_START, FIELD_SEEK = OTA_NUMBER_SEEK };
#else
enum { FIELD_SHIFT, FIELD_START, FIELD_SEEK };
#endif

#if OTA_DELTA_LEVEL > 1
/// Reads the next number of the map. The first seek starts at the place of the part in the base.
static void run_map(ota_delta *d) {
  static const uint8_t fields[] = {FIELD_START, 0, FIELD_START, FIELD_SHIFT};
  if (!read_number(d, fields[d->phase - PHASE_FORMAT])) return;
  uint32_t number = d->negative ? 0 - d->number : d->number;
  if (d->phase == PHASE_FORMAT) {
    if (d->negative || d->number > OTA_DELTA_MAP_MAXIMUM) refuse(d);
    d->entries = (uint8_t)d->number;
    d->from = ota_least(d->point.image_offset, d->sizes.base_size);
    d->phase = d->entries > 0 ? PHASE_ORIGIN : PHASE_MAP_SEEK;
  } else if (d->phase == PHASE_ORIGIN) {
    d->origin = number;
    d->phase = PHASE_MAP_START;
  } else if (d->phase == PHASE_MAP_START) {
    if (d->negative) refuse(d);
    d->left = d->number;
    d->phase = PHASE_MAP_SHIFT;
  } else {
    if (!ota_delta_map_add(d, d->left, number)) refuse(d);
    d->phase = d->entry < d->entries ? PHASE_MAP_START : PHASE_MAP_SEEK;
  }
}

/// A seek of format 2, which precedes the sizes and starts after the new bytes.
static void run_map_seek(ota_delta *d) {
  if (!read_number(d, FIELD_SEEK)) return;
  uint32_t room = ota_least(d->from, d->sizes.base_size);
  if (d->negative ? d->number > d->from || d->from - d->number > d->sizes.base_size
                  : room < d->from || d->number > d->sizes.base_size - room) {
    refuse(d);
    return;
  }
  d->from = d->negative ? d->from - d->number : d->from + d->number;
  d->phase = PHASE_DIFFERENCE_SIZE;
}
#endif

static void run_format(ota_delta *d) {
  if (!read_number(d, 0)) return;
  if (d->number != 0) refuse(d);
  d->phase = PHASE_DIFFERENCE_SIZE;
}

/// Reads a size, which is limited by the rest of the part and by `limit`.
static void run_step_size(ota_delta *d, uint32_t limit) {
  if (!read_number(d, d->phase == PHASE_DIFFERENCE_SIZE ? FIELD_SEEK + 1 : FIELD_SEEK + 2)) return;
  if (d->negative || d->number > d->image_left || d->number > limit) {
    refuse(d);
    return;
  }
  d->left = d->number;
  d->image_left -= d->number;
  if (d->phase == PHASE_DIFFERENCE_SIZE) d->made = false;
  if (d->left > 0) d->made = true;
  if (is_mapped(d) && d->phase == PHASE_EXTRA_SIZE) {
    if (!d->made) refuse(d);
    d->from += d->left;
  }
  d->ready = d->filled;
  d->phase++;
}

#if OTA_DELTA_LEVEL > 1
/// The offset in the image of the next byte.
static uint32_t image_offset(const ota_delta *d) {
  return d->point.image_offset + d->part_size - d->image_left - d->left;
}
#endif

/// The number of base bytes that the next step needs at once, in addition to `filled`.
static uint32_t least_ahead(const ota_delta *d) { return is_mapped(d) ? ota_least(d->left, 4) : 1; }

#if OTA_DELTA_LEVEL > 1
/// Predicts all units of the bytes that were read, as far as they are complete.
static void predict_ahead(ota_delta *d) {
  uint32_t at = d->filled, offset = image_offset(d), from = d->from, left = d->left;
  uint8_t kind;
  while (at < d->ready && d->ready - at >= ota_least(left, 4)) {
    uint8_t size = ota_delta_predict(d, d->piece + at, from, offset, left, &kind);
    at += size;
    offset += size;
    from += size;
    left -= size;
  }
  d->ready = (uint8_t)at;
}
#endif

/// Reads bytes of the base into the piece unless enough are there. False: this was not possible;
/// `end` or `flush` states why.
static bool read_ahead(ota_delta *d) {
  uint32_t available = (uint32_t)d->ready - d->filled;
  bool whole = !is_mapped(d) || is_range(d);
  if (available >= (whole ? least_ahead(d) : 1)) return true;
  if ((uint32_t)OTA_DELTA_PIECE - d->filled < least_ahead(d)) {
    d->flush = true;
    return false;
  }
  uint32_t size = ota_least(d->left, (uint32_t)OTA_DELTA_PIECE - d->filled);
  if (!d->config->base_read(d->config->context, d->from, d->piece + d->filled, size)) {
    d->end = OTA_DELTA_BASE_FAULT;
    return false;
  }
  d->ready = (uint8_t)(d->filled + size);
#if OTA_DELTA_LEVEL > 1
  if (!whole) predict_ahead(d);
#endif
  return true;
}

static void advance(ota_delta *d, uint32_t count) {
  d->left -= count;
  d->filled = (uint8_t)(d->filled + count);
  d->budget = d->budget > count ? d->budget - count : 0;
  if (d->phase == PHASE_DIFFERENCE) d->from += count;
}

#if OTA_DELTA_LEVEL > 2
/// Decodes units until the piece or the budget ends.
static void run_units(ota_delta *d) {
  while (d->left > 0 && d->budget > 0 && (d->unit_size > 0 || read_ahead(d))) {
    uint8_t *bytes = d->piece + d->filled;
    if (d->unit_size == 0) {
      d->unit_size =
          ota_delta_predict(d, bytes, d->from, image_offset(d), d->left, &d->unit_class);
      d->unit_made = 0;
      d->unit_wrong = 2;
    }
    if (!ota_range_unit(d, bytes)) return;
    advance(d, d->unit_size);
    d->unit_size = 0;
  }
}

static void run_range_extra(ota_delta *d, uint32_t size) {
  for (; size > 0; size--) {
    int byte = ota_range_extra(d, image_offset(d));
    if (byte < 0) return;
    d->piece[d->filled] = (uint8_t)byte;
    advance(d, 1);
  }
}
#endif

/// Creates bytes of a difference or new bytes, as many as the piece and the budget permit.
static void run_bytes(ota_delta *d) {
  if (d->left == 0) {
    d->phase++;
    return;
  }
  bool difference = d->phase == PHASE_DIFFERENCE;
#if OTA_DELTA_LEVEL > 2
  if (is_range(d) && difference) {
    run_units(d);
    return;
  }
#endif
  if (difference && !read_ahead(d)) return;
  uint32_t room = (uint32_t)(difference ? d->ready : OTA_DELTA_PIECE) - d->filled;
  uint32_t size = ota_least(ota_least(d->left, d->budget), room);
  uint8_t *to = d->piece + d->filled;
#if OTA_DELTA_LEVEL > 2
  if (is_range(d)) {
    run_range_extra(d, size);
    return;
  }
#endif
  if (difference) {
    uint8_t bytes[OTA_DELTA_PIECE];
    size = fill(d, bytes, size);
    for (uint32_t i = 0; i < size; i++) to[i] = (uint8_t)(to[i] + bytes[i]);
  } else {
    size = fill(d, to, size);
  }
  advance(d, size);
}

static void run_seek(ota_delta *d) {
  if (is_mapped(d)) {
    d->phase = d->image_left == 0 ? PHASE_PART_END : PHASE_MAP_SEEK;
    return;
  }
  if (!read_number(d, 0)) return;
  if (d->image_left == 0) {
    d->phase = PHASE_PART_END;
    return;
  }
  uint32_t room = d->negative ? d->from : d->sizes.base_size - d->from;
  d->empty = d->made ? 0 : (uint8_t)(d->empty + 1);
  if (d->number > room || d->empty > OTA_DELTA_EMPTY_MAXIMUM) refuse(d);
  d->from = d->negative ? d->from - d->number : d->from + d->number;
  d->phase = PHASE_DIFFERENCE_SIZE;
}

/// Passes the bytes of the piece to `write`. False: `write` did not accept all of them.
static bool hand_out(ota_delta *d) {
  while (d->sent < d->filled) {
    const uint8_t *from = d->piece + d->sent;
    uint32_t size = (uint32_t)(d->filled - d->sent);
    uint32_t taken = ota_least(size, d->config->write(d->config->context, from, size));
    d->image_crc32 = ota_crc32(d->image_crc32, from, taken);
    d->sent = (uint8_t)(d->sent + taken);
    if (taken < size) return false;
  }
  d->sent = d->filled = d->ready = 0;
  d->flush = false;
  return true;
}

/// Checks a part whose bytes were all passed on.
static ota_delta_result end_part(ota_delta *d) {
#if OTA_DELTA_LEVEL > 2
  if (is_range(d) && !ota_range_end(d))
    return d->end == OTA_DELTA_MORE ? OTA_DELTA_MORE : (ota_delta_result)d->end;
#endif
  bool rest = d->patch_left > 0 || d->run_left > 0 || d->run_step != RUN_KIND;
#if OTA_DELTA_WINDOW_BITS > 0
  rest = rest || d->bits != 0;
#endif
  if (rest) return OTA_DELTA_REFUSED;
  if (d->image_crc32 != d->part_crc32) return OTA_DELTA_MISMATCH;
  d->point.stream_offset = d->stream_offset;
  d->point.image_offset += d->part_size;
  d->point.image_crc32 = d->image_crc32;
  d->phase = PHASE_HEADER;
  return d->point.image_offset == d->sizes.image_size ? OTA_DELTA_DONE : OTA_DELTA_PART;
}

static void run_phase(ota_delta *d) {
  switch (d->phase) {
    case PHASE_HEADER: run_header(d); break;
    case PHASE_HEAD: run_head(d); break;
    case PHASE_SIZE: run_size(d); break;
    case PHASE_WINDOW: run_window(d); break;
#if OTA_DELTA_LEVEL > 2
    case PHASE_CODE: run_code(d); break;
#endif
    case PHASE_FORMAT:
#if OTA_DELTA_LEVEL > 1
      if (is_mapped(d)) run_map(d);
      else
#endif
        run_format(d);
      break;
#if OTA_DELTA_LEVEL > 1
    case PHASE_ORIGIN:
    case PHASE_MAP_START:
    case PHASE_MAP_SHIFT: run_map(d); break;
    case PHASE_MAP_SEEK: run_map_seek(d); break;
#endif
    case PHASE_DIFFERENCE_SIZE: run_step_size(d, d->sizes.base_size - d->from); break;
    case PHASE_EXTRA_SIZE: run_step_size(d, SIZE_MAXIMUM); break;
    case PHASE_SEEK: run_seek(d); break;
    default: run_bytes(d); break;
  }
}

static ota_delta_result decode(ota_delta *d) {
  d->starved = false;
  for (d->budget = OTA_DELTA_STEPS; d->budget > 0; d->budget -= d->budget > 0) {
    if (d->end != OTA_DELTA_MORE) return (ota_delta_result)d->end;
    bool part_end = d->phase == PHASE_PART_END;
    bool full = part_end || d->flush || d->filled == OTA_DELTA_PIECE;
    if (full && !hand_out(d)) return OTA_DELTA_FULL;
    if (part_end) {
      ota_delta_result result = end_part(d);
      if (result != OTA_DELTA_PART) d->end = (uint8_t)result;
      return result;
    }
    run_phase(d);
    if (d->starved && d->end == OTA_DELTA_MORE) return OTA_DELTA_MORE;
  }
  return d->end == OTA_DELTA_MORE ? OTA_DELTA_AGAIN : (ota_delta_result)d->end;
}

bool ota_delta_start(
    ota_delta *d, const ota_delta_config *config, const ota_delta_sizes *sizes,
    const ota_delta_point *point) {
  memset(d, 0, sizeof *d);
  d->config = config;
  d->sizes = *sizes;
  d->point = *point;
  d->stream_offset = point->stream_offset;
  d->image_crc32 = point->image_crc32;
  d->end = OTA_DELTA_REFUSED;
  if (sizes->base_size > SIZE_MAXIMUM || sizes->image_size > SIZE_MAXIMUM) return false;
  if (point->image_offset >= sizes->image_size || point->stream_offset >= sizes->stream_size ||
      config->page_size == 0 || point->image_offset % config->page_size != 0)
    return false;
  d->end = OTA_DELTA_MORE;
  return true;
}

ota_delta_result ota_delta_run(
    ota_delta *d, const uint8_t *bytes, uint32_t size, uint32_t *used) {
  d->input = bytes;
  d->input_size = size;
  ota_delta_result result = decode(d);
  *used = size - d->input_size;
  d->input = NULL;
  return result;
}
