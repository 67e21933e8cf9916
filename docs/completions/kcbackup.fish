
# Files after 'file:', also in '--passphrase=file:'.
function __kcbackup_source_files
    set -l path (string replace -r '^(--[a-z-]+=)?file:' '' -- (commandline -ct))
    string replace -f -r '^(?=.)' 'file:' -- (__fish_complete_path $path '')
end

for option in keychain passcode passphrase archive-passcode new-passcode secret password identity-passphrase \
        recipients-passphrase new-passphrase
    complete -c kcbackup -n 'string match -qr "^(--[a-z-]+=)?file:" -- (commandline -ct)' -l $option \
        -rfa '(__kcbackup_source_files)'
end
complete -c kcbackup -n 'string match -q "*/*" -- (commandline -ct)' -l keychain -rF
