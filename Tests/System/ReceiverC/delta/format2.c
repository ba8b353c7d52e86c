/// An encoder of format 2 that was written only from docs/delta.md. It creates random maps and
/// triples, and encodes them as bytes or with the range coder.
#include "format2.h"

#include <string.h>

typedef struct {
  uint32_t start, shift;
} entry;

/// The probability of a zero bit in 1/4096, and the number of bits seen, at most 15.
typedef struct {
  uint16_t zero;
  uint8_t seen;
} model;

typedef struct {
  patched *p;
  uint64_t *seed;
  /// The content as bytes; NULL = the range coder appends to the stream.
  uint8_t *to;
  uint32_t size;
  entry map[128];
  uint32_t entries, origin;
  /// The range coder.
  uint64_t low;
  uint32_t range;
  uint8_t pending_byte;
  uint32_t pending;
  bool started;
  model flags[35][4], lengths[6][31], signs[6];
  model differences[4][256], extras[2][3][256];
  uint8_t history, last;
} encoder;

static encoder e;

static void output(uint32_t byte) {
  if (e.started && e.p->stream_size < STREAM_MAXIMUM) e.p->stream[e.p->stream_size++] = (uint8_t)byte;
  e.started = true;
}

static void shift_low(void) {
  if (e.low < 0xFF000000u || e.low >> 32) {
    uint32_t carry = (uint32_t)(e.low >> 32);
    output(e.pending_byte + carry);
    for (; e.pending > 0; e.pending--) output(0xFF + carry);
    e.pending_byte = (uint8_t)(e.low >> 24);
  } else {
    e.pending++;
  }
  e.low = e.low << 8 & 0xFFFFFFFFu;
}

static void narrow(uint32_t bound, bool bit) {
  if (bit) e.low += bound;
  e.range = bit ? e.range - bound : bound;
  while (e.range < 0x1000000) {
    e.range <<= 8;
    shift_low();
  }
}

static void put_bit(model *m, bool bit) {
  uint32_t rate = 131072 / (2u * m->seen + 3);
  narrow((e.range >> 12) * m->zero, bit);
  if (bit) m->zero = (uint16_t)(m->zero - (m->zero * rate >> 16));
  else m->zero = (uint16_t)(m->zero + ((4096 - m->zero) * rate >> 16));
  if (m->seen < 15) m->seen++;
}

static void put_even_bit(bool bit) {
  e.range >>= 1;
  if (bit) e.low += e.range;
  while (e.range < 0x1000000) {
    e.range <<= 8;
    shift_low();
  }
}

static void put_tree(model *tree, uint32_t byte) {
  uint32_t node = 1;
  for (int i = 7; i >= 0; i--) {
    put_bit(tree + node, byte >> i & 1);
    node = node << 1 | (byte >> i & 1);
  }
}

enum { ORIGIN, START, SHIFT, SEEK, DIFFERENCE, EXTRA };

static void put_number(uint32_t field, uint32_t magnitude, bool negative) {
  uint32_t bits = 0;
  if (e.to != NULL) {
    e.size += write_number(e.to + e.size, magnitude, negative);
    return;
  }
  while ((magnitude + 1) >> bits > 1) bits++;
  for (uint32_t i = 0; i < bits; i++) put_bit(&e.lengths[field][i], true);
  put_bit(&e.lengths[field][bits], false);
  while (bits-- > 0) put_even_bit((magnitude + 1) >> bits & 1);
  if (magnitude > 0 && (field == ORIGIN || field == SHIFT || field == SEEK))
    put_bit(&e.signs[field], negative);
}

static void put_signed(uint32_t field, uint32_t value) {
  bool negative = value >> 31;
  put_number(field, negative ? 0 - value : value, negative);
}

static uint32_t moved(uint32_t address) {
  uint32_t shift = 0;
  for (uint32_t i = 0; i < e.entries && e.map[i].start <= address; i++) shift = e.map[i].shift;
  return shift;
}

static uint32_t get(const uint8_t *from, uint32_t size) {
  uint32_t value = 0;
  while (size-- > 0) value = value << 8 | from[size];
  return value;
}

/// Writes the prediction of one unit to `to`, and its class to `kind`. Returns its size.
static uint32_t predict(uint8_t *to, uint32_t from, uint32_t offset, uint32_t left, uint32_t *kind) {
  const uint8_t *base = e.p->base + from;
  memcpy(to, base, left < 4 ? left : 4);
  *kind = 34;
  if (from % 2 != 0 || offset % 2 != 0 || left < 2) return 1;
  *kind = base[1] / 8;
  if (left < 4 || e.entries == 0) return 2;
  uint32_t word = get(base, 4);
  if ((word & 0xF800) == 0xF000 && (word >> 16 & 0x9000) == 0x9000) {
    uint32_t s = word >> 10 & 1, i1 = (word >> 29 & 1) == s, i2 = (word >> 27 & 1) == s;
    uint32_t distance = i1 << 23 | i2 << 22 | (word & 0x3FF) << 12 | (word >> 16 & 0x7FF) << 1;
    if (s) distance |= 0xFF000000;
    uint32_t target = e.origin + from + 4 + distance;
    distance = target + moved(target) - e.origin - offset - 4;
    s = distance >> 24 & 1;
    uint32_t j1 = (distance >> 23 & 1) == s, j2 = (distance >> 22 & 1) == s;
    put_word(to, 0xF000 | s << 10 | (distance >> 12 & 0x3FF) | (word >> 16 & 0xD000) << 16 | j1 << 29 |
                     j2 << 27 | (distance >> 1 & 0x7FF) << 16);
    *kind = 32;
    return 4;
  }
  if (from % 4 == 0 && offset % 4 == 0 && moved(word) != 0) {
    put_word(to, word + moved(word));
    *kind = 33;
    return 4;
  }
  return 2;
}

