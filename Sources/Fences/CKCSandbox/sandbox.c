#define _GNU_SOURCE
#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* seccomp(2); the C library has it since 2.37. */
#ifndef SYS_SECCOMP
#define SYS_SECCOMP 1
#endif

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

int csandbox_landlock_version(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version > 0 ? (int)version : 0;
}

int csandbox_has_filters(void) {
    uint32_t action = SECCOMP_RET_TRAP;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int csandbox_check_threads(void) {
    struct stat status;
    /* proc(5): the folder has two links, and one for each thread. */
    if (stat("/proc/self/task", &status) == 0) return status.st_nlink > 3 ? EINVAL : 0;
    /* A process with one thread is not changed by this; a container may refuse it. */
    return unshare(CLONE_THREAD) != 0 ? errno : 0;
}

int csandbox_check_descriptor(int descriptor) {
    struct stat status;
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fstat(descriptor, &status) != 0) return errno;
    if ((flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH)) return 0;
    return S_ISREG(status.st_mode) || S_ISBLK(status.st_mode) ? EISDIR : 0;
}

int csandbox_close(unsigned first, unsigned last) { return syscall(SYS_close_range, first, last, 0) != 0 ? errno : 0; }

int csandbox_renounce(void) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ? errno : 0;
}

int csandbox_limit(unsigned long addresses, unsigned descriptors) {
    const struct {
        __rlimit_resource_t resource;
        rlim_t most;
    } limits[] = {
        {RLIMIT_AS, addresses}, {RLIMIT_FSIZE, 0}, {RLIMIT_NPROC, 0}, {RLIMIT_NOFILE, descriptors}, {RLIMIT_CORE, 0},
    };
    for (size_t index = 0; index < COUNT(limits); index++) {
        struct rlimit limit;
        if (getrlimit(limits[index].resource, &limit) != 0) return errno;
        /* A lower limit of the caller stays. */
        if (limit.rlim_max > limits[index].most) limit.rlim_max = limits[index].most;
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(limits[index].resource, &limit) != 0) return errno;
    }
    return 0;
}

/* struct landlock_ruleset_attr as of version 6: Debian 12's header has the first field only. A kernel takes the longer
   one if what that kernel does not know is 0. */
struct rules {
    uint64_t files, network, scopes;
};

int csandbox_lock(int version, int folder) {
    /* The rights on files grew by REFER (version 2), TRUNCATE (3) and IOCTL_DEV (5), from 13. */
    int rights = 13 + (version >= 2) + (version >= 3) + (version >= 5);
    /* Network: binding and connecting TCP. Scopes: abstract sockets, signals. */
    struct rules rules = {(1ULL << rights) - 1, version >= 4 ? 3 : 0, version >= 6 ? 3 : 0};
    int set = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (set < 0 && errno == EINVAL && version == 6) {
        /* The kernel of RHEL 9 claims version 6 and has no scope of signals, which the filter refuses too. */
        rules.scopes = 1;
        set = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    }
    if (set < 0) return errno;
    int failure = 0;
    if (folder >= 0) {
        struct landlock_path_beneath_attr beneath = {
            LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR, folder};
        if (syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) != 0) failure = errno;
    }
    if (!failure && syscall(SYS_landlock_restrict_self, set, 0) != 0) failure = errno;
    close(set);
    return failure;
}

static volatile int record_descriptor = 2;

/* Calls only what is safe in a handler of a signal, and what the filter allows. */
static void stop(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    if (info->si_code == SYS_SECCOMP) {
        char record[] = CSANDBOX_RECORD "0000000000\n";
        unsigned number = (unsigned)info->si_syscall;
        for (char *digit = record + sizeof record - 3; number > 0; digit--, number /= 10)
            *digit = (char)('0' + number % 10);
        /* Shorter than PIPE_BUF, so written whole or not at all. */
        ssize_t ignored = write(record_descriptor, record, sizeof record - 1);
        (void)ignored;
    }
    _exit(CSANDBOX_STATUS);
}

int csandbox_report(int descriptor) {
    const int crashes[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP};
    struct sigaction action = {0};
    sigset_t stopping;
    /* Swift's handler would open files and start a program that prints memory. */
    for (size_t index = 0; index < COUNT(crashes); index++)
        if (signal(crashes[index], SIG_DFL) == SIG_ERR) return errno;
    record_descriptor = descriptor;
    action.sa_sigaction = stop;
    action.sa_flags = SA_SIGINFO;
    sigfillset(&action.sa_mask);
    if (sigaction(SIGSYS, &action, NULL) != 0) return errno;
    /* A blocked signal would kill without a record. */
    sigemptyset(&stopping);
    sigaddset(&stopping, SIGSYS);
    return sigprocmask(SIG_UNBLOCK, &stopping, NULL) != 0 ? errno : 0;
}

static const int allowed[] = {
    SYS_read, SYS_readv, SYS_pread64, SYS_write, SYS_writev, SYS_lseek, SYS_close, SYS_fstat, SYS_newfstatat,
    SYS_munmap, SYS_mremap, SYS_madvise, SYS_mlock, SYS_mlock2, SYS_munlock, SYS_brk, SYS_futex, SYS_getrandom,
    SYS_getpid, SYS_gettid, SYS_rt_sigreturn, SYS_sigaltstack, SYS_exit, SYS_exit_group,
    SYS_clock_gettime, SYS_gettimeofday, SYS_restart_syscall, SYS_ppoll,
#ifdef SYS_poll
    SYS_poll,
#endif
};

/* The commands of fcntl(2), for fdopendir(3), copies of a descriptor, and to see if a file is locked. */
static const uint32_t of_descriptors[] = {F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC, F_GETLK};

