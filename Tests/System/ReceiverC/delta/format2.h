#ifndef FORMAT2_H
#define FORMAT2_H

#include "patches.h"

/// Creates the image up to `end`, and the content of a patch of format 2. The content is stored at
/// `to`, and its size is returned; with NULL, the range coder appends it to the stream.
uint32_t make_format2(patched *p, uint64_t *seed, uint8_t *to, uint32_t end);

#endif
