#!/bin/sh
# A backup without a job: every keychain into FOLDER, for the public key RECIPIENT. Says nothing when all is well.
#
#   FOLDER=~/backups RECIPIENT=age1… PASSCODE=~/.kcbackup-passcode backup.sh
set -eu
: "${FOLDER:?}" "${RECIPIENT:?}"
kcbackup=${KCBACKUP:-kcbackup}

"$kcbackup" create --all --if-changed -r "$RECIPIENT" ${PASSCODE:+--passcode "file:$PASSCODE"} --to "$FOLDER"
# Not reached after a backup that failed or is not whole.
"$kcbackup" prune "$FOLDER" --keep-daily 14 --keep-weekly 8 --keep-monthly 12