/* Names inside the folder, and dates; Landlock decides what can be opened. */
static const int of_folders[] = {
    SYS_getdents64, SYS_readlinkat,
#ifdef SYS_readlink
    SYS_readlink,
#endif
};

/* The C library asks for its own tuning, and goes on without an answer. It also blocks all signals before it starts a
   thread; a refused call would then kill without a record. */
static const int unanswered[] = {
    SYS_ioctl, SYS_prlimit64, SYS_sched_getaffinity, SYS_sysinfo, SYS_rt_sigprocmask,
};

/* Of libseccomp, which only a process that enters the sandbox loads. */
static struct {
    scmp_filter_ctx (*init)(uint32_t);
    void (*release)(scmp_filter_ctx);
    int (*load)(const scmp_filter_ctx);
    int (*attr_set)(scmp_filter_ctx, enum scmp_filter_attr, uint32_t);
    int (*rule_add_array)(scmp_filter_ctx, uint32_t, int, unsigned, const struct scmp_arg_cmp *);
} seccomp;

int csandbox_load(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) return ELIBACC;
    const struct {
        void **function;
        const char *name;
    } functions[] = {
        {(void **)&seccomp.init, "seccomp_init"},
        {(void **)&seccomp.release, "seccomp_release"},
        {(void **)&seccomp.load, "seccomp_load"},
        {(void **)&seccomp.attr_set, "seccomp_attr_set"},
        {(void **)&seccomp.rule_add_array, "seccomp_rule_add_array"},
    };
    for (size_t index = 0; index < COUNT(functions); index++)
        if (!(*functions[index].function = dlsym(library, functions[index].name))) return ELIBBAD;
    return 0;
}

/* Adds a call for arguments that pass all tests. */
static int allow(scmp_filter_ctx filter, int call, unsigned count, const struct scmp_arg_cmp *tests) {
    return -seccomp.rule_add_array(filter, SCMP_ACT_ALLOW, call, count, tests);
}

static int add_rules(scmp_filter_ctx filter, int reads_folder) {
    const struct scmp_arg_cmp
        not_executable = SCMP_A2_64(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
        /* Memory that is shared could be a file. */
        private[] = {not_executable, SCMP_A3_64(SCMP_CMP_MASKED_EQ, MAP_TYPE, MAP_PRIVATE)},
        thread = SCMP_A0_64(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD),
        ourselves = SCMP_A0_64(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0),
        /* The handler of SIGSYS stays. Not a test for "any other": the kernel would drop the upper half of a number. */
        other_signals = SCMP_A0_64(SCMP_CMP_LT, SIGSYS, 0),
        /* Not even to look at what Landlock does not show: O_PATH opens all. */
        reading = SCMP_A2_32(SCMP_CMP_MASKED_EQ, O_ACCMODE | O_CREAT | O_TRUNC | O_PATH, 0);
    int failure = 0;
    for (size_t index = 0; index < COUNT(allowed) && !failure; index++)
        failure = allow(filter, allowed[index], 0, NULL);
    for (size_t index = 0; index < COUNT(unanswered) && !failure; index++)
        failure = -seccomp.rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), unanswered[index], 0, NULL);
    /* No thread is started, and libraries go on with one. The C library tries clone3, whose arguments a filter cannot
       see, and then clone; a call that would copy the process is refused. */
    if (!failure) failure = -seccomp.rule_add_array(filter, SCMP_ACT_ERRNO(ENOSYS), SYS_clone3, 0, NULL);
    if (!failure) failure = -seccomp.rule_add_array(filter, SCMP_ACT_ERRNO(EAGAIN), SYS_clone, 1, &thread);
    if (!failure) failure = allow(filter, SYS_mmap, 2, private);
    if (!failure) failure = allow(filter, SYS_mprotect, 1, &not_executable);
    if (!failure) failure = allow(filter, SYS_tgkill, 1, &ourselves);
    if (!failure) failure = allow(filter, SYS_rt_sigaction, 1, &other_signals);
    for (scmp_datum_t own = 32; own <= 33 && !failure; own++) {
        /* The signals of the C library, which it prepares before the first thread: that call is the one to report. */
        const struct scmp_arg_cmp signal_of_library = SCMP_A0_64(SCMP_CMP_EQ, own, 0);
        failure = allow(filter, SYS_rt_sigaction, 1, &signal_of_library);
    }
    for (size_t index = 0; index < COUNT(of_descriptors) && !failure; index++) {
        const struct scmp_arg_cmp command = SCMP_A1_32(SCMP_CMP_EQ, of_descriptors[index], 0);
        failure = allow(filter, SYS_fcntl, 1, &command);
    }
    if (!reads_folder) return failure;
    for (size_t index = 0; index < COUNT(of_folders) && !failure; index++)
        failure = allow(filter, of_folders[index], 0, NULL);
    if (!failure) failure = allow(filter, SYS_openat, 1, &reading);
    return failure;
}

int csandbox_filter(int reads_folder) {
    scmp_filter_ctx filter = seccomp.init(SCMP_ACT_TRAP);
    if (!filter) return ENOMEM;
    /* Calls of 32 bits, and of x32, have other numbers. */
    int failure = -seccomp.attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (!failure) failure = -seccomp.attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (!failure) failure = -seccomp.attr_set(filter, SCMP_FLTATR_API_SYSRAWRC, 1);
    if (!failure) failure = add_rules(filter, reads_folder);
    if (!failure) failure = -seccomp.load(filter);
    seccomp.release(filter);
    return failure;
}
