/// The patch decoder (docs/delta.md). Every size is unsigned and is compared with the remaining
/// bytes before its use, so no byte outside the base is read, and no byte beyond the image is
/// created.
#include "ota_delta.h"

#include <stddef.h>
#include <string.h>

#include "ota_delta_internal.h"
#include "ota_internal.h"

#define refuse ota_delta_refuse
#define take ota_delta_take

static bool header_is_possible(ota_delta *d) {
  uint32_t size = d->header[1], bytes = d->header[2];
  uint32_t stream_left = d->sizes.stream_size - d->stream_offset;
  uint32_t image_left = d->sizes.image_size - d->point.image_offset;
  d->image_left = size;
  d->patch_left = bytes;
  if (d->header[0] != d->point.image_offset || size == 0) return false;
  if (size == image_left) return bytes == stream_left;
  return size < image_left && bytes < stream_left && size % d->config->page_size == 0;
}

static void run_header(ota_delta *d) {
  // The header belongs to the stream and not to the patch, so `take` may consume one byte at a
  // time.
  for (; d->filled < OTA_DELTA_HEADER_SIZE; d->filled++) {
    d->patch_left = 1;
    int byte = take(d);
    if (byte < 0) return;
    uint32_t *word = &d->header[d->filled / 4];
    *word = *word >> 8 | (uint32_t)byte << 24;
  }
  if (!header_is_possible(d)) refuse(d);
  d->phase = PHASE_HEAD;
}

/// Whether the first byte of a patch states a format and a codec of this decoder.
static bool head_is_possible(ota_delta *d, uint32_t head) {
  uint32_t codecs = head < 16 ? 1 << CODEC_NONE | 1 << CODEC_CRLE | 1 << CODEC_HEATSHRINK : 0;
  d->codec = head & 15;
#if OTA_DELTA_LEVEL > 1
  d->mapped = head >> 4 == FORMAT_2 >> 4;
  if (d->mapped) codecs = 1 << CODEC_HEATSHRINK | 1 << CODEC_RANGE;
#endif
  return OTA_DELTA_CODECS & codecs & 1u << d->codec;
}

