#ifndef CLARUS_CRASH_POINTS_H
#define CLARUS_CRASH_POINTS_H

#include <stdbool.h>

/// What happens at the n-th call that changes a file in the watched folder.
typedef enum {
  /// Nothing: the calls are counted.
  CRASH_NEVER = 0,
  /// The process is killed before the call.
  CRASH_KILL = 1,
  /// If the call writes bytes, half of them are written; then the process is killed.
  CRASH_TEAR = 2,
  /// This call and all later ones that need space fail with ENOSPC, until crash_points_lift.
  CRASH_FULL = 3,
  /// The first call from here on that needs space fails with ENOSPC, and no other.
  CRASH_FAIL_ONCE = 4,
} CrashKind;

typedef struct {
  /// As waitpid returns it.
  int status;
  /// How many calls there were.
  long calls;
  /// The last number that the process has noted.
  long noted;
  /// The call at the point, with its path; empty if it was not reached.
  char call[512];
} CrashOutcome;

/// Whether calls can be counted here: on Linux with glibc, not under a sanitizer, which has its own wrappers.
bool crash_points_are_available(void);

/// Runs a function in a process of its own, by fork: the caller must have no other thread. The process ends
/// with what the function returns, and by SIGALRM if it takes longer than a minute.
CrashOutcome crash_points_run(CrashKind kind, long point, int (*function)(void *), void *context);

/// In that process: counts from now on. `folder` must not lead through links.
void crash_points_begin(const char *folder);

/// In that process: there is space again; calls are not counted any more. Returns whether a call has failed.
bool crash_points_lift(void);

/// In that process: what it has done so far.
void crash_points_note(long number);

#endif
