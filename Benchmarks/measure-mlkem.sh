#!/usr/bin/env bash
# Measures the ML-KEM-768 that is part of the program: the time of each function, and with valgrind whether a branch or an
# address depends on a secret, at each level of optimization. A program with a planted branch shows that valgrind would
# notice. Divisions, whose time depends on what is divided, are counted in the code.
#
#   Benchmarks/measure-mlkem.sh [CLANG]
set -euo pipefail
cd "$(dirname "$0")/../Sources/Fences/CKCMLKEM"

clang=${1:-$(dirname "$(realpath "$(command -v swiftc)")")/clang}
command -v valgrind >/dev/null || { echo 'measure-mlkem.sh: valgrind is missing: .ci/install-packages bench' >&2; exit 69; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/time.c" <<'C'
#include <stdio.h>
#include <time.h>
#include "shim.h"

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

int main(void) {
    static unsigned char public_key[1184], private_key[2400], ciphertext[1088], secret[32], coins[64];
    enum { rounds = 5000 };
    int status = 0;
    double times[4] = {now()};
    for (int i = 0; i < rounds; i++, coins[0]++) status |= kcbackup_mlkem768_keypair_derand(public_key, private_key, coins);
    times[1] = now();
    for (int i = 0; i < rounds; i++, coins[0]++) status |= kcbackup_mlkem768_enc_derand(ciphertext, secret, public_key, coins);
    times[2] = now();
    for (int i = 0; i < rounds; i++) status |= kcbackup_mlkem768_dec(secret, ciphertext, private_key);
    times[3] = now();
    printf("key pair %.4f ms, encapsulate %.4f ms, decapsulate %.4f ms\n", (times[1] - times[0]) / rounds,
        (times[2] - times[1]) / rounds, (times[3] - times[2]) / rounds);
    return status;
}
C
cat >"$work/secrets.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <valgrind/memcheck.h>
#include "shim.h"

int main(int count, char **arguments) {
    static unsigned char public_key[1184], private_key[2400], ciphertext[1088], secret[32], seed[64], coins[32];
    int status = 0;
    (void)arguments;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 64; i++) seed[i] = (unsigned char)rand();
        for (int i = 0; i < 32; i++) coins[i] = (unsigned char)rand();
        VALGRIND_MAKE_MEM_UNDEFINED(seed, sizeof seed);
        VALGRIND_MAKE_MEM_UNDEFINED(coins, sizeof coins);
        status |= kcbackup_mlkem768_keypair_derand(public_key, private_key, seed);
        VALGRIND_MAKE_MEM_DEFINED(public_key, sizeof public_key);
        status |= kcbackup_mlkem768_enc_derand(ciphertext, secret, public_key, coins);
        VALGRIND_MAKE_MEM_DEFINED(ciphertext, sizeof ciphertext);
        status |= kcbackup_mlkem768_dec(secret, ciphertext, private_key);
        /* Another secret is returned for this one. */
        ciphertext[round * 7] ^= 1;
        status |= kcbackup_mlkem768_dec(secret, ciphertext, private_key);
        if (count > 1 && secret[0] > 7) puts("a branch that depends on a secret");
    }
    VALGRIND_MAKE_MEM_DEFINED(&status, sizeof status);
    return status;
}
C

"$clang" -O2 -I. -o "$work/time" "$work/time.c" mlkem.c
"$work/time"
for level in -O1 -O2 -O3 -Os; do
    "$clang" "$level" -DMLK_CONFIG_CT_TESTING_ENABLED -I. -o "$work/secrets" "$work/secrets.c" mlkem.c
    valgrind --quiet --error-exitcode=9 "$work/secrets" && found=nothing || found=something
    valgrind --quiet --error-exitcode=9 "$work/secrets" planted >/dev/null 2>&1 && planted=missed || planted=noticed
    divisions=$(objdump --disassemble "$work/secrets" | grep -cE '\s(i?div[bwlq]?|v?div[sp][sd])\s' || true)
    echo "$level: valgrind finds $found; a planted branch is $planted; $divisions divisions"
done
