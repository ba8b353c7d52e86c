/// The patch decoder (docs/delta.md). Every size is unsigned and is compared with the remaining
/// bytes before its use, so no byte outside the base is read, and no byte beyond the image is
/// created.
#include "ota_delta.h"

#include <string.h>

#include "ota_internal.h"

enum { SIZE_MAXIMUM = 0x7FFFFFFF };
/// Returned instead of a byte: no byte is available yet, or `end` states why decoding has ended.
enum { NONE = -1 };
/// The field that the next decompressed byte belongs to. Bytes before FORMAT are not compressed.
enum {
  PHASE_HEADER,
  PHASE_HEAD,
  PHASE_SIZE,
  PHASE_WINDOW,
  PHASE_FORMAT,
  PHASE_DIFFERENCE_SIZE,
  PHASE_DIFFERENCE,
  PHASE_EXTRA_SIZE,
  PHASE_EXTRA,
  PHASE_SEEK,
  PHASE_PART_END
};
enum { CODEC_NONE = 0, CODEC_CRLE = 2, CODEC_HEATSHRINK = 4 };
enum { RUN_KIND, RUN_SIZE, RUN_BYTE };

static int refuse(ota_delta *d) {
  d->end = OTA_DELTA_REFUSED;
  return NONE;
}

static int take(ota_delta *d) {
  if (d->patch_left == 0) return refuse(d);
  if (d->input_size == 0) return NONE;
  d->patch_left--;
  d->stream_offset++;
  d->input_size--;
  return *d->input++;
}

/// Adds the bits of one byte to a number of at most 31 bits. False: the number has more bits.
static bool grow(uint32_t *number, uint8_t *shift, uint32_t bits, uint8_t count) {
  if (*shift > 30 || bits > (uint32_t)SIZE_MAXIMUM >> *shift) return false;
  *number |= bits << *shift;
  *shift = (uint8_t)(*shift + count);
  return true;
}

static int next_of_runs(ota_delta *d) {
  while (d->run_left == 0) {
    int byte = take(d);
    if (byte < 0) return byte;
    if (d->run_step == RUN_KIND) {
      if (byte > 1) return refuse(d);
      d->run_kind = (uint8_t)byte;
      d->run_step = RUN_SIZE;
      d->run_size = d->run_shift = 0;
    } else if (d->run_step == RUN_SIZE) {
      if (!grow(&d->run_size, &d->run_shift, byte & 0x7F, 7)) return refuse(d);
      if (byte & 0x80) continue;
      d->run_step = d->run_kind ? RUN_BYTE : RUN_KIND;
      if (!d->run_kind) d->run_left = d->run_size;
    } else {
      d->run_byte = (uint8_t)byte;
      d->run_step = RUN_KIND;
      d->run_left = d->run_size;
    }
  }
  int byte = d->run_kind ? d->run_byte : take(d);
  if (byte >= 0) d->run_left--;
  return byte;
}

#if OTA_DELTA_WINDOW_BITS > 0
static int next_of_heatshrink(ota_delta *d) {
  const uint32_t mask = (1u << OTA_DELTA_WINDOW_BITS) - 1;
  uint8_t byte;
  if (d->run_left == 0) {
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
    if (need == 9 && token & 0x100) {
      byte = (uint8_t)token;
      d->window[d->head++ & mask] = byte;
      return byte;
    }
    d->distance = (uint16_t)((token >> d->lookahead_bits) + 1);
    d->run_left = (token & ((1u << d->lookahead_bits) - 1)) + 1;
  }
  d->run_left--;
  byte = d->window[(uint32_t)(d->head - d->distance) & mask];
  d->window[d->head++ & mask] = byte;
  return byte;
}
#endif

/// Returns the next decompressed byte of the patch, or NONE.
static int next(ota_delta *d) {
  if (d->phase < PHASE_FORMAT || d->codec == CODEC_NONE) return take(d);
  if (d->codec == CODEC_CRLE) return next_of_runs(d);
#if OTA_DELTA_WINDOW_BITS > 0
  return next_of_heatshrink(d);
#else
  return refuse(d);
#endif
}

