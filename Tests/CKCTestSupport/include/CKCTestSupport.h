#pragma once

#include <sys/types.h>

/* What Swift cannot call: these are declared for GNU sources alone. */

/* Starts `program` (a path) in a process group of its own, in `folder` (or here, if null), with no descriptor but the
   three files of `streams`, and with the signals as a new process has them. 0 and the process, or an error number. */
int ctest_spawn(
    pid_t *process, const char *program, char *const *arguments, char *const *environment, const char *folder,
    const char *const streams[3]);

/* Waits for the end of `process`, without reaping it, so that its number and its group's stay taken.
   1 when it ended, 0 when `milliseconds` went by, -1 and errno. */
int ctest_wait(pid_t process, int milliseconds);

/* Reaps `process`. Its wait status, or -1 and errno; `seconds` is the processor time that it and those took for which it
   waited. */
int ctest_reap(pid_t process, double *seconds);
