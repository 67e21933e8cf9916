#pragma once

#include <sys/prctl.h>
#include <sys/resource.h>

/* What Swift cannot call: prctl is variadic. */

/* Neither a core dump nor another process of this user may see the memory; what fails is only one wall less. */
static inline void csystem_hide_memory(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
