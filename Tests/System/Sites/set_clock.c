// A library for LD_PRELOAD that changes the wall clock of a program, like a machine whose clock is
// set. The environment variable CLOCK_OFFSET names a file with the difference from the clock of
// this machine: 8 bytes, a signed number of nanoseconds. The difference may change at any time.
// Clocks that only count time do not change.
// (libfaketime also changes absolute deadlines of clocks that count time.)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
// A later deadline belongs to the wall clock: no machine runs for thirty years.
#define FIRST_DATE 1000000000LL

static const volatile int64_t *offset;

__attribute__((constructor)) static void open_offset(void) {
  const char *path = getenv("CLOCK_OFFSET");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *memory = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
  if (memory != MAP_FAILED) offset = memory;
  close(file);
}

static struct timespec moved(struct timespec time, int64_t by) {
  int64_t total = time.tv_sec * SECOND + time.tv_nsec + by;
  return (struct timespec){total / SECOND, total % SECOND};
}

static int64_t current(void) { return offset ? *offset : 0; }

int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = (int)syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    *time = moved(*time, current());
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict deadline) {
  static int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  if (!next) {
    // The first version of this function in glibc has another type of condition.
    *(void **)&next = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  }
  struct timespec real =
      deadline->tv_sec > FIRST_DATE ? moved(*deadline, -current()) : *deadline;
  return next(condition, mutex, &real);
}
