/// Tests of pages erased ahead (docs/ota-service.md, 14).
#ifndef ERASE_AHEAD_H
#define ERASE_AHEAD_H

void test_erase_ahead(void);

#endif
