/// Tests of refused streams (docs/delta.md, 3; docs/ota-service.md, 13).
#ifndef REFUSALS_H
#define REFUSALS_H

#include <stdbool.h>

/// Checks that the session has ended and was discarded, and that an update without patches
/// succeeds.
void check_refused(void);
/// Sends the stream, and repeats it as the device requests, without checks on the host. True:
/// VERIFY succeeded.
bool send_anyhow(void);
void test_refusals(void);

#endif
