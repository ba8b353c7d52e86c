/// Makes a new image out of the one that runs and a patch, while the patch arrives (docs/delta.md).
///
/// Optional: without these two files the receiver is what it was. Portable C99: no heap, no library
/// beyond <string.h>. A stream is a sequence of parts, each a header of 16 bytes and one detools patch
/// of the type "sequential". Between two parts nothing is remembered but three numbers, so a device that
/// loses power goes on at the part it was in.
///
/// The decoder takes no more input than it can use and makes no more than is taken from it: all that
/// waits for flash waits as compressed input, where it takes the least room.
#ifndef OTA_DELTA_H
#define OTA_DELTA_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The largest heatshrink window, 2^bits bytes of RAM: 4...11, or 0 = no heatshrink.
#ifndef OTA_DELTA_WINDOW_BITS
#define OTA_DELTA_WINDOW_BITS 10
#endif
/// The longest heatshrink references, 2^bits bytes: 3...11. Costs nothing.
#ifndef OTA_DELTA_LOOKAHEAD_BITS
#define OTA_DELTA_LOOKAHEAD_BITS 10
#endif
/// Bytes decompressed in one call at most; bounds the time that a call takes.
#ifndef OTA_DELTA_STEPS
#define OTA_DELTA_STEPS 512
#endif

enum {
  OTA_DELTA_HEADER_SIZE = 16,
  /// Bytes read from the base and handed out at a time at most.
  OTA_DELTA_PIECE = 64,
  /// Triples in a row that may make nothing; detools was seen to write 13.
  OTA_DELTA_EMPTY_MAXIMUM = 64,
  /// The codecs: one bit for each of detools' numbers (none, CRLE, heatshrink).
  OTA_DELTA_CODECS = 1 << 0 | 1 << 2 | (OTA_DELTA_WINDOW_BITS > 0) << 4
};

typedef enum {
  /// All input is used up, and more is needed.
  OTA_DELTA_MORE,
  /// As much was done as one call may: call again with the rest of the input, even if it is empty.
  OTA_DELTA_AGAIN,
  /// `write` took less than it was given: call again when it can take more, with the rest of the input.
  OTA_DELTA_FULL,
  /// A part is complete and its CRC32 right: `point` is a place to go on from after a reset, once all
  /// that was written is durable. Call again with the rest of the input.
  OTA_DELTA_PART,
  /// The image is complete, and its CRC32 right.
  OTA_DELTA_DONE,
  /// The stream is not what the format permits, or not for these sizes. Stays until the next start.
  OTA_DELTA_REFUSED,
  /// The part made something else than it was made for: the base is another one, or bytes are damaged.
  OTA_DELTA_MISMATCH,
  /// The base cannot be read.
  OTA_DELTA_BASE_FAULT
} ota_delta_result;

/// What the integrator provides. Must stay in place, unchanged, as long as the decoder is used.
typedef struct {
  /// Handed to every callback as its first argument.
  void *context;
  /// Reads `size` bytes (1...OTA_DELTA_PIECE) of the base; they lie within it. False: cannot be read.
  bool (*base_read)(void *context, uint32_t offset, uint8_t *to, uint32_t size);
  /// Takes the next bytes of the image, `size` (1...OTA_DELTA_PIECE) at most; returns how many.
  uint32_t (*write)(void *context, const uint8_t *bytes, uint32_t size);
  /// Parts begin at multiples of it: the bytes that the flash erases at a time.
  uint32_t page_size;
} ota_delta_config;

/// What was agreed on for one image. Each is below 2^31.
typedef struct {
  uint32_t base_size;
  uint32_t image_size;
  /// Bytes of all parts with their headers.
  uint32_t stream_size;
} ota_delta_sizes;

/// A boundary between parts: all that is to be remembered to go on from there.
typedef struct {
  uint32_t stream_offset;
  uint32_t image_offset;
  /// CRC32 of the image before `image_offset`.
  uint32_t image_crc32;
} ota_delta_point;

/// One decoder. The integrator gives the memory; every field is the decoder's own but `point`, which
/// may be read: the last boundary that was reached.
typedef struct {
  const ota_delta_config *config;
  ota_delta_sizes sizes;
  ota_delta_point point;

  /// The input of the call under way.
  const uint8_t *input;
  uint32_t input_size;

  /// Bytes of the patch that the part still has.
  uint32_t patch_left;
  /// Bytes of image that the part still is to make.
  uint32_t image_left;
  uint32_t part_size;
  uint32_t part_crc32;
  uint32_t stream_offset;
  uint32_t image_crc32;

  /// Place in the base, bytes left of the difference or the new bytes, and the number being read.
  uint32_t from;
  uint32_t left;
  uint32_t number;
  uint8_t shift;
  bool negative;
  uint8_t phase;
  uint8_t end;
  /// Triples in a row that made nothing, and whether this one has made something.
  uint8_t empty;
  bool made;

  /// `sent` bytes of the piece are handed out, `filled` are made, up to `ready` the base is read.
  uint8_t sent;
  uint8_t filled;
  uint8_t ready;
  uint8_t codec;

  /// CRLE: the block under way. Heatshrink: the reference under way.
  uint32_t run_left;
  uint32_t run_size;
  uint8_t run_shift;
  uint8_t run_step;
  uint8_t run_kind;
  uint8_t run_byte;
#if OTA_DELTA_WINDOW_BITS > 0
  uint32_t bits;
  uint8_t bit_count;
  uint8_t window_bits;
  uint8_t lookahead_bits;
  uint16_t head;
  uint16_t distance;
  uint8_t window[1u << OTA_DELTA_WINDOW_BITS];
#endif
  uint8_t piece[OTA_DELTA_PIECE];
} ota_delta;

/// Starts at a boundary: all zeros at first, or a `point` that was remembered. False: the numbers
/// contradict each other.
bool ota_delta_start(
    ota_delta *delta, const ota_delta_config *config, const ota_delta_sizes *sizes,
    const ota_delta_point *point);

/// Decodes `size` bytes of the stream as far as it can; `used` = how many of them are done with.
/// Makes every callback, each for OTA_DELTA_PIECE bytes at most.
ota_delta_result ota_delta_run(
    ota_delta *delta, const uint8_t *bytes, uint32_t size, uint32_t *used);

#ifdef __cplusplus
}
#endif

#endif
