#!/bin/bash
# One trial: runs a command of the real program, disturbed or not, in a copy of a prepared home, and prints the result.
#
#   trial.sh base PROGRAM BASE                         prepares what the homes of all scenarios have in common
#   trial.sh prepare PROGRAM TEMPLATE SCENARIO [BASE]  prepares the home of a scenario
#   trial.sh try PROGRAM TEMPLATE SCENARIO [PREFIX...] a trial
#   trial.sh after PROGRAM TEMPLATE SCENARIO DISK STATUS
#                                                      judges what a loss of power left of a run that ended with STATUS
#
# PREFIX is a command that runs the program, such as strace. HOME is the home folder, which must not exist yet. It has
# the same path when it is prepared and in all trials, since catalogues, jobs and kept states are bound to paths. FREE,
# if set, is the number of KiB to leave free on the disk. A trial prints lines `KEY VALUE`; `FAULT …` is a claim that does
# not hold.
set -u
step=$1
program=$2
template=$3
scenario=${4-}
[ $# -lt 4 ] && shift 3 || shift 4

kc() { timeout -k 5 100 "$program" "$@"; }
fault() { echo "FAULT $1"; }
data=.local/share/kcbackup

# What a keychain holds, with its secrets; dates that a run sets, and numbers of the export, are left out.
keychain() {
  [ -e "$data/keychains/$1.keychain" ] || { echo "no keychain $1"; return; }
  echo "keychain $1"
  kc export --to cxf --plaintext --keychain "$@" -o probe.cxf -q 2>&1 | grep -v 'in the clear'
  [ ! -e probe.cxf ] || sed -E 's/"([cm]dat|timestamp|modified|creationAt|modifiedAt)":"?[^",}]*"?|"accounts":\[\{"id":"[^"]*"//g' probe.cxf
  rm -f probe.cxf
}

# An archive gets its name only if it is complete.
archive() {
  [ -e "$1" ] || { echo "no archive $1"; return; }
  kc verify "$1" -i key.txt > messages 2>&1 && echo "archive $1 is genuine" || echo "archive $1: $(cat messages)"
  rm -f messages
}

# What the catalogue says about each archive, and whether the existing archives are genuine. The catalogue is listed
# first, because that may finish what a killed run began.
backups() {
  kc list backups --columns state,items 2>&1
  local file
  for file in backups/*.kcb; do
    [ ! -e "$file" ] || kc verify "$file" > messages 2>&1 || echo "$file: $(cat messages)"
  done
  rm -f messages
}

device() {
  kc device show --json 2>&1 | grep -o '"machine":"[a-z]*"' || echo "no device key"
  if cmp -s "$data/device.key" device.key.copy; then
    echo "device key as it was"
  elif sed /^machine/d "$data/device.key" | cmp -s - <(sed /^machine/d device.key.copy); then
    echo "the same device on another machine"
  elif grep -qs "$(grep -o '^KCBACKUP.*' device.key.copy)" "$data"/device.key.retired-*; then
    echo "another device, and the old key is kept"
  else
    echo "THE OLD KEY IS LOST"
  fi
}

command() {
  case $scenario in
    create-encrypted) set -- create x.kcb -r "$(cat recipient)" ;;
    create-unencrypted) set -- create --unencrypted x.kcb ;;
    create-to) set -- create --unencrypted --to backups ;;
    prune) set -- prune backups --keep-last 1 ;;
    prune-undo) set -- prune backups --undo ;;
    run) set -- run nightly ;;
    rekey) set -- rekey backups -i key.txt -i other.txt -r "$(grep -o 'age1[0-9a-z]*' other.txt)" ;;
    rekey-file) set -- rekey old.kcb -i key.txt -r "$(grep -o 'age1[0-9a-z]*' other.txt)" ;;
    drill) set -- verify --drill backups ;;
    escrow) set -- keychain escrow enable coded --passcode file:new -o escrow ;;
    restore-existing) set -- restore old.kcb -i key.txt ;;
    restore-replace) set -- restore old.kcb -i key.txt --replace --yes ;;
    restore-new) set -- restore here.kcb --keychain fresh ;;
    undo) set -- undo --yes ;;
    import) set -- import more.jsonl ;;
    import-remove) set -- import .netrc --remove-from-file ;;
    import-foreign) set -- import logins.csv --on-conflict overwrite ;;
    export) set -- export --to csv --plaintext -o out.csv ;;
    item-add) set -- item add --service added --secret file:new ;;
    item-update) set -- item update --service changed --secret file:new ;;
    item-delete) set -- item delete --service archived --yes ;;
    restore-home) set -- restore --home homes --yes ;;
    schedule-add) set -- schedule add nightly --unencrypted --to backups ;;
    trust) set -- device trust KC-ABCD-EFGH-IJKL-MNOP-QRST laptop ;;
    keychain-default) set -- keychain default second ;;
    set-passcode) set -- keychain set-passcode --new-passcode file:new ;;
    keychain-create) set -- keychain create extra --no-passcode ;;
    keychain-first) set -- keychain create --no-passcode ;;
    keychain-delete) set -- keychain delete second --confirm second ;;
    device-renew) set -- device adopt --new-key ;;
    device-adopt) set -- device adopt --keep-key ;;
    protect) set -- protect clear.txt --class complete ;;
    unprotect) set -- unprotect clear.txt.age ;;
  esac
  "${run[@]}" "$program" "$@" -q
}

probe() {
  case $scenario in
    create-to | prune) backups; keychain login ;;
    # Other verbs on the folder finish an undo that was broken off.
    prune-undo) kc list backups --columns state,items 2>&1; keychain login ;;
    run)
      backups | grep -v -e trash -e '^$'
      kc status --json | grep -o '"result":"[a-z-]*"' || echo '"result":"never"'
      keychain login ;;
    rekey)
      # Reading enters what is in the archives, so it comes first.
      kc verify backups -i key.txt -i other.txt > messages 2>&1 || cat messages
      rm -f messages
      kc list backups --columns state,items 2>&1
      kc list --keys backups -i key.txt -i other.txt 2>&1 | sed 's/.*\.kcb//' ;;
    rekey-file)
      local key
      for key in key other; do
        kc verify old.kcb -i $key.txt > messages 2>&1 && echo "old.kcb is genuine and opens with $key"
      done
      rm -f messages ;;
    drill) kc list backups --columns state,items,drilled 2>&1 | sed -E 's/[0-9]{4}-[0-9-]+/drilled/' ;;
    escrow)
      kc keychain info coded --json 2> /dev/null | grep -q '"escrow":' && echo "with escrow" || echo "no escrow"
      [ ! -e escrow ] || kc create --keychain coded --escrow escrow -r "$(cat recipient)" probe.kcb -q 2>&1
      rm -f probe.kcb ;;
    create-*) archive x.kcb; keychain login ;;
    restore-new) keychain fresh; keychain login ;;
    set-passcode)
      if kc keychain info --json 2> messages | grep -q '"passcode":true'; then
        echo "with a passcode"
        keychain login --passcode file:new
      else
        cat messages
        keychain login
      fi ;;
    keychain-create) keychain extra; keychain login ;;
    keychain-delete) keychain second; keychain login ;;
    device-*) device ;;
    protect | unprotect)
      if [ -e clear.txt ] && { [ -e clear.txt.age ] || ! grep -q 'dear diary' clear.txt; }; then
        echo "half done"
      elif [ -e clear.txt ]; then
        stat -c '%n %a %Y' clear.txt
      else
        stat -c '%n %a %Y' clear.txt.age
        grep -q 'dear diary' clear.txt.age && echo "IN THE CLEAR"
        kc protect status clear.txt.age --json | grep -o '"state":"[a-z]*"'
      fi
      keychain login ;;
    import-remove)
      ! grep -q rose .netrc || ! keychain login | grep -q rose || echo "half done"
      cat .netrc
      keychain login | sed -E 's/"(id|uuid)":"[^"]*"//g' ;;
    # The UUID of a new item is random.
    item-add) keychain login | sed -E 's/"(id|uuid)":"[^"]*"//g' ;;
    schedule-add) kc schedule list 2>&1 ;;
    trust) kc device list 2>&1 ;;
    keychain-default) kc keychain default 2>&1 ;;
    export)
      [ -e out.csv ] && cat out.csv || echo "no file"
      keychain login ;;
    *) keychain login ;;
  esac
}

# Runs that change something in every folder: after them, nothing of an earlier run may be left.
settle() {
  case $scenario in create-to | prune | prune-undo | run | drill) kc prune backups --keep-last 9 ;; esac &&
  kc keychain create settle --no-passcode -q && kc create --unencrypted --keychain settle settle.kcb -q
} > /dev/null 2>&1

# How many archives a job has made depends on how often it ran.
also=
[ "$scenario" != run ] || also='/^backups\/.*\.kcb/d;'
# How many states of the file are kept, too.
[ "$scenario" != import-remove ] || also='/undo/d;'
leftovers() { find . -mindepth 1 -printf '%P %y %m\n' | grep -v '^messages ' | sed 's/retired-[^ ]*/retired/;
  '"$also"'
  s#-KC-[^ ]*\.kcb#-ARCHIVE.kcb#; s#/[0-9a-f]*-KC-[A-Z2-7]*\.catalogue#/FOLDER.catalogue#;
  s#/undo/[^/ ]*#/undo/KEYCHAIN#; s#/undo/KEYCHAIN/[^ ]*\.keychain#/undo/KEYCHAIN/STATE#' | sort | uniq -c; }

# What is the same in the homes of all scenarios.
base() {
  line() { echo '{"uuid":"5a3b1e00-0000-4000-8000-00000000000'"$1"'","class":"genp","attributes":{"svce":"'"$2"'","acct":"ada"},"secret":"'"$3"'"}'; }
  kc keychain create --no-passcode -q
  kc keygen -o key.txt -q 2> /dev/null
  kc keygen -o other.txt -q 2> /dev/null
  grep -o 'age1[0-9a-z]*' key.txt > recipient
  { line 1 changed older; line 2 archived two; } > first.jsonl
  kc import first.jsonl -q 2> /dev/null
  kc create old.kcb -r "$(cat recipient)" -q
  kc create --unencrypted here.kcb -q
  line 3 kept three > kept.jsonl
  { line 4 imported four; line 5 imported-too five; } > more.jsonl
  printf '%s\n' name,url,username,password,note a,https://a.example,ada,one, b,https://b.example,ada,two, > logins.csv
  kc keychain create second --no-passcode -q
  kc import --into second more.jsonl -q 2> /dev/null
  printf 'orbit lantern velvet\n' > new
  cp "$data/device.key" device.key.copy
  rm -r "$data/undo"
}

prepare() {
  case $scenario in restore-existing | restore-replace | undo | import | import-foreign)
    kc item delete --service archived --yes -q
    kc import kept.jsonl -q 2> /dev/null ;;
  esac
  case $scenario in
  import-remove)
    printf '%s\n' '# mine' 'machine a.example login ada password rose' > .netrc
    chmod 644 .netrc ;;
  import-foreign) kc import logins.csv -q 2> /dev/null; sed -i s/one/changed/ logins.csv ;;
  create-to | prune | prune-undo | run)
    kc create --unencrypted --to backups -q
    kc create --unencrypted --to backups -q ;;&
  prune-undo) kc prune backups --keep-last 1 -q ;;
  run) kc schedule add nightly --unencrypted --to backups --keep-last 2 -q ;;
  drill) kc create --unencrypted --to backups -q ;;
  restore-home)
    kc create --home --unencrypted --to homes -q 2> /dev/null
    kc item delete --service archived --yes -q
    rm -r "$data/undo" ;;
  rekey)
    kc create -r "$(cat recipient)" --to backups -q
    kc create -r "$(cat recipient)" --to backups -q ;;
  escrow) kc keychain create coded --passcode file:new -q ;;
  protect | unprotect)
    echo 'dear diary' > clear.txt
    chmod 640 clear.txt
    touch -d 2026-03-01 clear.txt ;;&
  unprotect) kc protect clear.txt --class complete -q ;;
  device-renew | device-adopt)
    sed -i "s/^machine .*/machine $(printf '%064d' 0)/" "$data/device.key"
    cp "$data/device.key" device.key.copy ;;
  esac
}

