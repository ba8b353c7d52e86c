/// The variables that the two parts of the stub share.
#ifndef STUB_H
#define STUB_H

#include <stdbool.h>

/// Whether the code of the flash task runs. Otherwise, the host task of NimBLE runs, which must not
/// wait for flash.
extern bool is_flash_task;
/// Whether the application has initialized NVS.
extern bool nvs_is_ready;

#endif
