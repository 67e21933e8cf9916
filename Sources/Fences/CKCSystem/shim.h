#pragma once

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Swift cannot call these: prctl and open are variadic, vfork returns twice, and the others are declared only for GNU
   sources. */

/* What csystem_start needs to know. */
struct csystem_program {
    const char *path;
    char *const *arguments;
    char *const *environment;
    /* Where the standard streams lead; -1 for nowhere. */
    int streams[3];
    /* Whether it leads a process group of its own. */
    int is_group;
    /* Whether it is killed when the thread that starts it ends, however that happens. */
    int is_bound;
    /* Descriptors that it gets besides, as 3, 4 and so on; at most CSYSTEM_PASSED. */
    const int *passed;
    int passed_count;
};

#define CSYSTEM_PASSED 48

/* Becomes the program, in a child that shares the memory of `parent`: only system calls. Returns an error number. */
static inline int csystem_become(const struct csystem_program *program, pid_t parent) {
    sigset_t none;
    int passed[CSYSTEM_PASSED], first = 3 + program->passed_count;
    if (program->passed_count < 0 || program->passed_count > CSYSTEM_PASSED) return EINVAL;
    /* A handler would change the memory of the parent. What is ignored stays ignored, but for what ProcessSetup ignores. */
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction action;
        if (sigaction(number, (struct sigaction *)0, &action) != 0) continue;
        if (action.sa_handler == SIG_IGN && number != SIGPIPE && number != SIGXFSZ) continue;
        action.sa_handler = SIG_DFL;
        action.sa_flags = 0;
        sigaction(number, &action, (struct sigaction *)0);
    }
    if (program->is_bound) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return errno;
        /* The parent may have ended before. */
        if (getppid() != parent) _exit(127);
    }
    if (program->is_group && setpgid(0, 0) != 0) return errno;
    /* First out of the way of each other. */
    for (int index = 0; index < program->passed_count; index++)
        if ((passed[index] = fcntl(program->passed[index], F_DUPFD_CLOEXEC, first)) < 0) return errno;
    for (int stream = 0; stream < 3; stream++) {
        int descriptor = program->streams[stream];
        if (descriptor == stream) continue;
        if (descriptor < 0) descriptor = open("/dev/null", stream == 0 ? O_RDONLY : O_WRONLY);
        if (descriptor < 0 || dup2(descriptor, stream) < 0) return errno;
    }
    for (int index = 0; index < program->passed_count; index++)
        if (dup2(passed[index], 3 + index) < 0) return errno;
    /* Old kernels cannot close them at once. */
    if (syscall(SYS_close_range, first, ~0U, 0) != 0)
        for (long descriptor = sysconf(_SC_OPEN_MAX) - 1; descriptor >= first; descriptor--) close((int)descriptor);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, (sigset_t *)0);
    execve(program->path, program->arguments, program->environment);
    return errno;
}

/* Starts a program as posix_spawn(3) does, which cannot bind it to its parent. 0 and the process, or an error number. A
   copy of this process would have its secrets, so the child borrows the memory until it is the program. */
static inline int csystem_start(pid_t *process, const struct csystem_program *program) {
    sigset_t all, before;
    volatile int failure = 0;
    pid_t parent = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = vfork();
    if (child == 0) {
        failure = csystem_become(program, parent);
        _exit(127);
    }
    if (child < 0) failure = errno;
    pthread_sigmask(SIG_SETMASK, &before, (sigset_t *)0);
    if (child > 0 && failure != 0) waitpid(child, (int *)0, 0);
    *process = child;
    return failure;
}

/* Replaces this process by a command, as execvpe(3) does, or by the program at a path. Returns an error number. */
static inline int csystem_replace(const char *file, int is_command, char *const *arguments, char *const *environment) {
    extern int execvpe(const char *, char *const *, char *const *);
    if (is_command) execvpe(file, arguments, environment);
    else execve(file, arguments, environment);
    return errno;
}

/* Returns a file in memory that has no name, and that nothing inherits yet; -1 with errno set, like memfd_create(2). */
static inline int csystem_memory_file(void) {
    /* MFD_CLOEXEC and MFD_ALLOW_SEALING; with MFD_NOEXEC_SEAL, which a system may insist on and an old kernel refuses. */
    int descriptor = (int)syscall(SYS_memfd_create, "secret", 3U | 8U);
    return descriptor < 0 && errno == EINVAL ? (int)syscall(SYS_memfd_create, "secret", 3U) : descriptor;
}

/* Keeps anyone from changing such a file; -1 with errno set. */
static inline int csystem_seal(int descriptor) {
    /* F_ADD_SEALS with F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW and F_SEAL_WRITE, which are declared for GNU sources. */
    return fcntl(descriptor, 1033, 15);
}

/* Keeps the memory out of core dumps and away from other processes of this user. This is an additional protection, so
   failures are ignored. */
static inline void csystem_hide_memory(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* Gives blocks of at least `size` bytes back to the system as soon as they are freed (mallopt(3), M_MMAP_THRESHOLD). By
   itself, the C library does so only until the first of them was freed. */
static inline void csystem_return_large_blocks(int size) { mallopt(M_MMAP_THRESHOLD, size); }

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
