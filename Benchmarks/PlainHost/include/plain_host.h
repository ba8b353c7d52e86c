/// The least that a host can do: the PDUs of an `otaflash bench` transfer without response, from a loop
/// around `send` and `recv` that knows the device beforehand and checks next to nothing. The image is made,
/// and its CRC32, as `otaflash bench` makes them. What otaflash costs is told as a multiple of what this costs, in the same run on the same machine.
#ifndef PLAIN_HOST_H
#define PLAIN_HOST_H

#include <stdint.h>

/// Sends `repeats` images of `size` bytes, one after the other, to the `sink-device` that listens at
/// `path`, in writes of `chunk` bytes of image.
///
/// Returns 0, or an errno: EPROTO for a device that answers otherwise than a sink-device does.
int plain_host_transfer(const char *path, uint32_t size, uint32_t repeats, uint32_t chunk);

#endif
