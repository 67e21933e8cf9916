#!/bin/bash
# Two commands at once: starts two commands of the real program together in copies of a prepared home, and compares what
# comes of it with what comes of one after the other.
#
#   pairs.sh base PROGRAM BASE                  prepares the home
#   pairs.sh pair PROGRAM BASE ONE OTHER ROUNDS tries a pair, so often in each order
#
# HOME is the home folder, which must not exist yet. Prints a line `TRIAL` for each round, followed by lines `FAULT …`.
set -u
step=$1
program=$2
base=$3
data=.local/share/kcbackup

kc() { timeout -k 5 100 "$program" "$@" < /dev/null; }

command() {
  case $1 in
    create) kc create --unencrypted one.kcb -q ;;
    create-to) kc create --unencrypted --to backups -q ;;
    prune) kc prune backups --keep-last 1 -q ;;
    prune-undo) kc prune trashed --undo -q ;;
    run) kc run nightly -q ;;
    rekey) kc rekey keyed -i key.txt -i other.txt -r "$(grep -o 'age1[0-9a-z]*' other.txt)" -q ;;
    rebuild) kc list backups --rebuild -q ;;
    verify) kc verify --drill backups -q ;;
    restore) kc restore old.kcb -i key.txt --on-conflict overwrite -q ;;
    restore-new) kc restore old.kcb -i key.txt --keychain fresh -q ;;
    import) kc import more.jsonl -q ;;
    item-add) kc item add --service added --secret file:new -q ;;
    item-update) kc item update --service changed --secret file:new -q ;;
    item-delete) kc item delete --service changed --yes -q ;;
    undo) kc undo --yes -q ;;
    set-passcode) kc keychain set-passcode second --new-passcode file:new -q ;;
    keychain-create) kc keychain create extra --no-passcode -q ;;
    keychain-delete) kc keychain delete second --confirm second -q ;;
    keychain-default) kc keychain default second -q ;;
    trust) kc device trust KC-ABCD-EFGH-IJKL-MNOP-QRST laptop -q ;;
    schedule-add) kc schedule add weekly --unencrypted --to backups -q ;;
    protect) kc protect clear.txt --class none -q ;;
  esac
}

base() {
  line() { echo '{"uuid":"5a3b1e00-0000-4000-8000-00000000000'"$1"'","class":"genp","attributes":{"svce":"'"$2"'","acct":"ada"},"secret":"'"$3"'"}'; }
  kc keychain create --no-passcode -q
  kc keygen -o key.txt -q
  kc keygen -o other.txt -q
  { line 1 changed older; line 2 archived two; } > first.jsonl
  { line 3 imported three; line 4 imported-too four; } > more.jsonl
  printf '%s\n' name,url,username,password,note a,https://a.example,ada,one, > logins.csv
  printf 'orbit lantern velvet\n' > new
  kc import first.jsonl -q
  kc create old.kcb -r "$(grep -o 'age1[0-9a-z]*' key.txt)" -q
  kc keychain create second --no-passcode -q
  kc import --into second more.jsonl -q
  local folder
  for folder in backups backups trashed trashed; do kc create --unencrypted --to $folder -q; done
  kc prune trashed --keep-last 1 -q
  kc create --to keyed -r "$(grep -o 'age1[0-9a-z]*' key.txt)" -q
  kc schedule add nightly --unencrypted --to backups --keep-last 9 -q
  kc item update --service changed --secret file:new -q
  echo 'dear diary' > clear.txt
}

# What a run sets or draws anew is left out: dates, UUIDs, numbers of the export.
masked() { sed -E 's/"([cm]dat|timestamp|modified|creationAt|modifiedAt)":"?[^",}]*"?|"(id|uuid)":"[^"]*"//g'; }

