/// The patch decoder (docs/delta.md). Every size is unsigned and is compared with the remaining
/// bytes before its use, so no byte outside the base is read, and no byte beyond the image is
/// created.
#include "ota_delta.h"

#include <string.h>

#include "ota_delta_internal.h"
#include "ota_internal.h"

enum { SIZE_MAXIMUM = OTA_DELTA_SIZE_MAXIMUM };
#define refuse ota_delta_refuse
#define take ota_delta_take

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
  if (ota_delta_is_range(d)) ota_range_reset(d);
#endif
}

/// Whether the first byte of a patch states a format and a codec of this decoder.
static bool head_is_possible(ota_delta *d, uint8_t head) {
  d->codec = head & 15;
#if OTA_DELTA_LEVEL > 1
  d->mapped = (head & 0xF0) == FORMAT_2;
  if (d->mapped && d->codec < CODEC_HEATSHRINK) return false;
#endif
  if (!ota_delta_is_mapped(d) && head > CODEC_HEATSHRINK) return false;
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
  if (!ota_delta_read_number(d, 0)) return;
  if (d->negative || d->number != d->part_size) refuse(d);
  d->phase = d->codec == CODEC_HEATSHRINK ? PHASE_WINDOW
             : ota_delta_is_range(d)      ? PHASE_CODE
                                          : PHASE_FORMAT;
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
#endif

static void run_format(ota_delta *d) {
  if (!ota_delta_read_number(d, 0)) return;
  if (d->number != 0) refuse(d);
  d->phase = PHASE_DIFFERENCE_SIZE;
}

/// Reads a size, which is limited by the rest of the part and by `limit`.
static void run_step_size(ota_delta *d, uint32_t limit) {
  if (!ota_delta_read_number(d, d->phase == PHASE_DIFFERENCE_SIZE ? OTA_NUMBER_DIFFERENCE : OTA_NUMBER_EXTRA)) return;
  if (d->negative || d->number > d->image_left || d->number > limit) {
    refuse(d);
    return;
  }
  d->left = d->number;
  d->image_left -= d->number;
  if (d->phase == PHASE_DIFFERENCE_SIZE) d->made = false;
  if (d->left > 0) d->made = true;
  if (ota_delta_is_mapped(d) && d->phase == PHASE_EXTRA_SIZE) {
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
static uint32_t least_ahead(const ota_delta *d) { return ota_delta_is_mapped(d) ? ota_least(d->left, 4) : 1; }

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
  bool whole = !ota_delta_is_mapped(d) || ota_delta_is_range(d);
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
  if (ota_delta_is_range(d) && difference) {
    run_units(d);
    return;
  }
#endif
  if (difference && !read_ahead(d)) return;
  uint32_t room = (uint32_t)(difference ? d->ready : OTA_DELTA_PIECE) - d->filled;
  uint32_t size = ota_least(ota_least(d->left, d->budget), room);
  uint8_t *to = d->piece + d->filled;
#if OTA_DELTA_LEVEL > 2
  if (ota_delta_is_range(d)) {
    run_range_extra(d, size);
    return;
  }
#endif
  if (difference) {
    uint8_t bytes[OTA_DELTA_PIECE];
    size = ota_delta_fill(d, bytes, size);
    for (uint32_t i = 0; i < size; i++) to[i] = (uint8_t)(to[i] + bytes[i]);
  } else {
    size = ota_delta_fill(d, to, size);
  }
  advance(d, size);
}

static void run_seek(ota_delta *d) {
  if (ota_delta_is_mapped(d)) {
    d->phase = d->image_left == 0 ? PHASE_PART_END : PHASE_MAP_SEEK;
    return;
  }
  if (!ota_delta_read_number(d, 0)) return;
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
  if (ota_delta_is_range(d) && !ota_range_end(d))
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
      if (ota_delta_is_mapped(d)) ota_delta_run_map(d);
      else
#endif
        run_format(d);
      break;
#if OTA_DELTA_LEVEL > 1
    case PHASE_ORIGIN:
    case PHASE_MAP_START:
    case PHASE_MAP_SHIFT: ota_delta_run_map(d); break;
    case PHASE_MAP_SEEK: ota_delta_run_seek(d); break;
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
