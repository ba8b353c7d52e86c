#ifndef OTAFLASH_CBLUETOOTH_SHIM_H
#define OTAFLASH_CBLUETOOTH_SHIM_H
#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/hci_lib.h>
#include <bluetooth/l2cap.h>
#include <linux/rfkill.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

/* epoll_data is a union, and epoll_event is packed on x86-64; these functions set and read both. */
static inline int otaflash_epoll_control(int epoll, int operation, int fd, uint32_t events,
                                         uint64_t watch) {
  struct epoll_event event = {.events = events, .data = {.u64 = watch}};
  return epoll_ctl(epoll, operation, fd, &event);
}

static inline uint64_t otaflash_epoll_watch(const struct epoll_event *event) {
  return event->data.u64;
}

static inline uint32_t otaflash_epoll_events(const struct epoll_event *event) {
  return event->events;
}

/* GNU extensions that the headers hide from a module built without _GNU_SOURCE. */
extern int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
extern int pthread_setname_np(pthread_t thread, const char *name);

/* The types of a SOCK_SEQPACKET and a SOCK_RAW socket that does not block and is closed by exec. */
static const int otaflash_seqpacket_type = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
static const int otaflash_raw_type = SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK;

static inline int otaflash_accept(int fd) {
  return accept4(fd, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

static inline void otaflash_name_thread(const char *name) {
  (void)pthread_setname_np(pthread_self(), name);
}

/* Returns whether the peer has ended the stream or the socket failed. POLLRDHUP is 0x2000 on every
   Linux. */
static inline int otaflash_has_hung_up(int fd) {
  struct pollfd entry = {.fd = fd, .events = 0x2000};
  return poll(&entry, 1, 0) > 0 && (entry.revents & (0x2000 | POLLHUP | POLLERR)) != 0;
}
#endif
