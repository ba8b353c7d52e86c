/// Creates a new image from the running image and a patch, while the patch arrives (docs/delta.md).
///
/// Optional: with OTA_PATCHES=0, the receiver works without this header and the files ota_delta*.c.
/// Portable C99: no heap, no library beyond <string.h>. A stream is a sequence of parts, each of
/// which consists of a header of 16 bytes and one patch: a detools patch of type "sequential"
/// (format 1), or a patch of format 2. Between two parts the state is only three numbers, so a
/// device that lost power resumes at the start of the interrupted part.
///
/// The decoder consumes no more input than it can use, and holds at most OTA_DELTA_PIECE bytes of
/// output that `write` has not accepted. Therefore, nearly all data that waits for flash is
/// compressed input, which needs the least memory.
#ifndef OTA_DELTA_H
#define OTA_DELTA_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The size of the largest heatshrink window as a power of two: 2^n bytes of RAM, n = 4...11; 0 =
/// no heatshrink.
#ifndef OTA_DELTA_WINDOW_BITS
#define OTA_DELTA_WINDOW_BITS 10
#endif
/// The length of the longest heatshrink reference as a power of two: 2^n bytes, n = 3...11. Needs
/// no memory.
#ifndef OTA_DELTA_LOOKAHEAD_BITS
#define OTA_DELTA_LOOKAHEAD_BITS 10
#endif
/// The formats of patches: 1 = format 1 (detools) only; 2 = also format 2 with heatshrink, which
/// needs 1 KiB of additional RAM for the address map; 3 = also format 2 with the range coder, which
/// needs another 5 KiB.
#ifndef OTA_DELTA_LEVEL
#define OTA_DELTA_LEVEL 3
#endif
/// The maximum number of bytes that one call decompresses; it limits the duration of a call.
#ifndef OTA_DELTA_STEPS
#define OTA_DELTA_STEPS 512
#endif

enum {
  OTA_DELTA_HEADER_SIZE = 16,
  /// The maximum number of bytes read from the base, or passed to `write`, at a time.
  OTA_DELTA_PIECE = 64,
  /// The maximum number of consecutive triples that create no bytes; detools was observed to write
  /// 13.
  OTA_DELTA_EMPTY_MAXIMUM = 64,
  /// The codecs: one bit for each of detools' numbers (none, CRLE, heatshrink), and bit 8 for the
  /// range coder of format 2.
  OTA_DELTA_CODECS =
      1 << 0 | 1 << 2 | (OTA_DELTA_WINDOW_BITS > 0) << 4 | (OTA_DELTA_LEVEL > 2) << 8,
  /// The formats: bit 1 for format 1, bit 2 for format 2.
  OTA_DELTA_FORMATS = 1 << 1 | (OTA_DELTA_LEVEL > 1) << 2,
  /// The maximum number of entries of an address map.
  OTA_DELTA_MAP_MAXIMUM = 128
};

#if OTA_DELTA_LEVEL > 2
/// The groups of adaptive models of the range coder, in the order of `models`.
enum {
  OTA_DELTA_FLAG_MODELS = 35 * 4,
  OTA_DELTA_NUMBER_MODELS = 6 * 32,
  OTA_DELTA_DIFFERENCE_MODELS = 4 * 256,
  OTA_DELTA_EXTRA_MODELS = 6 * 256,
  OTA_DELTA_MODELS = OTA_DELTA_FLAG_MODELS + OTA_DELTA_NUMBER_MODELS +
                     OTA_DELTA_DIFFERENCE_MODELS + OTA_DELTA_EXTRA_MODELS
};
#endif

typedef enum {
  /// All input is used, and more is needed.
  OTA_DELTA_MORE,
  /// The limit of one call is reached: call again with the rest of the input, even if it is empty.
  OTA_DELTA_AGAIN,
  /// `write` accepted fewer bytes than it was passed. Call again with the rest of the input when
  /// `write` can accept more.
  OTA_DELTA_FULL,
  /// A part is complete and its CRC32 is correct. After a reset, decoding can resume from `point`
  /// if all written bytes are durable. Call again with the rest of the input.
  OTA_DELTA_PART,
  /// The image is complete and its CRC32 is correct.
  OTA_DELTA_DONE,
  /// The stream violates the format or the sizes. The decoder returns this value until the next
  /// start.
  OTA_DELTA_REFUSED,
  /// The part created bytes with a wrong CRC32: the base is another image, or bytes are damaged.
  OTA_DELTA_MISMATCH,
  /// The base was not readable.
  OTA_DELTA_BASE_FAULT
} ota_delta_result;

/// The callbacks and values of the integrator. The structure must stay in place and unchanged while
/// the decoder is in use.
typedef struct {
  /// The first argument of every callback.
  void *context;
  /// Reads `size` bytes (1...OTA_DELTA_PIECE), all of which are within the base. False: the read
  /// failed.
  bool (*base_read)(void *context, uint32_t offset, uint8_t *to, uint32_t size);
  /// Accepts up to `size` bytes (1...OTA_DELTA_PIECE) of the image; returns the number of accepted
  /// bytes.
  uint32_t (*write)(void *context, const uint8_t *bytes, uint32_t size);
  /// The number of bytes that the flash erases at a time; parts start at its multiples.
  uint32_t page_size;
} ota_delta_config;