/// Continues to read `number`. Returns 1 once the number is complete, 0 while bytes are missing or
/// `end` is set.
static int read_number(ota_delta *d) {
  for (;;) {
    int byte = next(d);
    if (byte < 0) return 0;
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
  memset(d->window, 0, sizeof d->window);
#endif
}

static void run_head(ota_delta *d) {
  int byte = take(d);
  if (byte < 0) return;
  start_patch(d);
  d->codec = (uint8_t)byte;
  d->phase = PHASE_SIZE;
  if (byte > 15 || !(OTA_DELTA_CODECS >> byte & 1)) refuse(d);
}

static void run_size(ota_delta *d) {
  if (!read_number(d)) return;
  if (d->negative || d->number != d->part_size) refuse(d);
  d->phase = d->codec == CODEC_HEATSHRINK ? PHASE_WINDOW : PHASE_FORMAT;
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

static void run_format(ota_delta *d) {
  if (!read_number(d)) return;
  if (d->number != 0) refuse(d);
  d->phase = PHASE_DIFFERENCE_SIZE;
}

/// Reads a size, which is limited by the rest of the part and by `limit`.
static void run_step_size(ota_delta *d, uint32_t limit) {
  if (!read_number(d)) return;
  if (d->negative || d->number > d->image_left || d->number > limit) {
    refuse(d);
    return;
  }
  d->left = d->number;
  d->image_left -= d->number;
  if (d->phase == PHASE_DIFFERENCE_SIZE) d->made = false;
  if (d->left > 0) d->made = true;
  d->ready = d->filled;
  d->phase++;
}

/// False: the base could not be read.
static bool read_ahead(ota_delta *d) {
  uint32_t size = ota_least(d->left, OTA_DELTA_PIECE - d->filled);
  if (d->filled < d->ready) return true;
  d->ready = (uint8_t)(d->filled + size);
  return d->config->base_read(d->config->context, d->from, d->piece + d->filled, size);
}

static void run_byte(ota_delta *d) {
  if (d->left == 0) {
    d->phase++;
    return;
  }
  bool difference = d->phase == PHASE_DIFFERENCE;
  if (difference && !read_ahead(d)) {
    d->end = OTA_DELTA_BASE_FAULT;
    return;
  }
  int byte = next(d);
  if (byte < 0) return;
  d->left--;
  if (difference) {
    d->from++;
    d->piece[d->filled] = (uint8_t)(d->piece[d->filled] + byte);
  } else {
    d->piece[d->filled] = (uint8_t)byte;
  }
  d->filled++;
}

static void run_seek(ota_delta *d) {
  if (!read_number(d)) return;
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
  return true;
}

/// Checks a part whose bytes were all passed on.
static ota_delta_result end_part(ota_delta *d) {
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
    case PHASE_FORMAT: run_format(d); break;
    case PHASE_DIFFERENCE_SIZE: run_step_size(d, d->sizes.base_size - d->from); break;
    case PHASE_EXTRA_SIZE: run_step_size(d, SIZE_MAXIMUM); break;
    case PHASE_SEEK: run_seek(d); break;
    default: run_byte(d); break;
  }
}

static ota_delta_result decode(ota_delta *d) {
  for (uint32_t step = 0; step < OTA_DELTA_STEPS; step++) {
    if (d->end != OTA_DELTA_MORE) return (ota_delta_result)d->end;
    bool part_end = d->phase == PHASE_PART_END;
    if ((part_end || d->filled == OTA_DELTA_PIECE) && !hand_out(d)) return OTA_DELTA_FULL;
    if (part_end) {
      ota_delta_result result = end_part(d);
      if (result != OTA_DELTA_PART) d->end = (uint8_t)result;
      return result;
    }
    uint8_t phase = d->phase;
    uint32_t left = d->left;
    run_phase(d);
    if (d->phase == phase && d->left == left && d->end == OTA_DELTA_MORE) return OTA_DELTA_MORE;
  }
  return OTA_DELTA_AGAIN;
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
