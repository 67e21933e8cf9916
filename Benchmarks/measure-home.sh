#!/usr/bin/env bash
# Measures how long a new home takes: a desktop keyring with ITEMS items, a keychain, and FILES files of a store of pass
# besides SSH keys are backed up with `create --home` and restored with `restore --home` into an empty home, and compared.
# Needs gnome-keyring, dbus, libsecret's secret-tool, ssh-keygen, and GNU time.
#
#   Benchmarks/measure-home.sh ITEMS FILES [KCBACKUP]
set -euo pipefail

if [ -z "${KCBACKUP_MEASURES-}" ]; then
    : "${2:?usage: Benchmarks/measure-home.sh ITEMS FILES [KCBACKUP]}"
    KCBACKUP_MEASURES=$(realpath "${3:-.build/stage/bin/kcbackup}")
    export KCBACKUP_MEASURES
    exec dbus-run-session -- bash "$0" "$1" "$2"
fi
items=$1 files=$2 kcbackup=$KCBACKUP_MEASURES

umask 077
work=$(mktemp -d)
daemon=
end() { [ -z "$daemon" ] || { kill "$daemon"; wait "$daemon" || true; } 2>/dev/null; daemon=; }
trap 'end; rm -rf "$work"' EXIT
unset XDG_DATA_HOME XDG_CONFIG_HOME
export HOME=$work/old XDG_RUNTIME_DIR=$work/run LC_ALL=C.UTF-8
mkdir "$HOME" "$XDG_RUNTIME_DIR"
printf pw >"$work/pw"

keyring() {
    printf pw | gnome-keyring-daemon --unlock --components=secrets --foreground >/dev/null 2>&1 &
    daemon=$!
    gdbus wait --session --timeout 60 org.freedesktop.secrets
    until gdbus call --session -d org.freedesktop.secrets -o /org/freedesktop/secrets \
        -m org.freedesktop.Secret.Service.ReadAlias default | grep -q /collection/; do kill -0 $daemon; done
}
keyring_contents() { for ((i = 0; i < items; i += 7)); do secret-tool lookup number "$i"; echo; done; }
measured() {
    local name=$1
    shift
    /usr/bin/time -f "$name: %e s, %M KiB" "$@" 2>"$work/messages" || { cat "$work/messages" >&2; exit 1; }
    tail -n 1 "$work/messages"
}

keyring
for ((i = 0; i < items; i++)); do printf 'secret %d' "$i" | secret-tool store --label "item $i" number "$i"; done
mkdir "$HOME/.ssh" "$HOME/.password-store"
ssh-keygen -q -t ed25519 -N '' -f "$HOME/.ssh/id_ed25519"
for ((i = 0; i < files; i++)); do head -c 400 /dev/urandom >"$HOME/.password-store/$i.gpg"; done
printf 'machine example.org login ada password rose\n' >"$HOME/.netrc"
"$kcbackup" keychain create --no-passcode 2>/dev/null
"$kcbackup" item add --service Bank --account ada --secret file:"$work/pw" 2>/dev/null
keyring_contents >"$work/before"
measured 'create --home' "$kcbackup" create --home --to "$work/backups" --passphrase file:"$work/pw"
end

export HOME=$work/new
mkdir "$HOME"
keyring
measured 'restore --home' "$kcbackup" restore --home "$work/backups" --passphrase file:"$work/pw" --passcode file:"$work/pw"
keyring_contents | cmp - "$work/before"
for name in .ssh .password-store .netrc; do diff -r "$work/old/$name" "$HOME/$name"; done
[ "$("$kcbackup" item find --service Bank --reveal --passcode file:"$work/pw" 2>/dev/null)" = pw ]
echo "$items items of the keyring, $(find "$HOME/.ssh" "$HOME/.password-store" "$HOME/.netrc" -type f | wc -l) files, all the same"
