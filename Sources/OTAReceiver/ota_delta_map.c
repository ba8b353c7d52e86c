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

/// The first seek starts at the place of the part in the base.
void ota_delta_run_map(ota_delta *d) {
  static const uint8_t fields[] = {OTA_NUMBER_START, 0, OTA_NUMBER_START, OTA_NUMBER_SHIFT};
  if (!ota_delta_read_number(d, fields[d->phase - PHASE_FORMAT])) return;
  uint32_t number = d->negative ? 0 - d->number : d->number;
  if (d->phase == PHASE_FORMAT) {
    if (d->negative || d->number > OTA_DELTA_MAP_MAXIMUM) ota_delta_refuse(d);
    d->entries = (uint8_t)d->number;
    d->from = ota_least(d->point.image_offset, d->sizes.base_size);
    d->phase = d->entries > 0 ? PHASE_ORIGIN : PHASE_MAP_SEEK;
  } else if (d->phase == PHASE_ORIGIN) {
    d->origin = number;
    d->phase = PHASE_MAP_START;
  } else if (d->phase == PHASE_MAP_START) {
    if (d->negative) ota_delta_refuse(d);
    d->left = d->number;
    d->phase = PHASE_MAP_SHIFT;
  } else {
    if (!add(d, d->left, number)) ota_delta_refuse(d);
    d->phase = d->entry < d->entries ? PHASE_MAP_START : PHASE_MAP_SEEK;
  }
}

void ota_delta_run_seek(ota_delta *d) {
  if (!ota_delta_read_number(d, OTA_NUMBER_SEEK)) return;
  uint32_t room = ota_least(d->from, d->sizes.base_size);
  if (d->negative ? d->number > d->from || d->from - d->number > d->sizes.base_size
                  : room < d->from || d->number > d->sizes.base_size - room) {
    ota_delta_refuse(d);
    return;
  }
  d->from = d->negative ? d->from - d->number : d->from + d->number;
  d->phase = PHASE_DIFFERENCE_SIZE;
}

/// The distance by which the map, which has entries, moves an address.
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

/// Moves the branch (BL or B.W of Thumb-2) at `bytes`, if there is one.
static bool move_branch(const ota_delta *d, uint8_t *bytes, uint32_t from, uint32_t to) {
  uint32_t high = ota_get(bytes, 2), low = ota_get(bytes + 2, 2);
  if ((high & 0xF800) != 0xF000 || (low & 0x9000) != 0x9000) return false;
  uint32_t sign = high >> 10 & 1, flip = sign ^ 1;
  uint32_t distance = (0 - sign) << 24 | ((low >> 13 & 1) ^ flip) << 23 |
                      ((low >> 11 & 1) ^ flip) << 22 | (high & 0x3FF) << 12 | (low & 0x7FF) << 1;
  uint32_t target = d->origin + from + 4 + distance;
  distance = target + shift_of(d, target) - (d->origin + to + 4);
  flip = (distance >> 24 & 1) ^ 1;
  high = 0xF000 | (distance >> 24 & 1) << 10 | (distance >> 12 & 0x3FF);
  low = (low & 0xD000) | ((distance >> 23 & 1) ^ flip) << 13 |
        ((distance >> 22 & 1) ^ flip) << 11 | (distance >> 1 & 0x7FF);
  ota_put(bytes, high | low << 16, 4);
  return true;
}

uint8_t ota_delta_predict(
    const ota_delta *d, uint8_t *bytes, uint32_t from, uint32_t to, uint32_t left, uint8_t *kind) {
  *kind = OTA_UNIT_BYTE;
  if (((from | to) & 1) || left == 1) return 1;
  *kind = bytes[1] >> 3;
  if (left < 4 || d->entries == 0) return 2;
  if (*kind == 0xF000 >> 11 && move_branch(d, bytes, from, to)) {
    *kind = OTA_UNIT_BRANCH;
    return 4;
  }
  if ((from | to) & 3) return 2;
  // Without a loop, because this is done for each word.
  uint32_t word = (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | bytes[1] << 8 | bytes[0];
  uint32_t shift = shift_of(d, word);
  if (shift == 0) return 2;
  ota_put(bytes, word + shift, 4);
  *kind = OTA_UNIT_WORD;
  return 4;
}

#else
typedef int ota_delta_map_is_not_used;
#endif
