#include <string.h>

#include "images.h"

/// FIPS 180-4, 6.2.
void sha256(const uint8_t *bytes, uint32_t size, uint8_t hash[32]) {
  static const uint32_t k[64] = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
      0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
      0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
      0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
      0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
      0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
      0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
  uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint32_t blocks = (size + 8) / 64 + 1;
  for (uint32_t block = 0; block < blocks; block++) {
    uint8_t padded[64] = {0};
    uint32_t w[64], v[8], at = block * 64, left = at < size ? size - at : 0;
    memcpy(padded, bytes + (left ? at : 0), left < 64 ? left : 64);
    if (left < 64 && at <= size) padded[left] = 0x80;
    if (block == blocks - 1)
      for (int i = 0; i < 8; i++) padded[63 - i] = (uint8_t)((uint64_t)size * 8 >> 8 * i);
    for (int i = 0; i < 16; i++)
      w[i] = (uint32_t)padded[4 * i] << 24 | (uint32_t)padded[4 * i + 1] << 16 |
             (uint32_t)padded[4 * i + 2] << 8 | padded[4 * i + 3];
#define ROTATED(x, n) ((x) >> (n) | (x) << (32 - (n)))
    for (int i = 16; i < 64; i++)
      w[i] = w[i - 16] + w[i - 7] +
             (ROTATED(w[i - 15], 7) ^ ROTATED(w[i - 15], 18) ^ w[i - 15] >> 3) +
             (ROTATED(w[i - 2], 17) ^ ROTATED(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
      uint32_t a = v[0], e = v[4];
      uint32_t t1 = v[7] + (ROTATED(e, 6) ^ ROTATED(e, 11) ^ ROTATED(e, 25)) +
                    ((e & v[5]) ^ (~e & v[6])) + k[i] + w[i];
      uint32_t t2 = (ROTATED(a, 2) ^ ROTATED(a, 13) ^ ROTATED(a, 22)) +
                    ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
      memmove(v + 1, v, 7 * sizeof v[0]);
      v[4] += t1;
      v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) h[i] += v[i];
  }
  for (int i = 0; i < 32; i++) hash[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}
