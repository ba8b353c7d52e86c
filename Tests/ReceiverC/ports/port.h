/// What the test of a port needs of it: the stub of its SDK stands in for the radio, the flash and the
/// host's side of GATT.
#ifndef PORT_H
#define PORT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { PORT_CONTROL, PORT_DATA } port_value;

enum { PORT_BOARD = 0x0000A001, PORT_RUNNING_SIZE = 140, PORT_REQUEST_PAGE = 4096 };

/// What the stub has seen. `violations` counts what a real SDK or flash would not have borne.
typedef struct {
  uint8_t answer[20];
  uint32_t answer_size;
  uint8_t status[16];
  uint32_t statuses;
  uint32_t violations;
  bool reset;
} port_seen;

extern port_seen seen;

/// The bytes that `PORT_RUNNING_SIZE` of version 1.2.3 are made of, as the port tells of them.
uint32_t port_running_crc32(void);
/// Flash as it left the factory, then a boot.
bool port_boot(void);
/// The slot is erased before an update starts.
bool port_slot_is_erased(void);
/// Whether a scanning host finds the device. A connection ends advertising.
bool port_is_advertising(void);
void port_connect(void);
void port_disconnect(void);
/// A Write Request, or a Write Command; the ATT error of the first.
uint8_t port_write(port_value value, const uint8_t *bytes, uint32_t size, bool with_response);
void port_subscribe(void);
void port_read_status(uint8_t *to);
/// Until nothing more happens by itself.
void port_run(void);
/// What the bootloader was asked to start lies in the slot.
bool port_asked_for(const uint8_t *image, uint32_t size, uint32_t crc32);

#endif