static void run_head(ota_delta *d) {
  int byte = take(d);
  if (byte < 0) return;
  memset(d, 0, offsetof(ota_delta, input));
  memset(&d->memory, 0, sizeof d->memory);
  d->run_left = UINT32_MAX;
  d->phase = PHASE_SIZE;
  if (!head_is_possible(d, (uint32_t)byte)) refuse(d);
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

static void run_size(ota_delta *d) {
  if (d->number != d->image_left) refuse(d);
  if (d->codec != CODEC_NONE) d->run_left = 0;
  d->phase = d->codec == CODEC_HEATSHRINK ? PHASE_WINDOW
             : ota_delta_is_range(d)      ? PHASE_CODE
                                          : PHASE_FORMAT;
}

/// Uses the size of a difference or of extra bytes, which is limited by the rest of the part.
static void run_step_size(ota_delta *d) {
  bool difference = d->phase == PHASE_DIFFERENCE_SIZE;
  uint32_t size = d->number;
  d->made = size > 0 || (!difference && d->made);
  d->left = size;
  if (size > d->image_left || (difference && size > d->sizes.base_size - d->from)) refuse(d);
  d->image_left -= size;
  if (ota_delta_is_mapped(d) && !difference) {
    if (!d->made) refuse(d);
    d->from += size;
  }
  d->ready = d->filled;
  d->phase++;
}

/// Moves to another place of the base; the end of a part has no such place.
static void run_seek(ota_delta *d) {
  uint32_t to = d->negative ? d->from - d->number : d->from + d->number;
  if (d->image_left == 0) {
    d->phase = PHASE_PART_END;
    return;
  }
  d->empty = d->made ? 0 : (uint8_t)(d->empty + 1);
  if (to > d->sizes.base_size || (!d->negative && to < d->from) ||
      d->empty > OTA_DELTA_EMPTY_MAXIMUM)
    refuse(d);
  d->from = to;
  d->phase = PHASE_DIFFERENCE_SIZE;
}

#if OTA_DELTA_LEVEL > 2
/// Reads the first four bytes of the range coder.
static void run_code(ota_delta *d) {
  for (; d->range != UINT32_MAX; d->range = d->range << 8 | 0xFF) {
    int byte = take(d);
    if (byte < 0) return;
    d->code = d->code << 8 | (uint32_t)byte;
  }
  d->phase = PHASE_FORMAT;
}
#endif

static void run_number(ota_delta *d) {
  // In format 2, the seek precedes the sizes.
  bool end = ota_delta_is_mapped(d) && d->phase == PHASE_SEEK && d->image_left == 0;
  if (!end && !ota_delta_read_number(d)) return;
  if (d->negative && !((OTA_PHASES_SIGNED | 1 << PHASE_FORMAT) >> d->phase & 1)) refuse(d);
  switch (d->phase) {
    case PHASE_SIZE: run_size(d); break;
    case PHASE_DIFFERENCE_SIZE:
    case PHASE_EXTRA_SIZE: run_step_size(d); break;
    case PHASE_SEEK: run_seek(d); break;
    default:
#if OTA_DELTA_LEVEL > 1
      if (d->mapped) {
        ota_delta_run_map(d);
        return;
      }
#endif
      if (d->number != 0) refuse(d);
      d->phase = PHASE_DIFFERENCE_SIZE;
  }
}

#if OTA_DELTA_LEVEL > 1
/// The offset in the image of the next byte.
static uint32_t image_offset(const ota_delta *d) {
  return d->header[0] + d->header[1] - d->image_left - d->left;
}
#endif

/// Reads bytes of the base into the piece unless some are there. False: this was not possible;
/// `end` or `flush` states why.
static bool read_ahead(ota_delta *d) {
  if (d->ready > d->filled) return true;
  uint32_t room = (uint32_t)OTA_DELTA_PIECE - d->filled, size = ota_least(d->left, room);
  if (ota_delta_is_mapped(d) && room < ota_least(d->left, 4)) {
    d->flush = true;
    return false;
  }
  if (!d->config->base_read(d->config->context, d->from, d->piece + d->filled, size)) {
    d->end = OTA_DELTA_BASE_FAULT;
    return false;
  }
  d->ready = (uint8_t)(d->filled + size);
#if OTA_DELTA_LEVEL > 1
  if (d->mapped) ota_delta_predict(d, image_offset(d));
#endif
  return true;
}

/// Creates bytes of a difference or new bytes, as many as the piece and the budget permit.
static void run_bytes(ota_delta *d) {
  if (d->left == 0) {
    d->phase++;
    return;
  }
  bool difference = d->phase == PHASE_DIFFERENCE;
  if (difference && !read_ahead(d)) return;
  uint32_t room = (uint32_t)(difference ? d->ready : OTA_DELTA_PIECE) - d->filled;
  uint32_t size = ota_least(ota_least(d->left, d->budget), room);
  uint8_t *to = d->piece + d->filled;
#if OTA_DELTA_LEVEL > 2
  if (ota_delta_is_range(d)) {
    size = ota_range_fill(d, size, image_offset(d));
  } else
#endif
  if (difference) {
    uint8_t bytes[OTA_DELTA_PIECE];
    size = ota_delta_fill(d, bytes, size);
    for (uint32_t i = 0; i < size; i++) to[i] = (uint8_t)(to[i] + bytes[i]);
  } else {
    size = ota_delta_fill(d, to, size);
  }
  d->left -= size;
  d->budget -= size;
  d->filled = (uint8_t)(d->filled + size);
  if (difference) d->from += size;
}

/// Passes the bytes of the piece to `write`. False: `write` did not accept all of them.
static bool hand_out(ota_delta *d) {
  const uint8_t *from = d->piece + d->sent;
  uint32_t size = (uint32_t)(d->filled - d->sent);
  if (size > 0) {
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
  if (ota_delta_is_range(d) && !ota_range_end(d)) return (ota_delta_result)d->end;
#endif
  bool rest = d->patch_left > 0 || d->run_step != RUN_KIND;
  rest = rest || (d->run_left > 0 && d->codec != CODEC_NONE);
#if OTA_DELTA_WINDOW_BITS > 0
  rest = rest || d->bits != 0;
#endif
  if (rest) return OTA_DELTA_REFUSED;
  if (d->image_crc32 != d->header[3]) return OTA_DELTA_MISMATCH;
  d->point.stream_offset = d->stream_offset;
  d->point.image_offset += d->header[1];
  d->point.image_crc32 = d->image_crc32;
  d->phase = PHASE_HEADER;
  return d->point.image_offset == d->sizes.image_size ? OTA_DELTA_DONE : OTA_DELTA_PART;
}

static void run_phase(ota_delta *d) {
  if (OTA_PHASES_NUMBER >> d->phase & 1) {
    run_number(d);
    return;
  }
  switch (d->phase) {
    case PHASE_HEADER: run_header(d); break;
    case PHASE_HEAD: run_head(d); break;
    case PHASE_WINDOW: run_window(d); break;
#if OTA_DELTA_LEVEL > 2
    case PHASE_CODE: run_code(d); break;
#endif
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
  if (sizes->base_size > OTA_DELTA_SIZE_MAXIMUM || sizes->image_size > OTA_DELTA_SIZE_MAXIMUM) return false;
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
