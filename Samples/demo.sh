#!/bin/bash
# Backs up the sample keychain and restores it, on the device that made the backups and on another one. Each device is
# a home folder of its own below a temporary folder, which is removed at the end; nothing outside it is touched.
#
#   KCBACKUP=PATH Samples/demo.sh       `make demo` builds the program and sets KCBACKUP
#
# Ends with an error as soon as a command does not end with the status that it should.
set -euo pipefail
umask 077
samples=$(cd "$(dirname "$0")" && pwd)
kcbackup=$(realpath -- "${KCBACKUP:-$samples/../.build/stage/bin/kcbackup}")
[ -x "$kcbackup" ] || { echo "demo: '$kcbackup' is missing; run 'make demo'" >&2; exit 1; }

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK"
mkdir laptop new-laptop
cp "$samples/keychain.jsonl" .
# Files that only their owner can read: others are refused.
echo 'demo-passcode-314159' >passcode
echo 'demo-passphrase-walnut-lantern-orbit-velvet' >passphrase

device=laptop
say() { printf '\n# %s\n' "$*"; }
# expect STATUS kcbackup ARGUMENT…: shows the command, runs it on $device, ends the demo unless it ends with STATUS.
expect() {
    local expected=$1 status=0
    shift
    printf '\n%s $ %s\n' "$device" "$*"
    shift
    env -u XDG_DATA_HOME -u XDG_STATE_HOME -u XDG_CONFIG_HOME HOME="$WORK/$device" \
        "$kcbackup" "$@" </dev/null 2>&1 || status=$?
    [ "$status" -eq 0 ] || echo "(exit status $status)"
    if [ "$status" -ne "$expected" ]; then
        echo "demo: ended: 'kcbackup $*' gave status $status instead of $expected" >&2
        exit 1
    fi
}
run() { expect 0 "$@"; }

say 'A keychain with a passcode, filled with the sample items.'
run kcbackup keychain create --passcode file:passcode
run kcbackup import keychain.jsonl --passcode file:passcode
run kcbackup keychain info
run kcbackup device show

say 'An encrypted backup: the passphrase opens it anywhere.'
run kcbackup create encrypted.kcb --passphrase file:passphrase --passcode file:passcode
say 'An unencrypted one: this device alone can restore it. It needs no passcode, so cron can make it.'
run kcbackup create unencrypted.kcb --unencrypted

say 'What they hold: never a secret.'
run kcbackup inspect encrypted.kcb --passphrase file:passphrase
run kcbackup inspect unencrypted.kcb
say 'Without its passphrase, an encrypted backup shows only its outside.'
run kcbackup inspect encrypted.kcb
run kcbackup verify encrypted.kcb --passphrase file:passphrase

say 'Back into a second keychain on the same device: every item of the backup.'
run kcbackup keychain create restored --passcode file:passcode
run kcbackup restore encrypted.kcb --keychain restored --passphrase file:passphrase --passcode file:passcode
say 'A second time: nothing changes.'
run kcbackup restore encrypted.kcb --keychain restored --passphrase file:passphrase --passcode file:passcode
say 'The unencrypted backup brings its keybag, so into a new keychain it needs no passcode either.'
run kcbackup restore unencrypted.kcb --keychain returned
say 'Backing that keychain up again reads each of its secrets, with the passcode of the first one.'
run kcbackup create again.kcb --keychain returned --passphrase file:passphrase --passcode file:passcode

device=new-laptop
say 'On another device: everything but the ThisDeviceOnly items, which are listed.'
run kcbackup keychain create --passcode file:passcode
run kcbackup restore encrypted.kcb --passphrase file:passphrase --passcode file:passcode
say 'The unencrypted backup is refused there, before anything is written.'
expect 4 kcbackup restore unencrypted.kcb --passcode file:passcode
run kcbackup keychain info

say 'Done: every command ended as it should.'
