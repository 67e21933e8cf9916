#!/usr/bin/env bash
# Measures the peak memory of the verbs with COUNT items of five attributes of 64 KiB each, an archive of which is a hundredth of
# their size, or with ITEMS=ordinary of ordinary ones: seconds, processor seconds and MiB. Needs GNU time (Debian package `time`).
#
#   Benchmarks/measure-large.sh COUNT [KCBACKUP]
set -euo pipefail

count=${1:?usage: Benchmarks/measure-large.sh COUNT [KCBACKUP]}
project=$(realpath "$(dirname "$0")/..")
kcbackup=$(realpath "${2:-.build/stage/bin/kcbackup}")
[ -x /usr/bin/time ] || { echo "measure-large.sh: GNU time is missing: apt-get install time" >&2; exit 69; }

umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work/home
unset XDG_DATA_HOME
mkdir "$HOME"
cd "$work"

items=${ITEMS:-large}
if [ "$items" = ordinary ]; then
    PYTHONPATH=$project/Benchmarks/bench python3 -B -c "import keychains; keychains.write('lines.jsonl', $count, None)"
else
    awk -v count="$count" 'BEGIN {
        large = "x"
        while (length(large) < 65000) large = large large
        large = substr(large, 1, 65000)
        for (i = 0; i < count; i++)
            print "{\"class\":\"genp\",\"attributes\":{\"acct\":\"" i large "\",\"svce\":\"" i large "\",\"labl\":\"" large \
                "\",\"icmt\":\"" large "\",\"desc\":\"" large "\"},\"secret\":\"secret " i "\"}"
    }' >lines.jsonl
fi
for keychain in login other empty; do "$kcbackup" keychain create $keychain --no-passcode 2>/dev/null; done
"$kcbackup" keygen -o key 2>/dev/null
recipient=$(grep --only-matching 'age1[a-z0-9]*' key)

measure() {
    local name=$1
    shift
    /usr/bin/time -o figures -f '%e %U %S %M' "$kcbackup" "$@" >/dev/null 2>messages || { cat messages >&2; exit 1; }
    awk -v name="$name" '{ printf "%-34s %8.2f s %8.2f s cpu %6d MiB\n", name, $1, $2 + $3, $4 / 1024 }' figures
}

echo "$count $items items; load average $(cut -d ' ' -f 1-3 /proc/loadavg)"
measure "import" import lines.jsonl
measure "create" create -r "$recipient" archive.kcb
measure "verify" verify archive.kcb -i key
measure "inspect" inspect archive.kcb -i key
measure "inspect --json" inspect archive.kcb -i key --json
measure "item list" item list
measure "item find" item find --class genp
measure "item find --json --reveal" item find --class genp --json --reveal
measure "item find --in" item find --class genp --in archive.kcb -i key
measure "item find --in --json --reveal" item find --class genp --in archive.kcb -i key --json --reveal
measure "restore --dry-run" restore archive.kcb -i key --keychain other --dry-run
measure "restore --dry-run --json" restore archive.kcb -i key --keychain other --dry-run --json
measure "restore" restore archive.kcb -i key --keychain other
measure "undo --dry-run --json" undo --keychain other --dry-run --json
measure "undo" undo --keychain other --yes
"$kcbackup" item add --keychain login --service added --account added --generate >/dev/null
measure "undo of one item" undo --keychain login --yes
measure "diff" diff archive.kcb -i key --keychain login
measure "export --to csv" export --keychain login --to csv --plaintext -o items.csv
measure "export --to cxf" export --keychain login --to cxf --plaintext -o items.cxf
echo orbit velvet >password
measure "export --to bitwarden" export --keychain login --to bitwarden --password file:password -o items.json
measure "import of CSV" import items.csv --into empty
