#pragma once

/* The steps into the sandbox, in their order. Unless something else is said, a step returns 0 or an error number. */

/* The version of Landlock's interface in this kernel; 0 if Landlock is missing, switched off or refused. */
int csandbox_landlock_version(void);

/* 1 if the kernel has filters of system calls that stop a call by a signal, else 0. */
int csandbox_has_filters(void);

/* Loads libseccomp by its name. */
int csandbox_load(const char *name);

/* EINVAL if the process has more than one thread. */
int csandbox_check_threads(void);

/* EBADF if the descriptor is closed, EISDIR if what is written to it may land in a file or on a disk. */
int csandbox_check_descriptor(int descriptor);

/* Closes the descriptors from `first` to `last`. */
int csandbox_close(unsigned first, unsigned last);

/* No privileges by starting a program, no core dump, nothing to see for other processes of the user. */
int csandbox_renounce(void);

/* No file written, no process or thread started, `descriptors` open, and so many bytes of addresses. */
int csandbox_limit(unsigned long addresses, unsigned descriptors);

/* Landlock, without a right but to read beneath `folder`, or with none at all if that is negative. */
int csandbox_lock(int version, int folder);

/* From now on, which call the filter refuses is written to `descriptor`, and ends the process with CSANDBOX_STATUS; a
   crash ends the process by its signal, without a word. */
int csandbox_report(int descriptor);

/* The filter of system calls, for all threads; with those that read a folder, if `reads_folder`. */
int csandbox_filter(int reads_folder);

/* What the shell shows for a process that SIGSYS killed: 128 + 31. */
#define CSANDBOX_STATUS 159

/* The record of a refused call: this text, the number in ten digits, and the end of the line. */
#define CSANDBOX_RECORD "sandbox: refused system call "

enum csandbox_kind {
    csandbox_other,
    csandbox_socket,
    csandbox_file,
    csandbox_program,
    csandbox_trace,
    csandbox_signal,
    csandbox_memory
};

/* What a system call is for. */
enum csandbox_kind csandbox_kind_of(long number);
