/// The decompressed bytes and the numbers of a patch (docs/delta.md, 1). Decoding can stop after
/// any byte of the input.
#include <string.h>

#include "ota_delta_internal.h"
#include "ota_internal.h"

enum { NONE = OTA_DELTA_NONE };

#define refuse ota_delta_refuse
#define take ota_delta_take

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

/// Adds the bits of one byte to a number of at most 31 bits. False: the number has more bits.
static bool grow(uint32_t *number, uint8_t *shift, uint32_t bits, uint8_t count) {
  if (*shift > 30 || bits > (uint32_t)OTA_DELTA_SIZE_MAXIMUM >> *shift) return false;
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

uint32_t ota_delta_fill(ota_delta *d, uint8_t *to, uint32_t size) {
#if OTA_DELTA_WINDOW_BITS > 0
  if (d->phase >= PHASE_FORMAT && d->codec == CODEC_HEATSHRINK)
    return fill_from_heatshrink(d, to, size);
#endif
  return fill_from_runs(d, to, size);
}

int ota_delta_read_plain(ota_delta *d) {
  for (;;) {
    uint8_t byte;
    if (ota_delta_fill(d, &byte, 1) == 0) return 0;
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
