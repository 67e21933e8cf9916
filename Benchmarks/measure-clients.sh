#!/bin/sh
# Prints how long reads and adds take in several processes with several threads each, beside bare SQLite on the same
# tables, with as many connections as threads.
#
#   Benchmarks/measure-clients.sh [PROCESSES [THREADS [ROUNDS [DELAY]]]]    3, 8, 60 and 0 by default
#
# A round of a thread is an add and nine reads. The files are on the disk of the temporary folder (TMPDIR). With a DELAY,
# every fsync and fdatasync takes so many microseconds longer, as on a slow disk; it needs a C compiler.
set -eu
cd "$(dirname "$0")"
swift build --package-path Calls --configuration release --quiet
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
preload=
if [ "${4-0}" -gt 0 ]; then
    preload=$folder/slow-disk.so
    cc -O2 -shared -fPIC -o "$preload" slow-disk.c
fi
LD_PRELOAD=$preload SYNC_DELAY=${4-0} XDG_DATA_HOME=$folder \
    Calls/.build/release/Calls clients "${1-3}" "${2-8}" "${3-60}"
