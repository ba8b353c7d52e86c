#ifndef OTAFLASH_CNATS_SHIM_H
#define OTAFLASH_CNATS_SHIM_H
#include <nats/nats.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>

/* A GNU extension that the headers hide from a module built without _GNU_SOURCE. */
extern int pthread_setname_np(pthread_t thread, const char *name);

static inline void otaflash_nats_name_thread(const char *name) {
  (void)pthread_setname_np(pthread_self(), name);
}

/* Returns the text of the last error of this thread; never null. */
static inline const char *otaflash_nats_error_text(natsStatus status) {
  const char *text = nats_GetLastError(0);
  return text && *text ? text : natsStatus_GetText(status);
}
#endif
