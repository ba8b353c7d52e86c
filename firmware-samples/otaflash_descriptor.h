/* The image descriptor of otaflash, layout 1. Made by generate.py; copy it into your firmware.

   One line in one C file, for hardware 0x0000A001 and version 1.3.0:

     OTAFLASH_DESCRIPTOR(0x0000A001, 1, 3, 0);

   Keep it within the first 64 KiB of the image: in the linker script put
   KEEP(*(.otaflash_descriptor)) right behind the vector table. Little-endian targets, C99. */
#ifndef OTAFLASH_DESCRIPTOR_H
#define OTAFLASH_DESCRIPTOR_H

#include <stdint.h>

struct otaflash_descriptor {
  uint8_t magic[8];
  uint8_t layout;
  uint8_t reserved1[3];
  uint32_t hardware; /* 0: runs on any board */
  uint8_t major;
  uint8_t minor;
  uint16_t patch;
  uint8_t reserved2[8];
  uint32_t crc32; /* of the 28 bytes before it */
};

#define OTAFLASH_VERSION(major, minor, patch) \
  ((uint32_t)(major) | (uint32_t)(minor) << 8 | (uint32_t)(patch) << 16)

#define OTAFLASH_BIT(word, bit, change) (((uint32_t)(word) >> (bit)&1u) * change##u)

/* CRC32 of the descriptor, worked out by the compiler: each bit changes it by a constant. */
#define OTAFLASH_CRC32(h, v) \
  (0x9DDC3C2Fu ^ \
   OTAFLASH_BIT(h, 0, 0xAE689191) ^ OTAFLASH_BIT(h, 1, 0x87A02563) ^ \
   OTAFLASH_BIT(h, 2, 0xD4314C87) ^ OTAFLASH_BIT(h, 3, 0x73139F4F) ^ \
   OTAFLASH_BIT(h, 4, 0xE6273E9E) ^ OTAFLASH_BIT(h, 5, 0x173F7B7D) ^ \
   OTAFLASH_BIT(h, 6, 0x2E7EF6FA) ^ OTAFLASH_BIT(h, 7, 0x5CFDEDF4) ^ \
   OTAFLASH_BIT(h, 8, 0xB9FBDBE8) ^ OTAFLASH_BIT(h, 9, 0xA886B191) ^ \
   OTAFLASH_BIT(h, 10, 0x8A7C6563) ^ OTAFLASH_BIT(h, 11, 0xCF89CC87) ^ \
   OTAFLASH_BIT(h, 12, 0x44629F4F) ^ OTAFLASH_BIT(h, 13, 0x88C53E9E) ^ \
   OTAFLASH_BIT(h, 14, 0xCAFB7B7D) ^ OTAFLASH_BIT(h, 15, 0x4E87F0BB) ^ \
   OTAFLASH_BIT(h, 16, 0x9D0FE176) ^ OTAFLASH_BIT(h, 17, 0xE16EC4AD) ^ \
   OTAFLASH_BIT(h, 18, 0x19AC8F1B) ^ OTAFLASH_BIT(h, 19, 0x33591E36) ^ \
   OTAFLASH_BIT(h, 20, 0x66B23C6C) ^ OTAFLASH_BIT(h, 21, 0xCD6478D8) ^ \
   OTAFLASH_BIT(h, 22, 0x41B9F7F1) ^ OTAFLASH_BIT(h, 23, 0x8373EFE2) ^ \
   OTAFLASH_BIT(h, 24, 0xDD96D985) ^ OTAFLASH_BIT(h, 25, 0x605CB54B) ^ \
   OTAFLASH_BIT(h, 26, 0xC0B96A96) ^ OTAFLASH_BIT(h, 27, 0x5A03D36D) ^ \
   OTAFLASH_BIT(h, 28, 0xB407A6DA) ^ OTAFLASH_BIT(h, 29, 0xB37E4BF5) ^ \
   OTAFLASH_BIT(h, 30, 0xBD8D91AB) ^ OTAFLASH_BIT(h, 31, 0xA06A2517) ^ \
   OTAFLASH_BIT(v, 0, 0x9BA54C6F) ^ OTAFLASH_BIT(v, 1, 0xEC3B9E9F) ^ \
   OTAFLASH_BIT(v, 2, 0x03063B7F) ^ OTAFLASH_BIT(v, 3, 0x060C76FE) ^ \
   OTAFLASH_BIT(v, 4, 0x0C18EDFC) ^ OTAFLASH_BIT(v, 5, 0x1831DBF8) ^ \
   OTAFLASH_BIT(v, 6, 0x3063B7F0) ^ OTAFLASH_BIT(v, 7, 0x60C76FE0) ^ \
   OTAFLASH_BIT(v, 8, 0xC18EDFC0) ^ OTAFLASH_BIT(v, 9, 0x586CB9C1) ^ \
   OTAFLASH_BIT(v, 10, 0xB0D97382) ^ OTAFLASH_BIT(v, 11, 0xBAC3E145) ^ \
   OTAFLASH_BIT(v, 12, 0xAEF6C4CB) ^ OTAFLASH_BIT(v, 13, 0x869C8FD7) ^ \
   OTAFLASH_BIT(v, 14, 0xD64819EF) ^ OTAFLASH_BIT(v, 15, 0x77E1359F) ^ \
   OTAFLASH_BIT(v, 16, 0xEFC26B3E) ^ OTAFLASH_BIT(v, 17, 0x04F5D03D) ^ \
   OTAFLASH_BIT(v, 18, 0x09EBA07A) ^ OTAFLASH_BIT(v, 19, 0x13D740F4) ^ \
   OTAFLASH_BIT(v, 20, 0x27AE81E8) ^ OTAFLASH_BIT(v, 21, 0x4F5D03D0) ^ \
   OTAFLASH_BIT(v, 22, 0x9EBA07A0) ^ OTAFLASH_BIT(v, 23, 0xE6050901) ^ \
   OTAFLASH_BIT(v, 24, 0x177B1443) ^ OTAFLASH_BIT(v, 25, 0x2EF62886) ^ \
   OTAFLASH_BIT(v, 26, 0x5DEC510C) ^ OTAFLASH_BIT(v, 27, 0xBBD8A218) ^ \
   OTAFLASH_BIT(v, 28, 0xACC04271) ^ OTAFLASH_BIT(v, 29, 0x82F182A3) ^ \
   OTAFLASH_BIT(v, 30, 0xDE920307) ^ OTAFLASH_BIT(v, 31, 0x6655004F))

#define OTAFLASH_DESCRIPTOR(hw, major_, minor_, patch_) \
  __attribute__((used, aligned(4), section(".otaflash_descriptor"))) \
  const struct otaflash_descriptor otaflash_descriptor = { \
    { 0x4F, 0x54, 0x41, 0x69, 0x6D, 0x67, 0xD1, 0x5C }, \
    1, { 0, 0, 0 }, (hw), (major_), (minor_), (patch_), { 0, 0, 0, 0, 0, 0, 0, 0 }, \
    OTAFLASH_CRC32(hw, OTAFLASH_VERSION(major_, minor_, patch_)) }

#endif
