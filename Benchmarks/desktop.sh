#!/bin/bash
# How long libsecret alone and `kcbackup create` take to read a keyring of the desktop whole, with all secrets.
#
#   Benchmarks/desktop.sh ITEMS [COLLECTIONS]
#
# The items are put into plain keyring files that gnome-keyring-daemon reads when it starts, on a bus and in a home folder
# of their own. KCBACKUP names the program; by default the release build.
set -eu

if [ "${1-}" != inside ]; then
    [ $# -ge 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 64; }
    here=$(cd "$(dirname "$0")/.." && pwd)
    home=$(mktemp -d)
    trap 'rm -rf "$home"' EXIT
    mkdir -m 700 "$home/run"
    # shellcheck disable=SC2046
    cc -O2 -o "$home/desktop" "$here/Tests/kcbackupTests/Desktop/desktop.c" $(pkg-config --cflags --libs libsecret-1)
    env -i HOME="$home" XDG_RUNTIME_DIR="$home/run" PATH=/usr/bin:/bin LC_ALL=C.UTF-8 \
        KCBACKUP="${KCBACKUP-$here/.build/release/kcbackup}" \
        dbus-run-session -- "$0" inside "$1" "${2-1}"
    exit
fi

cd "$HOME"
mkdir -p .local/share/keyrings
awk -v items="$2" -v collections="$3" 'BEGIN {
    for (i = 0; i < items; i++) {
        c = i % collections
        file = ".local/share/keyrings/c" c ".keyring"
        if (i < collections)
            printf "[keyring]\ndisplay-name=C%d\nctime=1\nmtime=1\nlock-on-idle=false\nlock-after=false\n", c > file
        n = int(i / collections) + 1
        printf "\n[%d]\nitem-type=0\ndisplay-name=Item %d\nsecret=secret-%d\nmtime=1\nctime=1\n", n, i, i > file
        split("service user xdg:schema", names, " ")
        split("host" i ".example.org ada org.example.Thing", values, " ")
        for (a = 1; a <= 3; a++)
            printf "\n[%d:attribute%d]\nname=%s\ntype=string\nvalue=%s\n", n, a - 1, names[a], values[a] > file
    }
}'
gnome-keyring-daemon --foreground --components=secrets >/dev/null 2>&1 &
daemon=$!
trap 'kill $daemon' EXIT
gdbus wait --session --timeout 600 org.freedesktop.secrets
# Plain ones are locked too, until somebody asks.
paths=$(seq -s, 0 $(($3 - 1)) | sed "s#[0-9]*#'/org/freedesktop/secrets/collection/c&'#g")
gdbus call --session -d org.freedesktop.secrets -o /org/freedesktop/secrets \
    -m org.freedesktop.Secret.Service.Unlock "[$paths]" >/dev/null
# The processor time of the daemon depends less on what else the machine does.
busy() { awk -v ticks="$(getconf CLK_TCK)" '{ printf "%.1f", ($14 + $15) / ticks }' "/proc/$daemon/stat"; }
measure() {
    name=$1
    shift
    before=$(busy)
    TIMEFORMAT="$name: %1R s, of which the program itself %1U s"
    time "$@" >/dev/null
    echo "    and the daemon $(echo "$(busy) $before" | awk '{ printf "%.1f", $1 - $2 }') s"
}
echo "$2 items in $3 collections"
measure 'libsecret alone' ./desktop count
measure 'kcbackup create' "$KCBACKUP" create --keychain secret-service: --unencrypted all.kcb
"$KCBACKUP" inspect all.kcb --json | grep -o '"counts":{[^}]*}'
