/// The host of a patch session (docs/ota-service.md, 13) with the device of the tests.
#ifndef SESSION_H
#define SESSION_H

#include "device.h"
#include "patches.h"

void check(bool ok, const char *what, int line);
#define CHECK(condition) check(condition, #condition, __LINE__)
extern const char *subject;

extern device d;
extern patched p;

/// The running image in tests of patches without a base.
extern const uint8_t other_image[64];

enum { EXAMPLE_SIZE = 30 };
/// The CRLE patch of the documents, without a part header.
extern const uint8_t example[EXAMPLE_SIZE];

/// Creates, boots and connects a device that runs the base of `p`.
void make_device(uint64_t seed, uint8_t alignment);
uint32_t announce_stream(uint32_t base_size, uint32_t base_crc32, uint32_t size, uint32_t crc32);
uint32_t announce(void);
uint32_t begin_patch(uint8_t flags);
/// Sends PATCH and BEGIN for the stream of `p`.
uint32_t begin_stream(uint8_t flags);
/// Sends from the device's next offset up to `end`, within the device's window. False: no more
/// progress.
bool send_stream(uint32_t end);
/// Sends PATCH POINT; returns the next offset in the stream and the offset in the image.
uint32_t patch_point(uint32_t *image_offset);
/// A complete update up to VERIFY. True: the image is verified and the slot holds it.
bool patch_update(void);
/// The same update without patches.
bool plain_update(void);
bool slot_is_image(void);
uint32_t device_state(void);
uint32_t device_error(void);
uint32_t next_offset(void);
uint32_t durable_offset(void);
uint32_t rewind_to(uint32_t offset);
void reconnect(void);

#endif
