#!/usr/bin/env bash
# Measures whole runs of kcbackup whose device key is in a file, and in a TPM in software (swtpm): the median of TIMES runs
# in milliseconds, and how many commands the TPM gets in one. The last rows have a passcode, counted by the file and by the
# TPM; all others have none. A TPM in hardware is slower: its firmware takes 20 to 500 ms for many commands.
#
#   Benchmarks/measure-tpm.sh [TIMES] [KCBACKUP]
#
# It gives the program a /dev of its own, in a mount namespace, so the machine needs no TPM, and one that it has is not used.
# Only root can do that.
set -euo pipefail

times=${1:-20}
kcbackup=$(realpath "${2:-.build/stage/bin/kcbackup}")
for program in swtpm socat tpm2_dictionarylockout unshare; do
    command -v "$program" >/dev/null || { echo "measure-tpm.sh: $program is missing: .ci/install-packages test" >&2; exit 69; }
done

[ "$(id -u)" -eq 0 ] || { echo 'measure-tpm.sh: root is needed for a /dev of its own' >&2; exit 77; }
if [ -z "${MEASURE_TPM_INSIDE-}" ]; then
    export MEASURE_TPM_INSIDE=1
    exec unshare --mount "$0" "$times" "$kcbackup"
fi

umask 077
work=$(mktemp -d)
swtpm socket --tpm2 --tpmstate "dir=$work" --server "type=unixio,path=$work/socket" --flags not-need-init,startup-clear \
    --log "file=$work/log,level=20" --daemon --pid "file=$work/pid"
mkdir "$work/dev"
mount -t tmpfs none "$work/dev"
for name in null zero full random urandom tty; do
    : >"$work/dev/$name"
    mount --bind "/dev/$name" "$work/dev/$name"
done
mkdir "$work/dev/pts" "$work/dev/shm"
mount --bind /dev/pts "$work/dev/pts"
# A terminal in raw mode passes on bytes as the device of a TPM does.
socat PTY,link="$work/dev/tpmrm0",raw,echo=0 "UNIX-CONNECT:$work/socket" 2>/dev/null &
socat=$!
trap 'kill "$socat" "$(cat "$work/pid")" 2>/dev/null; umount -l "$work/dev"; rm -rf "$work"' EXIT
for _ in $(seq 500); do [ ! -e "$work/dev/tpmrm0" ] || break; sleep 0.01; done
[ -e "$work/dev/tpmrm0" ] || { echo 'measure-tpm.sh: socat made no terminal' >&2; exit 71; }
# As long as somebody has it open, it stays when a client ends.
exec 9<>"$work/dev/tpmrm0"
ln -s /proc/self/fd "$work/dev/fd"
mount --rbind "$work/dev" /dev
TPM2TOOLS_TCTI=device:/dev/tpmrm0 tpm2_dictionarylockout --setup-parameters --max-tries=32 --recovery-time=600 \
    --lockout-recovery-time=86400

cd "$work"
printf '{"class":"genp","attributes":{"svce":"service-%d"},"secret":"s"}\n' $(seq 100) >items.jsonl
printf 'walnut lantern' >passcode
HOME=$work "$kcbackup" keygen -o identity.txt 2>/dev/null
recipient=$(sed -n 's/^# public key: //p' identity.txt)
for holder in file tpm; do
    mkdir "$work/$holder"
    export HOME=$work/$holder
    "$kcbackup" keychain create --no-passcode --held-by "$holder" 2>/dev/null
    "$kcbackup" import items.jsonl 2>/dev/null
    "$kcbackup" keychain create guarded --passcode file:passcode --counted-by "$holder" 2>/dev/null
    "$kcbackup" import items.jsonl --into guarded --passcode file:passcode 2>/dev/null
done

# Sets `median` to the microseconds of the median run, and `commands` to how many the TPM gets in the last one.
measure() {
    local figures=() start
    for _ in $(seq "$times"); do
        rm -f archive.kcb
        : >log
        start=${EPOCHREALTIME/./}
        "$kcbackup" "$@" >/dev/null 2>said || { cat said >&2; exit 1; }
        figures+=($((${EPOCHREALTIME/./} - start)))
    done
    median=$(printf '%s\n' "${figures[@]}" | sort -n | sed -n "$(((times + 1) / 2))p")
    commands=$(grep -c 'SWTPM_IO_Read' log || true)
}

printf '%-34s %10s %10s %10s %9s\n' '' file TPM more commands
compare() {
    local name=$1 first
    shift
    HOME=$work/file measure "$@"
    first=$median
    HOME=$work/tpm measure "$@"
    awk -v name="$name" -v file="$first" -v tpm="$median" -v commands="$commands" 'BEGIN {
        printf "%-34s %7.1f ms %7.1f ms %7.1f ms %9d\n", name, file / 1000, tpm / 1000, (tpm - file) / 1000, commands
    }'
}
compare '--version' --version
compare 'device show' device show
compare 'keychain list' keychain list
compare 'item list' item list
compare 'item find --reveal' item find --service service-7 --reveal
compare 'create -r' create -r "$recipient" archive.kcb
compare 'create --unencrypted' create --unencrypted archive.kcb
compare 'item find --reveal --passcode' item find --service service-7 --reveal --keychain guarded --passcode file:passcode
