/// The interface between the test and the SDK stub of a port. The stub simulates the radio, the
/// flash, and the host's GATT client.
#ifndef PORT_H
#define PORT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { PORT_CONTROL, PORT_DATA } port_value;

enum { PORT_BOARD = 0x0000A001, PORT_RUNNING_SIZE = 140, PORT_REQUEST_PAGE = 4096 };

/// The observations of the stub. `violations` counts calls that a real SDK or flash would not
/// permit.
typedef struct {
  uint8_t answer[20];
  uint32_t answer_size;
  uint8_t status[16];
  uint32_t statuses;
  uint32_t violations;
  bool reset;
} port_seen;

extern port_seen seen;

/// The CRC32 of the running image, version 1.2.3, of `PORT_RUNNING_SIZE` bytes.
uint32_t port_running_crc32(void);
/// Boots with flash in factory state.
bool port_boot(void);
/// Whether the slot is erased, as it is before an update starts.
bool port_slot_is_erased(void);
/// Whether the device advertises. A connection ends advertising.
bool port_is_advertising(void);
void port_connect(void);
void port_disconnect(void);
/// Sends a Write Request or a Write Command; returns the ATT error of a request.
uint8_t port_write(port_value value, const uint8_t *bytes, uint32_t size, bool with_response);
void port_subscribe(void);
void port_read_status(uint8_t *to);
/// Runs until the device is idle.
void port_run(void);
/// Whether the bootloader was requested to start `image`, and the slot holds this image.
bool port_asked_for(const uint8_t *image, uint32_t size, uint32_t crc32);

#endif
