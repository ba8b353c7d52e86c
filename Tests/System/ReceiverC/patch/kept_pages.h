#ifndef KEPT_PAGES_H
#define KEPT_PAGES_H

/// Tests of pages that are neither erased nor written, because they hold their data already.
void test_kept_pages(void);

#endif
