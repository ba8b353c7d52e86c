/// Images for the ports, and patches between them.
#ifndef IMAGES_H
#define IMAGES_H

#include <stdint.h>

/// Fills in an image, version 1.`minor`.3, that the bootloader of the port accepts. `images.c`: it has
/// an MCUboot header, a TLV with the hash, and a descriptor. `esp-idf/image.c`: it has the format of ESP-IDF, a
/// size that is a multiple of 16, and a descriptor. Images of different versions have much content in
/// common.
void make_image(uint8_t *to, uint32_t size, uint8_t minor);

/// Creates a stream of CRLE patches between images of the same size, in parts of `part` bytes.
/// Returns the size of the stream.
uint32_t make_stream(
    uint8_t *to, const uint8_t *old, const uint8_t *new, uint32_t size, uint32_t part);

/// Calculates the SHA-256 of bytes.
void sha256(const uint8_t *bytes, uint32_t size, uint8_t hash[32]);

#endif
