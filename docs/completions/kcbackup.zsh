# Sources of secrets: files follow 'file:', and other words the other ones.
functions[__kcbackup_list]=$functions[__kcbackup_complete]
__kcbackup_complete() {
    if (( ! ${@[(Ie)file:]} )); then
        __kcbackup_list "$@"
    elif compset -P 'file:'; then
        _files
    else
        local -a whole=("${@:#*:}") begun=("${(M)@:#*:}")
        compadd -a whole
        compadd -S '' -a begun
    fi
}

# Names of keychains: files follow 'file:' and a folder.
functions[__kcbackup_names]=$functions[__kcbackup_custom_complete]
__kcbackup_custom_complete() {
    if compset -P 'file:' || [[ $PREFIX == */* ]]; then
        _files
    else
        __kcbackup_names "$@"
    fi
}

