// Counts the calls of this process that change files, and ends the process, or has them fail, from the n-th
// on.
//
// The functions below have the names of the C library's. The dynamic linker finds those of the executable
// first, so Foundation, SQLite and Swift code call these; each counts and calls the library's own. What the C
// library calls within itself (fopen, mkstemp) is not seen, nor memory that is mapped from a file: the tests'
// author checks with strace that stores change files by these calls only.
#define _GNU_SOURCE
#include "CCrashPoints.h"

#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__linux__) && defined(__GLIBC__) && !defined(SANITIZED)

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/// Shared with the process that has forked this one; NULL in processes that are not watched.
typedef struct {
  CrashKind kind;
  long point;
  _Atomic long calls;
  _Atomic long noted;
  _Atomic int failed;
  char call[512];
} Shared;

static Shared *shared = NULL;
static char watched[PATH_MAX];
static size_t watchedLength = 0;
static _Atomic int isCounting = 0;

#define REAL(name) \
  static __typeof__(&name) real = NULL; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

// MARK: Which file

static bool isInside(const char *path) {
  return strncmp(path, watched, watchedLength) == 0
    && (path[watchedLength] == '/' || path[watchedLength] == 0);
}

/// The target of a link of /proc.
static bool readLink(const char *link, char *path) {
  ssize_t count = readlink(link, path, PATH_MAX - 1);
  if (count < 0) return false;
  path[count] = 0;
  return true;
}

static bool pathOfFile(int file, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  return readLink(link, path);
}

/// Makes a path absolute.
static bool resolve(int folder, const char *name, char *path) {
  if (name[0] == '/') {
    snprintf(path, PATH_MAX, "%s", name);
    return true;
  }
  char base[PATH_MAX];
  if (folder == AT_FDCWD ? !readLink("/proc/self/cwd", base) : !pathOfFile(folder, base)) return false;
  snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 300, base, name);
  return true;
}

// MARK: What happens

typedef enum { GO_ON, FAIL, TEAR } Verdict;

static void die(void) {
  for (;;) kill(getpid(), SIGKILL);
}

static Verdict judge(const char *name, const char *path, bool needsSpace, bool writes) {
  long number = atomic_fetch_add(&shared->calls, 1) + 1;
  if (shared->kind == CRASH_NEVER || number < shared->point) return GO_ON;
  if (number == shared->point)
    snprintf(shared->call, sizeof shared->call, "%s %.*s", name, 480, path + watchedLength);
  switch (shared->kind) {
  case CRASH_NEVER: return GO_ON;
  case CRASH_KILL: die();
  case CRASH_TEAR:
    if (writes) return TEAR;
    die();
  case CRASH_FULL:
    if (!needsSpace) return GO_ON;
    atomic_store(&shared->failed, 1);
    errno = ENOSPC;
    return FAIL;
  case CRASH_FAIL_ONCE:
    if (!needsSpace || atomic_exchange(&shared->failed, 1)) return GO_ON;
    errno = ENOSPC;
    return FAIL;
  }
  return GO_ON;
}

static Verdict judgeFile(const char *name, int file, bool needsSpace, bool writes) {
  if (!atomic_load(&isCounting)) return GO_ON;
  char path[PATH_MAX];
  int before = errno;
  bool counts = pathOfFile(file, path) && isInside(path);
  errno = before;
  return counts ? judge(name, path, needsSpace, writes) : GO_ON;
}

static Verdict judgePath(const char *name, int folder, const char *given, bool needsSpace) {
  if (!atomic_load(&isCounting)) return GO_ON;
  char path[PATH_MAX];
  int before = errno;
  bool counts = resolve(folder, given, path) && isInside(path);
  errno = before;
  return counts ? judge(name, path, needsSpace, false) : GO_ON;
}

