// The runtime's hooks for jobs, as far as a simulation needs them: which jobs does the thread that
// drives a timeline hand to another executor?
#ifndef OTAFLASH_TIMELINE_H
#define OTAFLASH_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

// Where a job went that left a timeline.
typedef enum {
  OTAFLASH_DEPARTURE_NONE = 0,
  // The global executor: a task without an executor preference.
  OTAFLASH_DEPARTURE_GLOBAL = 1,
  // The main actor.
  OTAFLASH_DEPARTURE_MAIN = 2,
} otaflash_departure;

// Installs the hooks. Call it once in a process.
void otaflash_timeline_install(void);

// The number of the timeline that this thread drives from now on; 0 ends it. Returns the former one.
uint64_t otaflash_timeline_drive(uint64_t timeline);

// The number of the timeline that this thread drives; 0 when it drives none.
uint64_t otaflash_timeline_driven(void);

// The first departure since the last call on this thread.
otaflash_departure otaflash_timeline_take_departure(void);

#endif
