/// Internal declarations that the files of the patch decoder share; not for integrators.
#ifndef OTA_DELTA_INTERNAL_H
#define OTA_DELTA_INTERNAL_H

#include "ota_delta.h"

/// Returned instead of a byte or a bit: none is available yet, or `end` states why decoding ended.
enum { OTA_DELTA_NONE = -1 };
enum { OTA_DELTA_SIZE_MAXIMUM = 0x7FFFFFFF };

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
  PHASE_DIFFERENCE_SIZE,
  PHASE_DIFFERENCE,
  PHASE_EXTRA_SIZE,
  PHASE_EXTRA,
  PHASE_SEEK,
  PHASE_PART_END
};
/// Sets of phases, one bit each: those that read a number, and those whose number has a sign. The
/// first number of a patch has its own rules for the sign.
enum {
  OTA_PHASES_NUMBER = 1 << PHASE_SIZE | 1 << PHASE_FORMAT | 1 << PHASE_ORIGIN |
                      1 << PHASE_MAP_START | 1 << PHASE_MAP_SHIFT | 1 << PHASE_DIFFERENCE_SIZE |
                      1 << PHASE_EXTRA_SIZE | 1 << PHASE_SEEK,
  OTA_PHASES_SIGNED = 1 << PHASE_ORIGIN | 1 << PHASE_MAP_SHIFT | 1 << PHASE_SEEK
};
enum { CODEC_NONE = 0, CODEC_CRLE = 2, CODEC_HEATSHRINK = 4, CODEC_RANGE = 8 };
enum { RUN_KIND, RUN_SIZE, RUN_BYTE };
/// The first byte of a patch of format 2 without its codec.
enum { FORMAT_2 = 0x40 };

#if OTA_DELTA_LEVEL > 1
static inline bool ota_delta_is_mapped(const ota_delta *d) { return d->mapped; }
#else
static inline bool ota_delta_is_mapped(const ota_delta *d) {
  (void)d;
  return false;
}
#endif
#if OTA_DELTA_LEVEL > 2
static inline bool ota_delta_is_range(const ota_delta *d) { return d->codec == CODEC_RANGE; }
#else
static inline bool ota_delta_is_range(const ota_delta *d) {
  (void)d;
  return false;
}
#endif

/// Ends decoding; returns NONE.
static inline int ota_delta_refuse(ota_delta *d) {
  d->end = OTA_DELTA_REFUSED;
  return OTA_DELTA_NONE;
}

// ota_delta_stream.c: the decompressed bytes and numbers of a patch.
/// The next byte of the patch, or NONE.
int ota_delta_take(ota_delta *d);
/// Decompresses up to `size` bytes. If it returns fewer, a byte is missing or `end` is set.
uint32_t ota_delta_fill(ota_delta *d, uint8_t *to, uint32_t size);
/// Continues to read `number` from decompressed bytes. Returns 1 once the number is complete, 0
/// while bytes are missing or `end` is set.
int ota_delta_read_plain(ota_delta *d);

// ota_delta_range.c: the range coder.
/// Like `ota_delta_read_plain`, or by the range coder if the patch uses it.
int ota_delta_read_number(ota_delta *d);
#if OTA_DELTA_LEVEL > 2
/// Adds the difference to up to `size` predicted bytes of the piece, or creates new bytes. `offset`
/// is their offset in the image. If it returns fewer, a byte is missing or `end` is set.
uint32_t ota_range_fill(ota_delta *d, uint32_t size, uint32_t offset);
/// Checks that the coder ends here. Returns 1 if it does, 0 if a byte is missing or wrong.
int ota_range_end(ota_delta *d);
#endif

// ota_delta_map.c: the prediction of addresses.
#if OTA_DELTA_LEVEL > 1
/// The classes of units. A plain unit of two bytes has the upper five bits of its second byte as
/// class.
enum { OTA_UNIT_BRANCH = 32, OTA_UNIT_WORD, OTA_UNIT_BYTE };

/// Uses the number of the map that was read.
void ota_delta_run_map(ota_delta *d);
/// Predicts the units of the bytes that were read, as far as they are complete. `to` is the offset
/// of the first byte in the image.
void ota_delta_predict(ota_delta *d, uint32_t to);
#endif

#endif
