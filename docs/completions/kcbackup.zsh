# Sources of secrets and names of stores: files follow 'file:', and other words what else ends with a colon, which must not
# be taken for the beginning of a description.
functions[__kcbackup_list]=$functions[__kcbackup_complete]
__kcbackup_complete() {
    if (( ! ${#${(M)@:#*:}} )); then
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

