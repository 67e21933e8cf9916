#!/usr/bin/env bash
# Measures whole runs of `kcbackup import`, `inspect` and `export` with a CSV file of COUNT logins, and with a tenth as many
# rows that only their passwords tell apart: seconds, processor seconds and peak memory. Needs GNU time (Debian package
# `time`).
#
#   Benchmarks/measure-import.sh COUNT [KCBACKUP]
set -euo pipefail

count=${1:?usage: Benchmarks/measure-import.sh COUNT [KCBACKUP]}
kcbackup=$(realpath "${2:-.build/stage/bin/kcbackup}")
[ -x /usr/bin/time ] || { echo "measure-import.sh: GNU time is missing: apt-get install time" >&2; exit 69; }

umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work/home
unset XDG_DATA_HOME
mkdir "$HOME"
cd "$work"

columns=name,url,username,password,note
awk -v count="$count" -v columns=$columns 'BEGIN {
    print columns
    for (i = 0; i < count; i++)
        printf "Site %d,https://service-%d.example.com/login,user%d@example.com,password-%d-%d,\n", i, i, i, i,
            (i * 2654435761) % 4294967296
}' >logins.csv
awk -v count=$((count / 10)) -v columns=$columns 'BEGIN {
    print columns
    for (i = 0; i < count; i++) printf "Site,https://service.example.com/login,user@example.com,password-%d,\n", i
}' >alike.csv
sed 2d alike.csv >fewer.csv
sed 's/,password-/,changed-/' logins.csv >changed.csv
touch -d '1 hour' changed.csv
printf 'walnut lantern velvet orbit\n' >password

for keychain in login alike; do "$kcbackup" keychain create $keychain --no-passcode 2>/dev/null; done

measure() {
    local name=$1
    shift
    /usr/bin/time -o figures -f '%e %U %S %M' "$kcbackup" "$@" >/dev/null 2>messages || { cat messages >&2; exit 1; }
    awk -v name="$name" '{ printf "%-30s %8.2f s %8.2f s cpu %6d MiB\n", name, $1, $2 + $3, $4 / 1024 }' figures
}

echo "$count logins, $((count / 10)) alike rows"
measure "inspect" inspect logins.csv
measure "import --dry-run" import logins.csv --dry-run
measure "import" import logins.csv
measure "import again" import logins.csv
measure "import, all changed" import changed.csv
measure "import of alike rows" import alike.csv --into alike
measure "the same, the first gone" import fewer.csv --into alike
measure "export --to csv" export --to csv --plaintext -o out.csv
measure "export --to kdbx" export --to kdbx --password file:password -o out.kdbx
measure "import of that" import out.kdbx --password file:password
