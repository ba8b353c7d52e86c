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
  PHASE_MAP_SEEK,
  PHASE_DIFFERENCE_SIZE,
  PHASE_DIFFERENCE,
  PHASE_EXTRA_SIZE,
  PHASE_EXTRA,
  PHASE_SEEK,
  PHASE_PART_END
};
enum { CODEC_NONE = 0, CODEC_CRLE = 2, CODEC_HEATSHRINK = 4, CODEC_RANGE = 8 };
enum { RUN_KIND, RUN_SIZE, RUN_BYTE };
/// The first byte of a patch of format 2 without its codec.
enum { FORMAT_2 = 0x40 };

/// The fields with numbers, in the order of their models.
enum {
  OTA_NUMBER_ORIGIN,
  OTA_NUMBER_START,
  OTA_NUMBER_SHIFT,
  OTA_NUMBER_SEEK,
  OTA_NUMBER_DIFFERENCE,
  OTA_NUMBER_EXTRA
};

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

// ota_delta_stream.c: the decompressed bytes and numbers of a patch.
/// Ends decoding; returns NONE.
int ota_delta_refuse(ota_delta *d);
/// The next byte of the patch, or NONE.
int ota_delta_take(ota_delta *d);
/// Decompresses up to `size` bytes. If it returns fewer, a byte is missing or `end` is set.
uint32_t ota_delta_fill(ota_delta *d, uint8_t *to, uint32_t size);
/// Continues to read `number` from decompressed bytes. Returns 1 once the number is complete, 0
/// while bytes are missing or `end` is set.
int ota_delta_read_plain(ota_delta *d);

// ota_delta_range.c: the range coder.
/// Like `ota_delta_read_plain`, or by the range coder if the patch uses it.
int ota_delta_read_number(ota_delta *d, uint8_t field);
#if OTA_DELTA_LEVEL > 2
void ota_range_reset(ota_delta *d);
/// Reads the first four bytes. Returns 1 once they are complete, otherwise 0.
int ota_range_start(ota_delta *d);
/// Decodes bytes of the current unit. Returns whether the unit is complete.
bool ota_range_unit(ota_delta *d, uint8_t *bytes);
/// The next new byte, for an even or odd offset in the image.
int ota_range_extra(ota_delta *d, uint32_t offset);
/// Checks that the coder ends here. Returns 1 if it does, 0 if a byte is missing or wrong.
int ota_range_end(ota_delta *d);
#endif

// ota_delta_map.c: the prediction of addresses.
#if OTA_DELTA_LEVEL > 1
/// The classes of units. A plain unit has the upper five bits of its second byte as class.
enum { OTA_UNIT_BRANCH = 32, OTA_UNIT_WORD, OTA_UNIT_BYTE };

/// Reads the next number of the map.
void ota_delta_run_map(ota_delta *d);
/// Reads a seek, which precedes the sizes and starts after the new bytes.
void ota_delta_run_seek(ota_delta *d);
/// Predicts the unit whose base bytes start at `bytes`, in place. `from` and `to` are its offsets
/// in the base and in the image, and `left` is the number of bytes up to the end of the range.
/// Returns the size of the unit. At least four bytes must be available unless `left` is less.
uint8_t ota_delta_predict(
    const ota_delta *d, uint8_t *bytes, uint32_t from, uint32_t to, uint32_t left, uint8_t *kind);
#endif

#endif
