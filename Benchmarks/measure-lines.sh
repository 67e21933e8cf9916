#!/usr/bin/env bash
# Measures whole runs of `kcbackup import` with a file of COUNT JSON lines, and of `create`, `restore` and `undo` with what it
# made: seconds, processor seconds and peak memory; beside them bare SQLite, which inserts the same rows. Needs GNU time (Debian
# package `time`) and sqlite3.
#
#   Benchmarks/measure-lines.sh COUNT [KCBACKUP]
set -euo pipefail

count=${1:?usage: Benchmarks/measure-lines.sh COUNT [KCBACKUP]}
kcbackup=$(realpath "${2:-.build/stage/bin/kcbackup}")
[ -x /usr/bin/time ] || { echo "measure-lines.sh: GNU time is missing: apt-get install time" >&2; exit 69; }

umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work/home
unset XDG_DATA_HOME
mkdir "$HOME"
cd "$work"

awk -v count="$count" 'BEGIN {
    srand(1)
    words = split("alder amber anchor aspen autumn barley beacon birch bramble brook candle cedar cinder clover", word, " ")
    for (i = 0; i < count; i++) {
        comment = ""
        for (j = 0; j < 8; j++) comment = comment (j ? " " : "") word[int(rand() * words) + 1]
        printf "{\"class\":\"genp\",\"attributes\":{\"acct\":\"user.%d@example.com\",\"svce\":\"service-%s-%d.example.com\"," \
            "\"labl\":\"%s %s\",\"agrp\":\"com.example.app%d\",\"icmt\":\"%s\"},\"secret\":\"secret-%d-%d\"}\n", i,
            word[i % words + 1], i, word[(i + 3) % words + 1], word[(i + 5) % words + 1], i % 7, comment, i,
            (i * 2654435761) % 4294967296
    }
}' >lines.jsonl
for keychain in login other; do "$kcbackup" keychain create $keychain --no-passcode 2>/dev/null; done
"$kcbackup" keygen -o key 2>/dev/null
recipient=$(grep --only-matching 'age1[a-z0-9]*' key)

print() {
    awk -v name="$1" '{ printf "%-30s %8.2f s %8.2f s cpu %6d MiB\n", name, $1, $2 + $3, $4 / 1024 }' figures
}

measure() {
    local name=$1
    shift
    /usr/bin/time -o figures -f '%e %U %S %M' "$kcbackup" "$@" >/dev/null 2>messages || { cat messages >&2; exit 1; }
    print "$name"
}

echo "$count lines; load average $(cut -d ' ' -f 1-3 /proc/loadavg)"
measure "import" import lines.jsonl
measure "import again" import lines.jsonl
measure "create" create -r "$recipient" archive.kcb
measure "verify" verify archive.kcb -i key
measure "restore" restore archive.kcb -i key --keychain other
measure "restore again" restore archive.kcb -i key --keychain other
measure "item add" item add --service "one more" --no-secret
measure "undo of one item" undo --yes

keychain=$HOME/.local/share/kcbackup/keychains/login.keychain
sqlite3 "$keychain" .schema >schema.sql
sqlite3 bare.db <schema.sql
cat >insert.sql <<END
PRAGMA cache_size = -40960; PRAGMA synchronous = EXTRA; PRAGMA secure_delete = ON;
ATTACH '$keychain' AS other;
BEGIN; INSERT INTO main.genp SELECT * FROM other.genp ORDER BY id; COMMIT;
END
/usr/bin/time -o figures -f '%e %U %S %M' sqlite3 bare.db <insert.sql >/dev/null
print "bare SQLite, the same rows"
echo "load average $(cut -d ' ' -f 1-3 /proc/loadavg)"
