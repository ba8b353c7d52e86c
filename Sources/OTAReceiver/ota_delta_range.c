/// The adaptive binary range coder of format 2 (docs/delta.md, 4.3). Each bit is decoded only after
/// its input is complete, so decoding can stop between any two bits.
#include "ota_delta_internal.h"

#if OTA_DELTA_LEVEL > 2

enum {
  FLAGS = 0,
  NUMBERS = FLAGS + OTA_DELTA_FLAG_MODELS,
  DIFFERENCES = NUMBERS + OTA_DELTA_NUMBER_MODELS,
  EXTRAS = DIFFERENCES + OTA_DELTA_DIFFERENCE_MODELS,
  /// The probability 1/2, and a count of 0.
  INITIAL = 0x8000,
  SIGN = 31
};

/// The share of the error that a model corrects after n bits: 65536 * 2 / (2n + 3).
static const uint16_t rates[16] = {43690, 26214, 18724, 14563, 11915, 10082, 8738, 7710,
                                   6898,  6241,  5698,  5242,  4854,  4519,  4228, 3971};

void ota_range_reset(ota_delta *d) {
  for (uint32_t i = 0; i < OTA_DELTA_MODELS; i++) d->memory.models[i] = INITIAL;
  d->range = 0xFFFFFFFF;
  d->code = d->symbol = 0;
  d->symbol_step = d->symbol_bits = 0;
  d->unit_size = d->history = d->last = 0;
}

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
  uint32_t state = *model, zero = state >> 4, count = state & 15;
  uint32_t rate = rates[count], bound = (d->range >> 12) * zero;
  if (count < 15) count++;
  if (d->code < bound) {
    d->range = bound;
    zero += (4096 - zero) * rate >> 16;
    *model = (uint16_t)(zero << 4 | count);
    return 0;
  }
  d->code -= bound;
  d->range -= bound;
  zero -= zero * rate >> 16;
  *model = (uint16_t)(zero << 4 | count);
  return 1;
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

int ota_range_start(ota_delta *d) {
  for (; d->symbol_step < 4; d->symbol_step++) {
    int byte = ota_delta_take(d);
    if (byte < 0) return 0;
    d->code = d->code << 8 | (uint32_t)byte;
  }
  d->symbol_step = 0;
  return 1;
}

/// The steps: the length of number + 1, its other bits, and its sign.
enum { STEP_LENGTH, STEP_BITS, STEP_SIGN };

static int read_number(ota_delta *d, uint8_t field) {
  uint16_t *models = d->memory.models + NUMBERS + 32 * field;
  if (d->symbol == 0) {
    d->symbol = 1;
    d->symbol_bits = 0;
  }
  while (d->symbol_step == STEP_LENGTH) {
    int next = bit(d, models + d->symbol_bits);
    if (next < 0) return 0;
    if (next == 0) d->symbol_step = STEP_BITS;
    else if (++d->symbol_bits > 30) return ota_delta_refuse(d), 0;
  }
  for (; d->symbol_step == STEP_BITS && d->symbol_bits > 0; d->symbol_bits--) {
    int next = even_bit(d);
    if (next < 0) return 0;
    d->symbol = d->symbol << 1 | (uint32_t)next;
  }
  d->symbol_step = STEP_SIGN;
  d->negative = false;
  bool is_signed =
      field == OTA_NUMBER_ORIGIN || field == OTA_NUMBER_SHIFT || field == OTA_NUMBER_SEEK;
  if (is_signed && d->symbol > 1) {
    int next = bit(d, models + SIGN);
    if (next < 0) return 0;
    d->negative = next == 1;
  }
  d->number = d->symbol - 1;
  d->symbol = d->symbol_step = 0;
  return 1;
}

bool ota_range_unit(ota_delta *d, uint8_t *bytes) {
  if (d->unit_wrong > 1) {
    int wrong = bit(d, d->memory.models + FLAGS + 4 * d->unit_class + d->history);
    if (wrong < 0) return false;
    d->unit_wrong = (uint8_t)wrong;
    d->history = (uint8_t)((d->history << 1 | wrong) & 3);
  }
  uint32_t first = d->unit_class == OTA_UNIT_BRANCH ? 2 : 0;
  for (; d->unit_wrong && d->unit_made < d->unit_size; d->unit_made++) {
    uint32_t place = first + (d->unit_made & 1);
    int byte = tree(d, d->memory.models + DIFFERENCES + 256 * place);
    if (byte < 0) return false;
    bytes[d->unit_made] = (uint8_t)(bytes[d->unit_made] + byte);
  }
  d->last = bytes[d->unit_size - 1];
  return true;
}

int ota_range_extra(ota_delta *d, uint32_t offset) {
  uint32_t place = 3 * (offset & 1) + (d->last >= 0x80 ? 2 : d->last >= 0x20 ? 1 : 0);
  int byte = tree(d, d->memory.models + EXTRAS + 256 * place);
  if (byte >= 0) d->last = (uint8_t)byte;
  return byte;
}

int ota_range_end(ota_delta *d) {
  if (!fill(d)) return 0;
  if (d->code != 0) ota_delta_refuse(d);
  return d->code == 0;
}

#endif

int ota_delta_read_number(ota_delta *d, uint8_t field) {
#if OTA_DELTA_LEVEL > 2
  if (d->phase >= PHASE_FORMAT && ota_delta_is_range(d)) return read_number(d, field);
#endif
  (void)field;
  return ota_delta_read_plain(d);
}
