/// The adaptive binary range coder of format 2 (docs/delta.md, 4.3). Each bit is decoded only after
/// its input is complete, so decoding can stop between any two bits.
#include <stddef.h>

#include "ota_delta_internal.h"

#if OTA_DELTA_LEVEL > 2

enum {
  FLAGS = 0,
  NUMBERS = FLAGS + OTA_DELTA_FLAG_MODELS,
  BYTES = NUMBERS + OTA_DELTA_NUMBER_MODELS,
  /// The first tree for new bytes, after those for differences.
  NEW_BYTES = OTA_DELTA_DIFFERENCE_MODELS / 256,
  /// The probability 1/2, and a count of 0. Models are stored relative to it, so that they are
  /// initially zero.
  INITIAL = 0x8000,
  SIGN = 31
};

/// The share of the error that a model corrects after n bits: 65536 * 2 / (2n + 3).
static const uint16_t rates[16] = {43690, 26214, 18724, 14563, 11915, 10082, 8738, 7710,
                                   6898,  6241,  5698,  5242,  4854,  4519,  4228, 3971};

/// Reads bytes until a bit can be decoded. False: a byte is missing.
static inline bool fill(ota_delta *d) {
  while (d->range < 1u << 24) {
    int byte = ota_delta_take(d);
    if (byte < 0) return false;
    d->range <<= 8;
    d->code = d->code << 8 | (uint32_t)byte;
  }
  return true;
}

/// The next bit by a model, or NONE.
static int bit(ota_delta *d, uint16_t *model) {
  if (!fill(d)) return OTA_DELTA_NONE;
  uint32_t state = *model ^ INITIAL, zero = state >> 4, count = state & 15;
  uint32_t rate = rates[count], bound = (d->range >> 12) * zero, code = d->code;
  if (count < 15) count++;
  if (code < bound) {
    d->range = bound;
    zero += (4096 - zero) * rate >> 16;
  } else {
    d->code = code - bound;
    d->range -= bound;
    zero -= zero * rate >> 16;
  }
  *model = (uint16_t)((zero << 4 | count) ^ INITIAL);
  return code >= bound;
}

/// The next bit with the probability 1/2, or NONE.
static int even_bit(ota_delta *d) {
  if (!fill(d)) return OTA_DELTA_NONE;
  d->range >>= 1;
  if (d->code < d->range) return 0;
  d->code -= d->range;
  return 1;
}

/// The next byte by the 255 models of a tree, or NONE.
static int tree(ota_delta *d, uint16_t *models) {
  uint32_t node = d->symbol == 0 ? 1 : d->symbol;
  while (node < 256) {
    int next = bit(d, models + node);
    if (next < 0) {
      d->symbol = node;
      return OTA_DELTA_NONE;
    }
    node = node << 1 | (uint32_t)next;
  }
  d->symbol = 0;
  return (int)(node & 0xFF);
}

/// The groups of models, by the phase of the number. Origins, shifts and seeks have a sign.
static const uint8_t fields[] = {[PHASE_FORMAT] = 1,          [PHASE_ORIGIN] = 0,
                                 [PHASE_MAP_START] = 1,       [PHASE_MAP_SHIFT] = 2,
                                 [PHASE_DIFFERENCE_SIZE] = 4, [PHASE_EXTRA_SIZE] = 5,
                                 [PHASE_SEEK] = 3};

/// Reads the length of number + 1, its other bits, and its sign.
static int read_number(ota_delta *d) {
  uint16_t *models = d->memory.models + NUMBERS + 32 * fields[d->phase];
  int next = 0;
  while (d->symbol == 0) {
    next = bit(d, models + d->symbol_bits);
    if (next < 0) return 0;
    if (next == 0) d->symbol = 1;
    else if (d->symbol_bits++ == 30) return ota_delta_refuse(d), 0;
  }
  for (; d->symbol_bits > 0; d->symbol_bits--) {
    next = even_bit(d);
    if (next < 0) return 0;
    d->symbol = d->symbol << 1 | (uint32_t)next;
  }
  next = 0;
  if (OTA_PHASES_SIGNED >> d->phase & 1 && d->symbol > 1) next = bit(d, models + SIGN);
  if (next < 0) return 0;
  d->negative = next;
  d->number = d->symbol - 1;
  d->symbol = 0;
  return 1;
}

/// Starts the unit whose first byte is `at` in the piece. False: a byte is missing.
static bool start_unit(ota_delta *d, uint32_t at) {
  uint32_t kind = d->classes[at];
  int wrong = bit(d, d->memory.models + FLAGS + 4 * kind + d->history);
  if (wrong < 0) return false;
  d->unit_wrong = wrong;
  d->history = (uint8_t)((d->history << 1 | wrong) & 3);
  d->unit_left = kind == OTA_UNIT_BYTE ? 1 : kind >= OTA_UNIT_BRANCH ? 4 : 2;
  // `ota_range_fill` combines it with the parity of `unit_left` (XOR).
  d->unit_place = kind == OTA_UNIT_BYTE ? 1 : kind == OTA_UNIT_BRANCH ? 2 : 0;
  return true;
}

uint32_t ota_range_fill(ota_delta *d, uint32_t size, uint32_t offset) {
  uint32_t made = 0;
  for (; made < size; made++) {
    uint32_t at = d->filled + made;
    uint32_t place = NEW_BYTES + 3 * ((offset + made) & 1);
    place += (d->last >= 0x80) + (d->last >= 0x20);
    if (d->phase == PHASE_DIFFERENCE) {
      if (d->unit_left == 0 && !start_unit(d, at)) break;
      place = d->unit_place ^ (d->unit_left & 1);
    } else {
      d->piece[at] = 0;
      d->unit_wrong = true;
    }
    if (d->unit_wrong) {
      int byte = tree(d, d->memory.models + BYTES + 256 * place);
      if (byte < 0) break;
      d->piece[at] = (uint8_t)(d->piece[at] + byte);
    }
    d->last = d->piece[at];
    if (d->unit_left > 0) d->unit_left--;
  }
  return made;
}

int ota_range_end(ota_delta *d) {
  if (!fill(d)) return 0;
  if (d->code != 0) ota_delta_refuse(d);
  return d->code == 0;
}

#endif

int ota_delta_read_number(ota_delta *d) {
#if OTA_DELTA_LEVEL > 2
  if (d->phase >= PHASE_FORMAT && ota_delta_is_range(d)) return read_number(d);
#endif
  return ota_delta_read_plain(d);
}
