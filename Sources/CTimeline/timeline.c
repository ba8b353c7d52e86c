#include "otaflash_timeline.h"

// The hooks are variables of the Swift runtime (swift/Runtime/Concurrency.h) with Swift's calling
// convention.
#define SWIFT_CC __attribute__((swiftcall))

typedef SWIFT_CC void (*enqueue_original)(void *job);
typedef SWIFT_CC void (*enqueue_hook)(void *job, enqueue_original original);
extern enqueue_hook swift_task_enqueueGlobal_hook;

typedef struct {
  void *identity;
  void *implementation;
} executor_reference;
typedef SWIFT_CC executor_reference (*main_executor_original)(void);
typedef SWIFT_CC executor_reference (*main_executor_hook)(main_executor_original original);
extern main_executor_hook swift_task_getMainExecutor_hook;

static _Thread_local uint64_t driven;
static _Thread_local otaflash_departure departure;
static enqueue_hook former_enqueue;
static main_executor_hook former_main_executor;

static void note(otaflash_departure found) {
  if (driven != 0 && departure == OTAFLASH_DEPARTURE_NONE) departure = found;
}

static SWIFT_CC void on_enqueue(void *job, enqueue_original original) {
  note(OTAFLASH_DEPARTURE_GLOBAL);
  if (former_enqueue) former_enqueue(job, original);
  else original(job);
}

static SWIFT_CC executor_reference on_main_executor(main_executor_original original) {
  note(OTAFLASH_DEPARTURE_MAIN);
  return former_main_executor ? former_main_executor(original) : original();
}

void otaflash_timeline_install(void) {
  former_enqueue = swift_task_enqueueGlobal_hook;
  swift_task_enqueueGlobal_hook = on_enqueue;
  former_main_executor = swift_task_getMainExecutor_hook;
  swift_task_getMainExecutor_hook = on_main_executor;
}

uint64_t otaflash_timeline_drive(uint64_t timeline) {
  uint64_t former = driven;
  driven = timeline;
  departure = OTAFLASH_DEPARTURE_NONE;
  return former;
}

uint64_t otaflash_timeline_driven(void) { return driven; }

otaflash_departure otaflash_timeline_take_departure(void) {
  otaflash_departure found = departure;
  departure = OTAFLASH_DEPARTURE_NONE;
  return found;
}