/// Opening changes something if it makes a file or empties one.
static Verdict judgeOpening(const char *name, int folder, const char *path, int flags) {
  if (!atomic_load(&isCounting) || !(flags & (O_CREAT | O_TRUNC))) return GO_ON;
  int before = errno;
  bool isThere = faccessat(folder, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  errno = before;
  if (isThere ? !(flags & O_TRUNC) : !(flags & O_CREAT)) return GO_ON;
  return judgePath(name, folder, path, !isThere);
}

/// A file that becomes longer needs space.
static bool grows(int file, off_t size) {
  struct stat info;
  return fstat(file, &info) == 0 && size > info.st_size;
}

// MARK: The C library's names

#define WRITE(name, result, parameters, all, half) \
  result name parameters { \
    REAL(name); \
    switch (judgeFile(#name, file, true, true)) { \
    case FAIL: return -1; \
    case TEAR: \
      half; \
      die(); \
    case GO_ON: break; \
    } \
    return real all; \
  }

#define HALF(call) if (call < 0) die()

WRITE(write, ssize_t, (int file, const void *bytes, size_t count), (file, bytes, count),
      HALF(real(file, bytes, count / 2)))
WRITE(pwrite, ssize_t, (int file, const void *bytes, size_t count, off_t place), (file, bytes, count, place),
      HALF(real(file, bytes, count / 2, place)))
WRITE(pwrite64, ssize_t, (int file, const void *bytes, size_t count, off64_t place),
      (file, bytes, count, place), HALF(real(file, bytes, count / 2, place)))
WRITE(writev, ssize_t, (int file, const struct iovec *parts, int count), (file, parts, count),
      HALF(real(file, parts, count / 2)))
WRITE(pwritev, ssize_t, (int file, const struct iovec *parts, int count, off_t place),
      (file, parts, count, place), HALF(real(file, parts, count / 2, place)))
WRITE(pwritev64, ssize_t, (int file, const struct iovec *parts, int count, off64_t place),
      (file, parts, count, place), HALF(real(file, parts, count / 2, place)))

ssize_t sendfile(int file, int from, off_t *place, size_t count) {
  REAL(sendfile);
  switch (judgeFile("sendfile", file, true, true)) {
  case FAIL: return -1;
  case TEAR: HALF(real(file, from, place, count / 2)); die();
  case GO_ON: break;
  }
  return real(file, from, place, count);
}

ssize_t sendfile64(int file, int from, off64_t *place, size_t count) {
  REAL(sendfile64);
  switch (judgeFile("sendfile64", file, true, true)) {
  case FAIL: return -1;
  case TEAR: HALF(real(file, from, place, count / 2)); die();
  case GO_ON: break;
  }
  return real(file, from, place, count);
}

ssize_t copy_file_range(
  int from, off64_t *fromPlace, int file, off64_t *place, size_t count, unsigned int flags
) {
  REAL(copy_file_range);
  switch (judgeFile("copy_file_range", file, true, true)) {
  case FAIL: return -1;
  case TEAR: HALF(real(from, fromPlace, file, place, count / 2, flags)); die();
  case GO_ON: break;
  }
  return real(from, fromPlace, file, place, count, flags);
}

#define ON_FILE(name, needsSpace, result, failure, parameters, all) \
  result name parameters { \
    REAL(name); \
    if (judgeFile(#name, file, needsSpace, false) == FAIL) return failure; \
    return real all; \
  }

/// Counted, and not done: a process is killed here, not the machine, and waiting for disks takes time.
#define SYNC(name) \
  int name(int file) { \
    REAL(name); \
    if (judgeFile(#name, file, true, false) == FAIL) return -1; \
    return atomic_load(&isCounting) ? 0 : real(file); \
  }

SYNC(fsync)
SYNC(fdatasync)

ON_FILE(ftruncate, grows(file, size), int, -1, (int file, off_t size), (file, size))
ON_FILE(ftruncate64, grows(file, size), int, -1, (int file, off64_t size), (file, size))
ON_FILE(fallocate, true, int, -1, (int file, int mode, off_t place, off_t size), (file, mode, place, size))
ON_FILE(fallocate64, true, int, -1, (int file, int mode, off64_t place, off64_t size), (file, mode, place, size))
ON_FILE(posix_fallocate, true, int, ENOSPC, (int file, off_t place, off_t size), (file, place, size))
ON_FILE(posix_fallocate64, true, int, ENOSPC, (int file, off64_t place, off64_t size), (file, place, size))
ON_FILE(fchmod, false, int, -1, (int file, mode_t mode), (file, mode))
ON_FILE(fchown, false, int, -1, (int file, uid_t user, gid_t group), (file, user, group))
ON_FILE(futimens, false, int, -1, (int file, const struct timespec times[2]), (file, times))

#define ON_PATH(name, folder, needsSpace, parameters, all) \
  int name parameters { \
    REAL(name); \
    if (judgePath(#name, folder, path, needsSpace) == FAIL) return -1; \
    return real all; \
  }

ON_PATH(unlink, AT_FDCWD, false, (const char *path), (path))
ON_PATH(unlinkat, folder, false, (int folder, const char *path, int flags), (folder, path, flags))
ON_PATH(remove, AT_FDCWD, false, (const char *path), (path))
ON_PATH(rmdir, AT_FDCWD, false, (const char *path), (path))
ON_PATH(mkdir, AT_FDCWD, true, (const char *path, mode_t mode), (path, mode))
ON_PATH(mkdirat, folder, true, (int folder, const char *path, mode_t mode), (folder, path, mode))
ON_PATH(link, AT_FDCWD, true, (const char *from, const char *path), (from, path))
ON_PATH(linkat, folder, true, (int other, const char *from, int folder, const char *path, int flags),
        (other, from, folder, path, flags))
ON_PATH(symlink, AT_FDCWD, true, (const char *target, const char *path), (target, path))
ON_PATH(symlinkat, folder, true, (const char *target, int folder, const char *path), (target, folder, path))
ON_PATH(rename, AT_FDCWD, true, (const char *from, const char *path), (from, path))
ON_PATH(renameat, folder, true, (int other, const char *from, int folder, const char *path),
        (other, from, folder, path))
ON_PATH(renameat2, folder, true,
        (int other, const char *from, int folder, const char *path, unsigned int flags),
        (other, from, folder, path, flags))
ON_PATH(truncate, AT_FDCWD, false, (const char *path, off_t size), (path, size))
ON_PATH(truncate64, AT_FDCWD, false, (const char *path, off64_t size), (path, size))
ON_PATH(chmod, AT_FDCWD, false, (const char *path, mode_t mode), (path, mode))
ON_PATH(utimensat, folder, false, (int folder, const char *path, const struct timespec times[2], int flags),
        (folder, path, times, flags))

#define MODE_OF(flags) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list rest; \
    va_start(rest, flags); \
    mode = va_arg(rest, mode_t); \
    va_end(rest); \
  }

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(name); \
    MODE_OF(flags) \
    if (judgeOpening(#name, AT_FDCWD, path, flags) == FAIL) return -1; \
    return real(path, flags, mode); \
  }

#define OPEN_AT(name) \
  int name(int folder, const char *path, int flags, ...) { \
    REAL(name); \
    MODE_OF(flags) \
    if (judgeOpening(#name, folder, path, flags) == FAIL) return -1; \
    return real(folder, path, flags, mode); \
  }

OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)

// MARK: The tests' side

bool crash_points_are_available(void) { return true; }

typedef struct {
  int (*function)(void *);
  void *context;
  int result;
} Work;

static void *work(void *argument) {
  Work *own = argument;
  own->result = own->function(own->context);
  return NULL;
}

/// Runs a function in a thread that this process has made. The runtime of Swift keeps the number of a thread,
/// and the one that has forked goes on with its former number: where it waits for another thread, it would
/// wait for ever.
static int runInOwnThread(int (*function)(void *), void *context) {
  Work own = {.function = function, .context = context, .result = 1};
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, &own) != 0) return 1;
  pthread_join(thread, NULL);
  return own.result;
}

/// A process that a thread of libdispatch has started has most signals blocked.
static void endAfterAMinute(void) {
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  sigprocmask(SIG_UNBLOCK, &alarms, NULL);
  alarm(60);
}

CrashOutcome crash_points_run(CrashKind kind, long point, int (*function)(void *), void *context) {
  CrashOutcome outcome = {.status = -1};
  Shared *memory = mmap(NULL, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return outcome;
  memory->kind = kind;
  memory->point = point;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    shared = memory;
    endAfterAMinute();
    _exit(runInOwnThread(function, context));
  }
  if (child > 0) {
    while (waitpid(child, &outcome.status, 0) < 0 && errno == EINTR) {}
    outcome.calls = atomic_load(&memory->calls);
    outcome.noted = atomic_load(&memory->noted);
    memcpy(outcome.call, memory->call, sizeof outcome.call);
  }
  munmap(memory, sizeof(Shared));
  return outcome;
}

void crash_points_begin(const char *folder) {
  if (!shared) return;
  snprintf(watched, sizeof watched, "%s", folder);
  watchedLength = strlen(watched);
  atomic_store(&isCounting, 1);
}

bool crash_points_lift(void) {
  atomic_store(&isCounting, 0);
  return shared && atomic_load(&shared->failed);
}

void crash_points_note(long number) {
  if (shared) atomic_store(&shared->noted, number);
}

// MARK: A library for other programs

#ifdef CRASH_PRELOAD

#include <sys/statvfs.h>

static void fill(const char *path, unsigned long *available) {
  if (shared && shared->kind == CRASH_FULL && atomic_load(&shared->failed) && isInside(path)) *available = 0;
}

/// A full disk has no blocks left.
int statvfs(const char *path, struct statvfs *info) {
  REAL(statvfs);
  int result = real(path, info);
  if (result == 0) fill(path, (unsigned long *)&info->f_bavail);
  return result;
}

int statvfs64(const char *path, struct statvfs64 *info) {
  REAL(statvfs64);
  int result = real(path, info);
  if (result == 0) fill(path, (unsigned long *)&info->f_bavail);
  return result;
}

/// Compiled as a library that LD_PRELOAD names: the disk of a program that knows nothing of this is full from
/// the n-th call on. CRASH_FOLDER and CRASH_POINT say where and when; CRASH_REPORT is the file that gets the
/// number of calls and the call at the point.
__attribute__((constructor)) static void beginPreloaded(void) {
  const char *folder = getenv("CRASH_FOLDER"), *point = getenv("CRASH_POINT");
  if (!folder || !point || !(shared = calloc(1, sizeof(Shared)))) return;
  shared->point = atol(point);
  shared->kind = shared->point > 0 ? CRASH_FULL : CRASH_NEVER;
  crash_points_begin(folder);
}

__attribute__((destructor)) static void endPreloaded(void) {
  const char *path = getenv("CRASH_REPORT");
  if (!shared || !path) return;
  atomic_store(&isCounting, 0);
  FILE *report = fopen(path, "w");
  if (!report) return;
  fprintf(report, "%ld\n%s\n", atomic_load(&shared->calls), shared->call);
  fclose(report);
}

#endif

#else

bool crash_points_are_available(void) { return false; }

CrashOutcome crash_points_run(CrashKind kind, long point, int (*function)(void *), void *context) {
  CrashOutcome outcome = {.status = -1};
  return outcome;
}

void crash_points_begin(const char *folder) {}
bool crash_points_lift(void) { return false; }
void crash_points_note(long number) {}

#endif
