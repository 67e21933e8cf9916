#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

/* Preloaded by measure-clients.sh: makes each write to the disk take SYNC_DELAY microseconds longer. */

static void wait_for_disk(void) {
    const char *delay = getenv("SYNC_DELAY");
    if (delay) usleep((useconds_t)atoi(delay));
}

int fsync(int file) {
    wait_for_disk();
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}

int fdatasync(int file) {
    wait_for_disk();
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}
