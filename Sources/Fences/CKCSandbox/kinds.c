#define _GNU_SOURCE
#include "shim.h"

#include <sys/syscall.h>

/* Older machines have calls that newer ones, such as aarch64, make with others. */
enum csandbox_kind csandbox_kind_of(long number) {
    switch (number) {
    case SYS_socket: case SYS_socketpair: case SYS_connect: case SYS_bind: case SYS_listen: case SYS_accept:
    case SYS_accept4: case SYS_sendto: case SYS_sendmsg: case SYS_sendmmsg: case SYS_recvfrom: case SYS_recvmsg:
    case SYS_recvmmsg: case SYS_getsockopt: case SYS_setsockopt: case SYS_getsockname: case SYS_getpeername:
    case SYS_shutdown:
        return csandbox_socket;
    case SYS_openat: case SYS_openat2: case SYS_open_by_handle_at: case SYS_faccessat: case SYS_faccessat2:
    case SYS_statx: case SYS_readlinkat: case SYS_getdents64: case SYS_mkdirat: case SYS_mknodat: case SYS_unlinkat:
    case SYS_renameat: case SYS_renameat2: case SYS_linkat: case SYS_symlinkat: case SYS_truncate: case SYS_ftruncate:
    case SYS_fallocate: case SYS_fchmodat: case SYS_fchownat: case SYS_utimensat: case SYS_chdir:
    case SYS_memfd_create:
#ifdef SYS_open
    case SYS_open: case SYS_creat: case SYS_access: case SYS_stat: case SYS_lstat: case SYS_readlink: case SYS_mkdir:
    case SYS_rmdir: case SYS_mknod: case SYS_unlink: case SYS_rename: case SYS_link: case SYS_symlink:
    case SYS_chmod: case SYS_chown:
#endif
        return csandbox_file;
    case SYS_clone: case SYS_clone3: case SYS_execve: case SYS_execveat:
#ifdef SYS_fork
    case SYS_fork: case SYS_vfork:
#endif
        return csandbox_program;
    case SYS_ptrace: case SYS_process_vm_readv: case SYS_process_vm_writev: case SYS_pidfd_getfd: case SYS_kcmp:
        return csandbox_trace;
    case SYS_kill: case SYS_tkill: case SYS_tgkill: case SYS_pidfd_send_signal: case SYS_rt_sigqueueinfo:
    case SYS_rt_tgsigqueueinfo:
        return csandbox_signal;
    case SYS_mmap: case SYS_mprotect: case SYS_pkey_mprotect: case SYS_remap_file_pages: case SYS_shmat:
    case SYS_memfd_secret:
        return csandbox_memory;
    default:
        return csandbox_other;
    }
}
