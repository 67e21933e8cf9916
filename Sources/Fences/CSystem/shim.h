#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What Swift cannot call: prctl is variadic, and the others are declared for GNU sources alone. */

/* The child is to have no descriptor from `first` on; the actions are those of posix_spawn, whose header would make the
   types of others this module's. */
static inline int csystem_close_from(void *actions, int first) {
    extern int posix_spawn_file_actions_addclosefrom_np(void *, int);
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

/* Neither a core dump nor another process of this user may see the memory; what fails is only one wall less. */
static inline void csystem_hide_memory(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* A descriptor that becomes readable when a process ends; -1 and errno as pidfd_open says. */
static inline int csystem_open_process(pid_t process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}

/* Waits for something to read while exactly the signals of `held` are held back; -1 and errno as ppoll says. */
static inline int csystem_wait_for_input(int descriptor, const sigset_t *held) {
    extern int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    struct pollfd input = {descriptor, POLLIN, 0};
    return ppoll(&input, 1, (const struct timespec *)0, held);
}
