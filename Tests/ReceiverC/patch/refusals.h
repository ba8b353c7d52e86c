/// What a device does not take, and what it then does (docs/delta.md, 3; docs/ota-service.md, 13).
#ifndef REFUSALS_H
#define REFUSALS_H

#include <stdbool.h>

/// Checks that the session is over, that nothing of it is held, and that the image as it is gets through.
void check_refused(void);
/// What a host does that believes in what it sends; true: VERIFY was done.
bool send_anyhow(void);
void test_refusals(void);

#endif
