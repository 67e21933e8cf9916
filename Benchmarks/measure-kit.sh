#!/usr/bin/env bash
# Measures how long an empty machine takes to get a keychain of 200 items back from an archive and a recovery kit that is
# typed in, in a real terminal: as fast as the program asks, and with PACE seconds for each character, as somebody takes who
# reads them from paper (0.6 is a hundred a minute). What it takes to install kcbackup and to fetch the archive is not in it.
#
#   Benchmarks/measure-kit.sh [PACE] [KCBACKUP]
set -euo pipefail

pace=${1:-0.6}
kcbackup=$(realpath "${2:-.build/stage/bin/kcbackup}")
command -v tmux >/dev/null || { echo 'measure-kit.sh: tmux is missing: .ci/install-packages test' >&2; exit 69; }

umask 077
work=$(mktemp -d)
trap 'tmux -S "$work/terminal" kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
unset XDG_DATA_HOME
mkdir laptop
HOME=$work/laptop
printf '{"class":"genp","attributes":{"svce":"service-%d"},"secret":"s"}\n' $(seq 180) >items.jsonl
printf '{"class":"genp","attributes":{"svce":"bound-%d","pdmn":"aku"},"secret":"s"}\n' $(seq 20) >>items.jsonl
"$kcbackup" keychain create --no-passcode 2>/dev/null
"$kcbackup" import items.jsonl 2>/dev/null
"$kcbackup" recovery make -o kit.txt 2>/dev/null >&2
"$kcbackup" create -r "$(sed -n 's/^  public key   //p' kit.txt)" elsewhere.kcb 2>/dev/null
mapfile -t lines < <(sed -n 's/^  [1-4]   \([A-Z0-9 ]*\)$/\1/p' kit.txt)
rm -r laptop items.jsonl kit.txt

# What is typed, each after what asks for it.
questions=('Line 1:' 'Line 2:' 'Line 3:' 'Line 4:' 'anyway?' 'into it?' 'new passcode' 'it again:')
answers=("${lines[@]//[ ]/}" y y 'orbit velvet' 'orbit velvet')

wait_for() {
    until tmux -S "$work/terminal" capture-pane -p | grep -qF "$1"; do sleep 0.02; done
}

# Restores on an empty machine, with a pause after each character; prints the seconds.
restore() {
    local start index position answer
    rm -rf empty
    mkdir empty
    start=${EPOCHREALTIME/./}
    HOME=$work/empty tmux -S "$work/terminal" -f /dev/null new-session -d -x 100 -y 40 \
        "'$kcbackup' restore elsewhere.kcb -i tty; echo ended with \$?; exec cat"
    for index in "${!questions[@]}"; do
        wait_for "${questions[index]}"
        answer=${answers[index]}
        for ((position = 0; position < ${#answer}; position++)); do
            tmux -S "$work/terminal" send-keys -l "${answer:position:1}"
            [ "$1" = 0 ] || sleep "$1"
        done
        tmux -S "$work/terminal" send-keys Enter
    done
    wait_for 'ended with 0'
    awk -v microseconds=$((${EPOCHREALTIME/./} - start)) 'BEGIN { printf "%.1f s\n", microseconds / 1000000 }'
    tmux -S "$work/terminal" kill-server
}

typed=$(printf '%s' "${answers[@]}" | wc -m)
printf 'typed as fast as it asks:              %s\n' "$(restore 0)"
printf '%d characters, %s s for each:       %s\n' "$typed" "$pace" "$(restore "$pace")"
HOME=$work/empty "$kcbackup" item list --json | jq -r '"items: \(.items | length) of 200, the others are ThisDeviceOnly"'