/// The sizes of one update in bytes, each below 2^31.
typedef struct {
  uint32_t base_size;
  uint32_t image_size;
  /// The total size of all parts and their headers.
  uint32_t stream_size;
} ota_delta_sizes;

/// A boundary between parts: the complete state that is needed to resume there.
typedef struct {
  uint32_t stream_offset;
  uint32_t image_offset;
  /// CRC32 of the image before `image_offset`.
  uint32_t image_crc32;
} ota_delta_point;

/// One decoder. The integrator provides the memory. All fields are private to the decoder, except
/// that the integrator may read `point`, the last boundary reached.
///
/// The order of the fields makes the code smaller: the short instructions of Thumb reach only the
/// first 32 bytes, and words within the first 128 bytes.
typedef struct {
  // The fields up to `input` are zero at the start of each part.
  uint8_t phase;
  uint8_t end;
  /// Whether the last call stopped because input is missing, and whether the piece must be passed
  /// on before the next unit fits.
  bool starved;
  bool flush;
  /// The numbers of bytes of the piece that are passed on (`sent`) and created (`filled`); the base
  /// is read up to `ready`.
  uint8_t sent;
  uint8_t filled;
  uint8_t ready;
  uint8_t codec;
  /// The number that is being read: how many of its bits are read, and whether it is negative.
  uint8_t shift;
  bool negative;
  /// The number of consecutive triples that created no bytes, and whether the current triple has
  /// created bytes.
  uint8_t empty;
  bool made;
  /// The current run of CRLE; the bytes that are not compressed are a run without an end.
  uint8_t run_shift;
  uint8_t run_step;
  uint8_t run_kind;
  uint8_t run_byte;
#if OTA_DELTA_WINDOW_BITS > 0
  uint8_t bit_count;
  uint8_t window_bits;
  uint8_t lookahead_bits;
#endif
#if OTA_DELTA_LEVEL > 1
  /// Whether the patch has format 2; the number of entries of `map`, and the number of entries that
  /// are already read.
  bool mapped;
  uint8_t entries;
  uint8_t entry;
#endif
#if OTA_DELTA_LEVEL > 2
  /// The range coder: the number of bits left of the number that is being read.
  uint8_t symbol_bits;
  /// The current unit: the number of its bytes that are not complete, the models of its bytes, and
  /// whether its prediction is wrong. `history`: whether the predictions of the last two units were
  /// wrong. `last`: the last created byte.
  uint8_t unit_left;
  uint8_t unit_place;
  bool unit_wrong;
  uint8_t history;
  uint8_t last;
#endif
#if OTA_DELTA_WINDOW_BITS > 0
  uint16_t head;
  uint16_t distance;
#endif
  /// The offset in the base, the number of bytes left of the difference or of the extra bytes, and
  /// the number that is being read.
  uint32_t from;
  uint32_t left;
  uint32_t number;
  /// The current run of CRLE, or the current reference of heatshrink.
  uint32_t run_left;
  uint32_t run_size;
#if OTA_DELTA_WINDOW_BITS > 0
  uint32_t bits;
#endif
#if OTA_DELTA_LEVEL > 1
  /// Format 2: the address of byte 0.
  uint32_t origin;
#endif
#if OTA_DELTA_LEVEL > 2
  /// The range coder: the current interval, and the symbol that is being read.
  uint32_t range;
  uint32_t code;
  uint32_t symbol;
#endif

  /// The input of the current call.
  const uint8_t *input;
  uint32_t input_size;
  /// The number of bytes and fields that the current call may still process.
  uint32_t budget;
  /// The number of patch bytes left in the current part.
  uint32_t patch_left;
  uint32_t stream_offset;
  /// The number of image bytes that the current part must still create.
  uint32_t image_left;
  /// The header of the current part.
  uint32_t header[4];
  ota_delta_sizes sizes;
  ota_delta_point point;
  const ota_delta_config *config;
  uint32_t image_crc32;
  uint8_t piece[OTA_DELTA_PIECE];
#if OTA_DELTA_LEVEL > 2
  /// The class of each unit in `piece`, at the offset of its first byte.
  uint8_t classes[OTA_DELTA_PIECE];
#endif
#if OTA_DELTA_LEVEL > 1
  struct {
    uint32_t start;
    uint32_t shift;
  } map[OTA_DELTA_MAP_MAXIMUM];
#endif
  /// The heatshrink window and the models of the range coder share their memory, which is zero at
  /// the start of each part.
  union {
#if OTA_DELTA_WINDOW_BITS > 0
    uint8_t window[1u << OTA_DELTA_WINDOW_BITS];
#endif
#if OTA_DELTA_LEVEL > 2
    uint16_t models[OTA_DELTA_MODELS];
#endif
    uint8_t none;
  } memory;
} ota_delta;

/// Starts at a boundary: `point` is all zeros for a new stream, or was stored. False: the values
/// contradict each other.
bool ota_delta_start(
    ota_delta *delta, const ota_delta_config *config, const ota_delta_sizes *sizes,
    const ota_delta_point *point);

/// Decodes up to `size` bytes of the stream; `used` receives the number of consumed bytes. Makes
/// all callbacks, each for at most OTA_DELTA_PIECE bytes.
ota_delta_result ota_delta_run(
    ota_delta *delta, const uint8_t *bytes, uint32_t size, uint32_t *used);

#ifdef __cplusplus
}
#endif

#endif