keychain() {
  [ -e "$data/keychains/$1.keychain" ] || { echo "no keychain $1"; return; }
  kc export --to cxf --plaintext --keychain "$1" --passcode file:new -o probe.cxf -q 2>&1 | grep -v 'in the clear'
  [ ! -e probe.cxf ] || masked < probe.cxf
  rm -f probe.cxf
}

# Everything that the home holds, and whether it is whole.
probe() {
  local name file
  for name in login second extra fresh; do echo "keychain $name: $(keychain $name)"; done
  for name in backups trashed keyed; do
    kc list $name --columns state,items 2>&1 | sort
    kc verify $name -i key.txt -i other.txt > messages 2>&1 || cat messages
  done
  for file in *.kcb; do kc verify "$file" -i key.txt > messages 2>&1 || cat messages; done
  rm -f messages
  kc keychain default 2>&1
  kc device list 2>&1
  kc schedule list 2>&1
  kc undo --list --json 2>&1 | grep -o '"command":"[a-z -]*"'
  for file in clear.txt clear.txt.age; do
    [ ! -e $file ] || { echo "$file"; kc protect status $file --json | grep -o '"state":"[a-z]*"'; }
  done
  find . -name '.kcbackup-*.tmp' -o -name '.restoring-*' -o -name '*-journal' -o -name 'unfinished-*'
}

# Runs $1 and $2 in a new copy of the home: at once if $3 is `&`, otherwise one after the other.
outcome() {
  cd / && rm -rf "$HOME" && mkdir -p "$HOME" && cd "$HOME" && cp -a "$base/." . || exit 1
  local one=- other=-
  if [ "$3" = '&' ]; then
    { command "$1" > "$HOME.one" 2>&1; echo $? > "$HOME.status"; } &
    { command "$2" > "$HOME.other" 2>&1; other=$?; }
    wait $!
    one=$(cat "$HOME.status")
  else
    [ "$1" = - ] || { command "$1" > "$HOME.one" 2>&1; one=$?; }
    [ "$2" = - ] || { command "$2" > "$HOME.other" 2>&1; other=$?; }
  fi
  echo "$one $other"
  probe
}

# Without the statuses.
state() { tail -n +2 <<< "$1"; }

pair() {
  local one=$1 other=$2 round
  local first second alone alone_other
  first=$(outcome "$one" "$other" ';')
  second=$(outcome "$other" "$one" ';')
  second=$(read -r b a <<< "$second"; echo "$a $b"; state "$second")
  alone=$(outcome "$one" - ';')
  alone_other=$(outcome - "$other" ';')
  for ((round = 0; round < 2 * $3; round++)); do
    local found a b
    if ((round % 2)); then
      found=$(outcome "$other" "$one" '&')
      found=$(read -r b a <<< "$found"; echo "$a $b"; state "$found")
    else
      found=$(outcome "$one" "$other" '&')
    fi
    echo TRIAL
    [ "$found" != "$first" ] && [ "$found" != "$second" ] || continue
    # One that does not wait for the other, or meets a keychain that the other deletes, says so, and has done nothing.
    local told=11
    [[ " $one $other " != *" keychain-delete "* ]] || told=10
    read -r a b <<< "$found"
    [[ $a = 11 || $a = "$told" ]] && [ "$(state "$found")" = "$(state "$alone_other")" ] && continue
    [[ $b = 11 || $b = "$told" ]] && [ "$(state "$found")" = "$(state "$alone")" ] && continue
    echo "FAULT $one ($a) and $other ($b) at once: what is left is neither that of the one order nor of the other"
    diff <(echo "$first") <(echo "$found") | cut -c1-500 | sed 's/^/FAULT   /'
    sed 's/^/FAULT   /' "$HOME.one" "$HOME.other"
  done
}

umask 077
case $step in
base)
  mkdir -p "$HOME" && cd "$HOME" || exit 1
  base > /dev/null 2> "$HOME.messages" || { cat "$HOME.messages"; exit 1; }
  cp -a . "$base" ;;
pair) pair "$4" "$5" "$6" ;;
esac