static void add_byte(uint8_t byte) { e.p->image[e.p->image_size++] = e.last = byte; }

static uint32_t put_unit(uint32_t from, uint32_t left) {
  uint8_t bytes[4], differences[4] = {0};
  uint32_t kind, size = predict(bytes, from, e.p->image_size, left, &kind);
  bool wrong = random_number(e.seed, 4) == 0;
  for (uint32_t i = 0; wrong && i < size; i++) differences[i] = (uint8_t)random_number(e.seed, 40);
  if (e.to == NULL) {
    put_bit(&e.flags[kind][e.history], wrong);
    e.history = (uint8_t)((e.history * 2 + wrong) % 4);
  }
  for (uint32_t i = 0; i < size; i++) {
    if (e.to != NULL) e.to[e.size++] = differences[i];
    else if (wrong) put_tree(e.differences[(kind == 32 ? 2 : 0) + i % 2], differences[i]);
  }
  for (uint32_t i = 0; i < size; i++) add_byte((uint8_t)(bytes[i] + differences[i]));
  return size;
}

static void put_extra(void) {
  uint8_t byte = (uint8_t)(random_number(e.seed, 3) > 0 ? 0 : random_number(e.seed, 256));
  uint32_t before = e.last >= 0x80 ? 2 : e.last >= 0x20 ? 1 : 0;
  if (e.to != NULL) e.to[e.size++] = byte;
  else put_tree(e.extras[e.p->image_size % 2][before], byte);
  add_byte(byte);
}

static void make_map(void) {
  uint32_t limit = random_number(e.seed, 2) == 0 ? 5 : 129;
  e.entries = e.p->base_size < 8 ? 0 : random_number(e.seed, limit);
  e.origin = random_number(e.seed, 2) == 0 ? 0 : random_number(e.seed, 0x7FFFFFFF) * 2;
  if (e.origin == 0x80000000) e.origin = 0;
  put_number(START, e.entries, false);
  if (e.entries > 0) put_signed(ORIGIN, e.origin);
  uint32_t start = 0, shift = 0;
  for (uint32_t i = 0; i < e.entries; i++) {
    uint32_t room = (0xFFFFFFFFu - start) / 2, want = room / (e.entries - i);
    uint32_t distance = 1 + random_number(e.seed, want > 1 ? want - 1 : 1);
    uint32_t change = random_number(e.seed, 0x10000) - 0x8000;
    if (i == 0 && random_number(e.seed, 2) == 0) distance = 0;
    put_number(START, distance, false);
    put_signed(SHIFT, change);
    start += 2 * distance;
    shift += change;
    e.map[i] = (entry){start, shift};
  }
}

static void make_triples(uint32_t end) {
  uint32_t from = e.p->image_size < e.p->base_size ? e.p->image_size : e.p->base_size;
  while (e.p->image_size < end) {
    uint32_t target = random_number(e.seed, 3) > 0 && from <= e.p->base_size
                          ? from : random_number(e.seed, e.p->base_size + 1);
    if (random_number(e.seed, 4) > 0) target &= ~3u;
    put_signed(SEEK, target - from);
    from = target;
    uint32_t left = end - e.p->image_size, most = e.p->base_size - from;
    uint32_t difference = random_number(e.seed, (left < most ? left : most) + 1);
    if (random_number(e.seed, 4) > 0) difference &= ~3u;
    uint32_t extra = random_number(e.seed, 3) == 0 ? 0 : random_number(e.seed, left - difference + 1);
    if (difference + extra == 0) extra = 1;
    put_number(DIFFERENCE, difference, false);
    for (uint32_t done = 0; done < difference;) done += put_unit(from + done, difference - done);
    put_number(EXTRA, extra, false);
    for (uint32_t i = 0; i < extra; i++) put_extra();
    from += difference + extra;
  }
}

static void reset_models(void *models, size_t size) {
  model *m = models;
  for (size_t i = 0; i < size / sizeof *m; i++) m[i] = (model){2048, 0};
}

uint32_t make_format2(patched *p, uint64_t *seed, uint8_t *to, uint32_t end) {
  memset(&e, 0, sizeof e);
  e.p = p;
  e.seed = seed;
  e.to = to;
  e.range = 0xFFFFFFFF;
  reset_models(e.flags, sizeof e.flags);
  reset_models(e.lengths, sizeof e.lengths);
  reset_models(e.signs, sizeof e.signs);
  reset_models(e.differences, sizeof e.differences);
  reset_models(e.extras, sizeof e.extras);
  make_map();
  make_triples(end);
  for (uint32_t i = 0; to == NULL && i < 5; i++) shift_low();
  return e.size;
}
