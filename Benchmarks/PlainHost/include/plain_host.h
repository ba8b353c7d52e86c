/// A minimal host: a `send` and `recv` loop that sends the PDUs of an `otaflash bench` transfer
/// without response. It knows the attributes of the device and checks almost nothing. It creates
/// the same image and CRC32 as `otaflash bench`. The benchmark reports the cost of otaflash as a
/// multiple of the cost of this host, in the same run on the same machine.
#ifndef PLAIN_HOST_H
#define PLAIN_HOST_H

#include <stdint.h>

/// Sends `repeats` images of `size` bytes, one after the other, to the `sink-device` that listens at
/// `path`, in writes of `chunk` bytes of image.
///
/// Returns 0, or an errno: EPROTO if the device does not answer like a sink-device.
int plain_host_transfer(const char *path, uint32_t size, uint32_t repeats, uint32_t chunk);

#endif
