# Completion of security(1) for bash. Commands and flags are those that the program itself lists.

# The names of keychains; one that a shell could take for more than a word is not offered.
_security_keychains() {
    "${COMP_WORDS[0]}" list-keychains 2>/dev/null | sed -n 's|^ *".*/\([[:alnum:]._-]*\)\.keychain"$|\1|p'
}

_security_commands() {
    "${COMP_WORDS[0]}" help 2>/dev/null | sed -n '/^Commands:/,$s/^    \([a-z-]*\) .*/\1/p'
}

_security() {
    local word=$2 before=$3 command= usage kind i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        -p) i=$((i + 1)) ;;
        -*) ;;
        *)
            command=${COMP_WORDS[i]}
            break
            ;;
        esac
    done
    if [[ -z $command && $word == -* ]]; then
        usage=$("${COMP_WORDS[0]}" help 2>/dev/null)
    elif [[ -z $command || $command == help ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_security_commands)" -- "$word")
        return
    else
        usage=$("${COMP_WORDS[0]}" help "$command" 2>/dev/null) || return
    fi
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(sed -n 's/^    \(-.\) .*/\1/p' <<<"$usage")" -- "$word")
        return
    fi
    # What the flag before takes, or else the operands.
    kind=
    if [[ $before == -? ]]; then kind=$(sed -n "s/^    $before \([a-z]*\) .*/\1/p" <<<"$usage"); fi
    if [[ -z $kind ]]; then
        kind=${usage%%$'\n'*}
        kind=${kind##* }
    fi
    case $kind in
    *keychain*)
        if [[ $word == */* ]]; then
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -W "$(_security_keychains)" -- "$word")
        fi
        ;;
    file | inputfile)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        ;;
    domain) mapfile -t COMPREPLY < <(compgen -W 'user system common dynamic' -- "$word") ;;
    esac
}

complete -F _security security
