#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Swift cannot call these: prctl is variadic, and the others are declared only for GNU sources. */

/* Closes all descriptors from `first` on in the child. `actions` is a posix_spawn_file_actions_t; including its header
   would define its types in this module. */
static inline int csystem_close_from(void *actions, int first) {
    extern int posix_spawn_file_actions_addclosefrom_np(void *, int);
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

/* Keeps the memory out of core dumps and away from other processes of this user. This is an additional protection, so
   failures are ignored. */
static inline void csystem_hide_memory(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* Returns a descriptor that becomes readable when a process ends; -1 with errno set, like pidfd_open(2). */
static inline int csystem_open_process(pid_t process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}

/* Waits for input while exactly the signals in `held` are blocked; -1 with errno set, like ppoll(2). */
static inline int csystem_wait_for_input(int descriptor, const sigset_t *held) {
    extern int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    struct pollfd input = {descriptor, POLLIN, 0};
    return ppoll(&input, 1, (const struct timespec *)0, held);
}
