/// The prediction of addresses in format 2 (docs/delta.md, 4): the targets of branches and the
/// pointers in the base are translated by the address map of the part before the difference is
/// added.
#include "ota_delta_internal.h"

#include "ota_internal.h"

#if OTA_DELTA_LEVEL > 1

/// Adds an entry. False: the map is not in ascending order.
static bool add(ota_delta *d, uint32_t distance, uint32_t change) {
  uint32_t start = 2 * distance, shift = change;
  if (d->entry > 0) {
    uint32_t before = d->map[d->entry - 1].start;
    if (distance == 0 || start > UINT32_MAX - before) return false;
    start += before;
    shift += d->map[d->entry - 1].shift;
  }
  d->map[d->entry].start = start;
  d->map[d->entry].shift = shift;
  d->entry++;
  return true;
}

/// The first seek is relative to the image offset of the part, or to the end of a shorter base.
void ota_delta_run_map(ota_delta *d) {
  uint32_t number = d->negative ? 0 - d->number : d->number;
  if (d->phase == PHASE_FORMAT) {
    if (d->negative || d->number > OTA_DELTA_MAP_MAXIMUM) ota_delta_refuse(d);
    d->entries = (uint8_t)d->number;
    d->from = ota_least(d->point.image_offset, d->sizes.base_size);
    d->phase = PHASE_ORIGIN;
  } else if (d->phase == PHASE_ORIGIN) {
    d->origin = number;
    d->phase = PHASE_MAP_START;
  } else if (d->phase == PHASE_MAP_START) {
    d->left = number;
    d->phase = PHASE_MAP_SHIFT;
  } else {
    if (!add(d, d->left, number)) ota_delta_refuse(d);
    d->phase = PHASE_MAP_START;
  }
  if (d->entry == d->entries) d->phase = PHASE_SEEK;
}

/// The distance by which the map moves an address. The map must have at least one entry.
static uint32_t shift_of(const ota_delta *d, uint32_t address) {
  uint32_t low = 0, high = d->entries;
  // Most words are instructions, which are greater than all addresses.
  if (d->map[high - 1].start <= address) low = high;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (d->map[middle].start <= address) low = middle + 1;
    else high = middle;
  }
  return low == 0 ? 0 : d->map[low - 1].shift;
}

/// In a branch with the sign 0, the bits J1 and J2 are the inverse of the bits 23 and 22 of the
/// distance; with the sign 1, they are equal.
static uint32_t flip(uint32_t branch) { return branch & 0x400 ? branch : branch ^ 0x28000000; }

/// Moves a branch (BL or B.W of Thumb-2), whose first halfword is the lower half of `word`.
static uint32_t move_branch(const ota_delta *d, uint32_t word, uint32_t from, uint32_t to) {
  uint32_t b = flip(word);
  uint32_t distance = (0 - (b >> 10 & 1)) << 24 | (b >> 29 & 1) << 23 | (b >> 27 & 1) << 22 |
                      (b & 0x3FF) << 12 | (b >> 16 & 0x7FF) << 1;
  distance += from - to + shift_of(d, d->origin + from + 4 + distance);
  b = (word & 0xD000F800) | (distance >> 24 & 1) << 10 | (distance >> 23 & 1) << 29 |
      (distance >> 22 & 1) << 27 | (distance >> 12 & 0x3FF) | (distance >> 1 & 0x7FF) << 16;
  return flip(b);
}

void ota_delta_predict(ota_delta *d, uint32_t to) {
  uint32_t at = d->filled, from = d->from, end = at + d->left;
  while (at < d->ready && d->ready - at >= ota_least(end - at, 4)) {
    uint8_t *bytes = d->piece + at, kind = OTA_UNIT_BYTE;
    uint32_t size = 1, odd = from | to;
    if (!(odd & 1) && end - at > 1) {
      size = 2;
      kind = bytes[1] >> 3;
    }
    if (size == 2 && end - at > 3 && d->entries > 0) {
      uint32_t word = ota_get_word(bytes), moved = word;
      if ((word & 0x9000F800) == 0x9000F000) {
        moved = move_branch(d, word, from, to);
        kind = OTA_UNIT_BRANCH;
      } else if (!(odd & 2)) {
        moved += shift_of(d, word);
        if (moved != word) kind = OTA_UNIT_WORD;
      }
      if (kind >= OTA_UNIT_BRANCH) {
        ota_put(bytes, moved, 4);
        size = 4;
      }
    }
#if OTA_DELTA_LEVEL > 2
    d->classes[at] = kind;
#endif
    at += size;
    from += size;
    to += size;
  }
  d->ready = (uint8_t)at;
}

#else
typedef int ota_delta_map_is_not_used;
#endif
