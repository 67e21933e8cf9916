#!/bin/bash
# A home of version 1, with one of everything that kcbackup keeps in files, and what a later version must make of it.
#
#   home.sh make PROGRAM HOMES    packs the home into HOMES/v1-home.tar.gz; right only until version 1 is released
#   home.sh open PROGRAM HOMES    unpacks it, runs the commands that read or continue what is there, and prints what they say
#
# Catalogues, jobs and kept states are bound to their folders, and a device key to its machine, so both steps see the same
# folder, /home/ada, and the same machine-id, in a mount namespace of their own, where other homes stay as they are.
set -euo pipefail
step=$1 program=$2 homes=$3
umask 077

if [[ $HOME != /home/ada ]]; then
    exec unshare --map-root-user --mount bash -c '
        mount --bind /home /mnt
        mount -t tmpfs -o mode=755 none /home
        mkdir -m 700 /home/ada && cd /home/ada
        for other in /mnt/*/; do
            user=/home/$(basename "$other")
            [[ $user == /home/ada ]] || { mkdir "$user" && mount --bind "$other" "$user"; }
        done
        echo 00112233445566778899aabbccddeeff >/home/machine-id
        mount --bind /home/machine-id /etc/machine-id
        exec env -i HOME=/home/ada PATH=/usr/bin:/bin TZ=UTC LC_ALL=C.UTF-8 bash "$@"' -- "$(realpath "$0")" "$@"
fi

kc() { "$program" "$@"; }

make_home() {
    printf 'orbit lantern velvet\n' >passcode
    printf 'correct horse battery\n' >passphrase
    kc keychain create --no-passcode
    kc keychain create work --passcode file:passcode
    kc keychain escrow enable work --passcode file:passcode -o escrow
    kc keygen -o key.txt
    kc keygen --post-quantum -o quantum.txt
    cat >items.jsonl <<'END'
{"class":"genp","attributes":{"svce":"mail","acct":"ada"},"secret":"one"}
{"class":"inet","attributes":{"srvr":"shop.example","acct":"ada","pdmn":"ak"},"secret":"two"}
{"class":"genp","attributes":{"svce":"here","acct":"ada","pdmn":"aku"},"secret":"three"}
{"class":"genp","attributes":{"svce":"naïve\u202e","acct":"ada"},"secret":{"base64":"AP8="}}
END
    cat >guarded.jsonl <<'END'
{"class":"genp","attributes":{"svce":"vault","acct":"ada","pdmn":"akpu"},"secret":"four"}
{"class":"genp","attributes":{"svce":"desk","acct":"ada","pdmn":"ak"},"secret":"five"}
END
    kc import items.jsonl
    kc import --into work guarded.jsonl --passcode file:passcode
    kc create passphrase.kcb --passphrase file:passphrase
    kc create quantum.kcb -r "$(sed -n 's/^# public key: //p' quantum.txt)"
    kc recovery make -o kit.txt --comment 'in the safe'
    kc create --keychain work --unencrypted work.kcb --passcode file:passcode
    kc create --unencrypted --to backups
    kc item delete --service here --yes
    kc create --unencrypted --to backups --accept-shrink
    kc verify --drill backups
    kc schedule add nightly --unencrypted --to backups --keep-last 1
    kc run nightly
    kc device export -o device.age --passphrase file:passphrase
    printf 'machine nas.example login ada password five\n' >.netrc
    kc create --keychain home: home.kcb -r "$(sed -n 's/^# public key: //p' key.txt)"
    rm .netrc
    kc restore home.kcb --keychain home: -i key.txt
    echo 'dear diary' >diary.txt
    kc protect diary.txt --class complete
    kc item add --keychain work --service later --account ada --no-secret --passcode file:passcode
    rm items.jsonl guarded.jsonl
}

# Runs a command, and shows its name, output and status. Dates and what is random are the same in every run, since they
# are those of the home that was packed.
say() {
    local status=0
    echo "$ kcbackup ${*}"
    kc "$@" 2>&1 </dev/null || status=$?
    [[ ${*: -1} != --reveal ]] || echo
    [[ $status == 0 ]] || echo "= $status"
}

# First what only reads, then what changes. Nothing here depends on how long ago the home was packed.
open_home() {
    say device show
    say keychain list
    say item list
    say item list --keychain work --passcode file:passcode
    say item find mail --reveal
    say item find --keychain work vault --passcode file:passcode --reveal
    say verify passphrase.kcb --passphrase file:passphrase
    say verify quantum.kcb -i quantum.txt
    say verify home.kcb -i key.txt
    say verify work.kcb --archive-passcode file:passcode
    say verify backups
    # The trash is emptied after 30 days.
    say list backups --columns archive,items,mode,origin,state | sed "/^$/,\$d"
    say recovery list
    say undo --list
    say protect status diary.txt.age
    say undo -v
    say item list
    # Nothing was added since, which the record beside the state tells.
    say undo --keychain work --dry-run
    say restore work.kcb --keychain work --passcode file:passcode -v
    say restore passphrase.kcb --passphrase file:passphrase -v
    say create --keychain work --escrow escrow --unencrypted again.kcb -v
    say unprotect diary.txt.age
    cat diary.txt
    say undo --keychain home:
    ls .netrc 2>&1 || true
    say run nightly
    say device export -o again.age --passphrase file:passphrase
    say device import device.age --passphrase file:passphrase
}

case $step in
make)
    make_home
    tar --create --sort=name --owner=0 --group=0 --numeric-owner --directory=/home ada | gzip -9n >"$homes/v1-home.tar.gz"
    ;;
open)
    tar --extract --gzip --directory=/home --no-same-owner --file="$homes/v1-home.tar.gz"
    open_home
    ;;
esac
