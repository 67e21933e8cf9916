#!/usr/bin/env bash
# Measures whole runs of kcbackup: seconds, processor seconds and peak memory of import, list, create, verify, inspect
# and restore of COUNT generated items, and of `security dump-keychain` where that program lies beside kcbackup. No key derivation is in the figures: the keychain has no passcode, and the archive
# is for a public key. Needs GNU time (Debian package `time`).
#
#   Benchmarks/measure.sh COUNT [KCBACKUP]
set -euo pipefail

count=${1:?usage: Benchmarks/measure.sh COUNT [KCBACKUP]}
kcbackup=$(realpath "${2:-.build/stage/bin/kcbackup}")
[ -x /usr/bin/time ] || { echo "measure.sh: GNU time is missing: apt-get install time" >&2; exit 69; }

umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work/home
unset XDG_DATA_HOME
mkdir "$HOME"
cd "$work"

# Like passwords in a real keychain: an account, a service, a label, a group, a comment; one in ten ThisDeviceOnly.
awk -v count="$count" 'BEGIN {
    for (i = 0; i < count; i++)
        printf "{\"class\":\"genp\",\"attributes\":{\"acct\":\"user%d@example.com\",\"svce\":\"service-%d.example.com\"," \
            "\"labl\":\"Site %d\",\"agrp\":\"com.example.app%d\",\"icmt\":\"a comment for item %d\",\"pdmn\":\"%s\"}," \
            "\"secret\":\"password-%d-%d\"}\n", i, (i * 7919) % count, i, i % 7, i, i % 10 ? "ak" : "aku", i,
            (i * 2654435761) % 4294967296
}' >items.jsonl

"$kcbackup" keygen -o identity.txt 2>/dev/null
recipient=$(sed -n 's/^# public key: //p' identity.txt)
"$kcbackup" keychain create --no-passcode 2>/dev/null

measure() {
    local name=$1
    shift
    measure_program "$name" "$kcbackup" "$@"
}

measure_program() {
    local name=$1
    shift
    /usr/bin/time -o figures -f '%e %U %S %M' "$@" >/dev/null
    awk -v name="$name" '{ printf "%-22s %8.2f s %8.2f s cpu %6d MiB\n", name, $1, $2 + $3, $4 / 1024 }' figures
}

echo "$count items"
measure import import items.jsonl
rm items.jsonl
measure "item list" item list
if [ -x "${kcbackup%/*}/security" ]; then
    measure_program "dump-keychain -r" "${kcbackup%/*}/security" dump-keychain -r
fi
measure create create -r "$recipient" -o archive.kcb
measure "create unencrypted" create --unencrypted -o here.kcb
"$kcbackup" create -r "$recipient" --to folder --if-changed 2>/dev/null
measure "create --if-changed" create -r "$recipient" --to folder --if-changed
measure verify verify archive.kcb -i identity.txt
measure inspect inspect archive.kcb -i identity.txt
"$kcbackup" keychain create target --no-passcode 2>/dev/null
measure restore restore archive.kcb -i identity.txt --keychain target
measure "restore again" restore archive.kcb -i identity.txt --keychain target
echo "archive: $(stat -c %s archive.kcb) bytes"
