#pragma once

#include <stddef.h>
#include <sys/types.h>

/* What Swift cannot call: it is declared for GNU sources alone. */

/* Starts `program` (a path) in a process group of its own, in `folder` (or here, if null), with no descriptor but the
   three files of `streams`, and with the signals as a new process has them. 0 and the process, or an error number. */
int ctest_spawn(
    pid_t *process, const char *program, char *const *arguments, char *const *environment, const char *folder,
    const char *const streams[3]);

/* Waits for the end of `process`, without reaping it, so that its number and its group's stay taken.
   1 when it ended, 0 when `milliseconds` went by, -1 and errno. */
int ctest_wait(pid_t process, int milliseconds);

/* Reaps `process`. Its wait status, or -1 and errno; `seconds` is the processor time that it and those took for which it
   waited. */
int ctest_reap(pid_t process, double *seconds);

/* Keys on P-256 and AES-256-CBC, which only a security token in software needs. Points are 64 bytes, x before y. */
typedef struct ctest_key ctest_key;

/* A new key, or null. */
ctest_key *ctest_key_new(void);

void ctest_key_free(ctest_key *key);

/* 0 and the point of the key. */
int ctest_key_point(const ctest_key *key, unsigned char *point);

/* 0 and 32 bytes that the holder of the other key gets too. */
int ctest_key_agree(const ctest_key *key, const unsigned char *point, unsigned char *shared);

/* 0 and an ECDSA signature with SHA-256 in DER, of at most 72 bytes. */
int ctest_key_sign(
    const ctest_key *key, const unsigned char *message, size_t count, unsigned char *signature, size_t *length);

/* 0 and as many bytes as went in, a multiple of 16; without padding, and with an IV of zeros. */
int ctest_aes_cbc(
    int encrypts, const unsigned char *key, const unsigned char *input, size_t count, unsigned char *output);
