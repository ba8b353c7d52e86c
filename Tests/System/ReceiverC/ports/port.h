/// The interface between the users of a port (test_port.c, listen.c) and the SDK stub of the port.
/// The stub simulates the radio, the bootloader, the flash, and the host's GATT client.
#ifndef PORT_H
#define PORT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { PORT_CONTROL, PORT_DATA, PORT_STATUS } port_value;

enum { PORT_BOARD = 0x0000A001, PORT_PAGE = 4096 };

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

/// The memory of the flash, of `port_flash_size` bytes. The user of the stub provides it; a reset
/// keeps it.
extern uint8_t *port_flash;
extern const uint32_t port_flash_size;
/// The maximum size of an image.
extern const uint32_t port_image_maximum;
/// Whether the port reports that its bootloader rejected or reverted an image.
extern const bool port_reports_reversals;

/// The SMP server of the application.
typedef struct {
  /// Uploads `image` from the offset `from`, at least to `end`. Returns the offset at which the
  /// server continues, or UINT32_MAX if it refuses the upload.
  uint32_t (*upload)(const uint8_t *image, uint32_t size, uint32_t from, uint32_t end);
  /// Marks the uploaded image for a test at the next reset.
  bool (*mark)(void);
} port_smp;
/// Null: the application has no SMP server.
extern const port_smp *const port_smp_server;

/// Called for each value that the device sends; `port_confirm` then confirms indications. Null: only
/// `seen` records the values, and indications are confirmed immediately.
extern void (*port_sent)(port_value value, const uint8_t *bytes, uint32_t size);
/// Called for each erase (`size` 0) and write of the application's flash. Null: flash takes no time.
extern void (*port_flash_works)(uint32_t size);
/// Called once after the device has waited for a buffer of the host stack for 100 ms. At that time,
/// all work that needs no buffer is done.
extern void (*port_waits_for_buffer)(void);

/// Writes the factory state: `image` runs, and the slot contains other data.
void port_install(const uint8_t *image, uint32_t size);
/// Starts the bootloader, which starts the application. Each process starts the device only once;
/// a reset is the end of the process.
bool port_boot(void);
/// Starts the application without the bootloader.
bool port_start(void);
/// Whether the slot is erased, as it is before an update starts.
bool port_slot_is_erased(void);
/// Whether the device advertises. A connection ends advertising.
bool port_is_advertising(void);
void port_connect(void);
void port_disconnect(void);
/// Whether the host stack has buffers for values that the device sends.
void port_set_buffers(bool are_free);
/// Sends a Write Request or a Write Command; returns the ATT error of a request.
uint8_t port_write(port_value value, const uint8_t *bytes, uint32_t size, bool with_response);
/// Writes a CCCD; returns the ATT error.
uint8_t port_write_cccd(port_value value, uint16_t bits);
void port_read_status(uint8_t *to);
/// Confirms the indication.
void port_confirm(void);
/// Runs until the device is idle. If it waits for a buffer, it runs for 100 ms.
void port_run(void);
/// Performs one step of the work that is due. False: the device is idle.
bool port_step(void);

#endif
