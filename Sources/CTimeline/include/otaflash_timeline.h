// Hooks of the Swift runtime for a simulation. They detect jobs that the thread of a timeline
// passes to another executor.
#ifndef OTAFLASH_TIMELINE_H
#define OTAFLASH_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

// The executor that received a job from a timeline.
typedef enum {
  OTAFLASH_DEPARTURE_NONE = 0,
  // The global executor: a task without an executor preference.
  OTAFLASH_DEPARTURE_GLOBAL = 1,
  // The main actor.
  OTAFLASH_DEPARTURE_MAIN = 2,
} otaflash_departure;

// Installs the hooks. Call it once per process.
void otaflash_timeline_install(void);

// Sets the number of the timeline that this thread drives; 0 for no timeline. Returns the previous
// number.
uint64_t otaflash_timeline_drive(uint64_t timeline);

// Returns the number of the timeline that this thread drives; 0 for no timeline.
uint64_t otaflash_timeline_driven(void);

// Returns the first departure since the last call on this thread, or since the timeline was set.
otaflash_departure otaflash_timeline_take_departure(void);

#endif
