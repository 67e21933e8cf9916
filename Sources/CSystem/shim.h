#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* What Swift cannot call: prctl is variadic, and ppoll is declared for GNU sources alone. */

/* Neither a core dump nor another process of this user may see the memory; what fails is only one wall less. */
static inline void csystem_hide_memory(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* Waits for something to read while exactly the signals of `held` are held back; -1 and errno as ppoll says. */
static inline int csystem_wait_for_input(int descriptor, const sigset_t *held) {
    extern int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    struct pollfd input = {descriptor, POLLIN, 0};
    return ppoll(&input, 1, (const struct timespec *)0, held);
}
