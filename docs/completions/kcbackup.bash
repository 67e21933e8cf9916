
# bash ends a word at a colon, so that 'file', ':' and the path behind it are three.
_kcbackup_words() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    if [[ $word == : && $before == file ]]; then
        mapfile -t COMPREPLY < <(compgen -f)
    elif [[ $before == : && ${COMP_WORDS[COMP_CWORD - 2]} == file ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    elif [[ $word == file:* ]]; then
        # Where COMP_WORDBREAKS has no colon, it is one.
        mapfile -t COMPREPLY < <(compgen -P file: -f -- "${word#file:}")
    elif [[ $before == --keychain && $word == */* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    else
        _kcbackup "$@"
        # What follows a colon is not typed yet.
        if [[ ${COMPREPLY[*]-} == *: ]]; then compopt +o filenames -o nospace; fi
    fi
}

complete -o filenames -F _kcbackup_words kcbackup
