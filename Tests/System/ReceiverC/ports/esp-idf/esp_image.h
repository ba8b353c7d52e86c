/// The image format of ESP-IDF (esp_image_format.h; esptool, "Firmware Image Format").
#ifndef ESP_IMAGE_H
#define ESP_IMAGE_H

#include <stdint.h>

enum { ESP_HEADER = 24, ESP_SEGMENT_HEADER = 8, ESP_HASH = 32, ESP_DESCRIPTION = 32 };

/// The length that the header and the segments of an image state, with its hash; 0 = no image.
uint32_t esp_image_length(const uint8_t *bytes, uint32_t maximum);
/// Like esp_image_length, and checks the checksum and the hash.
uint32_t esp_image_verified_length(const uint8_t *bytes, uint32_t maximum);

#endif