umask 077
mkdir -p "$HOME" && cd "$HOME" || exit 1
run=()
case $step in
base)
  base 2>&1
  cp -a . "$template"
  exit ;;
prepare)
  if [ $# -gt 0 ]; then cp -a "$1/." .; elif [ "$scenario" != keychain-first ]; then base 2>&1; fi
  prepare 2>&1
  probe > "$template.before"
  cp -a . "$template"
  exit ;;
esac

cp -a "$template/." . || exit 1
before=$(cat "$template.before")
if [ "$step" = after ]; then
  xargs -0 -r rm -rf -- < "$1/removed" && cp -a "$1/tree/." . || exit 1
  status=$2
  echo "STATUS $status"
else
  run=(timeout -k 5 60 "$@")
  if [ -n "${FREE-}" ]; then
    head -c "$(($(df --output=avail -k . | tail -n 1) - FREE))K" /dev/zero > filler
  fi
  SECONDS=0
  command > "$HOME.output" 2>&1 < /dev/null
  status=$?
  [ $SECONDS -lt 58 ] || fault "it took $SECONDS seconds"
  rm -f filler
  echo "STATUS $status"
  sed 's/^/OUTPUT /' "$HOME.output"
fi
state=$(probe)
run=()
# A job consists of several commands: the next run does the remaining ones.
if [ "$state" = "$before" ] || [[ $state = "half done"* ]] ||
  { [[ $scenario = @(run|rekey) ]] && [ "$status" -ne 0 ]; }; then
  echo "STATE before"
  # The command must succeed now.
  command > output 2>&1 < /dev/null || fault "the same command, run again, ended with $?: $(cat output)"
  rm -f output
  state=$(probe)
else
  echo "STATE changed"
fi
# Any verb, such as those of the probe, removes what a killed one left, in the data folder and where it was at work.
left=$(find . -name '.restoring-*' -o -name '.kcbackup-*.tmp' -o -name 'unfinished-*' -o -name 'unswept-*')
[ -z "$left" ] || fault "the next verb leaves $left"
[ "$scenario" != prune-undo ] || kc verify backups > messages 2>&1 || fault "$(cat messages)"
settle || fault "a later run failed: $(kc keychain create settled --no-passcode 2>&1 | tail -2)"
sed 's/^/RESULT /' <<< "$state"
leftovers | sed 's/^/LEFT /'
