#define _GNU_SOURCE
#include "CKCTestSupport.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Into a pipe too, each line is written when it is there: what hangs is to be seen in a log. */
__attribute__((constructor)) static void write_lines(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
}

int ctest_spawn(
    pid_t *process, const char *program, char *const *arguments, char *const *environment, const char *folder,
    const char *const streams[3]) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure) return failure;
    failure = posix_spawnattr_init(&attributes);
    if (failure) {
        posix_spawn_file_actions_destroy(&actions);
        return failure;
    }
    for (int stream = 0; stream < 3 && !failure; stream++)
        failure = posix_spawn_file_actions_addopen(
            &actions, stream, streams[stream], stream == 0 ? O_RDONLY : O_WRONLY, 0);
    if (!failure) failure = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (!failure && folder) failure = posix_spawn_file_actions_addchdir_np(&actions, folder);
    if (!failure)
        failure = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    if (!failure) failure = posix_spawnattr_setsigdefault(&attributes, &all);
    if (!failure) failure = posix_spawnattr_setsigmask(&attributes, &none);
    if (!failure) failure = posix_spawn(process, program, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

int ctest_wait(pid_t process, int milliseconds) {
    int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
    if (descriptor < 0) return -1;
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += milliseconds / 1000;
    end.tv_nsec += milliseconds % 1000 * 1000000L;
    int result;
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
        long left = (end.tv_sec - now.tv_sec) * 1000 + (end.tv_nsec - now.tv_nsec) / 1000000;
        struct pollfd exited = {descriptor, POLLIN, 0};
        result = poll(&exited, 1, left > 0 ? (int)left : 0);
    } while (result < 0 && errno == EINTR);
    int failure = errno;
    close(descriptor);
    errno = failure;
    return result;
}

int ctest_reap(pid_t process, double *seconds) {
    struct rusage usage;
    int status;
    while (wait4(process, &status, 0, &usage) < 0)
        if (errno != EINTR) return -1;
    *seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    return status;
}
