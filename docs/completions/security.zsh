#compdef security
# Completion of security(1) for zsh. Commands and flags are those that the program itself lists.

_security() {
    emulate -L zsh
    setopt extendedglob
    local program=$words[1] command= usage kind
    local -a names flags
    local -i i
    for (( i = 2; i < CURRENT; i++ )); do
        case $words[i] in
        -p) (( i++ )) ;;
        -*) ;;
        *)
            command=$words[i]
            break
            ;;
        esac
    done
    if [[ -z $command && $PREFIX == -* ]]; then
        usage=$(_call_program usage $program help 2>/dev/null)
    elif [[ -z $command || $command == help ]]; then
        names=(${(f)"$(_call_program commands $program help 2>/dev/null |
            sed -n '/^Commands:/,$s/^    \([a-z-]*\)  *\(.*\)/\1:\2/p')"})
        _describe command names
        return
    else
        usage=$(_call_program usage $program help ${(q)command} 2>/dev/null)
    fi
    if [[ $PREFIX == -* ]]; then
        flags=(${(f)"$(print -r -- $usage | sed -n 's/^    \(-.\)[^ ]*\( [a-z]*\)\{0,1\}  *\(.*\)/\1:\3/p')"})
        _describe flag flags
        return
    fi
    # What the flag before takes, or else the operands.
    if [[ $words[CURRENT-1] == -? ]]; then
        kind=$(print -r -- $usage | sed -n "s/^    $words[CURRENT-1] \([a-z]*\) .*/\1/p")
    fi
    [[ -n $kind ]] || kind=${${${(f)usage}[1]}##* }
    case $kind in
    *keychain*)
        if [[ $PREFIX == */* ]]; then
            _files
        else
            names=(${(f)"$(_call_program keychains $program list-keychains 2>/dev/null |
                sed -n 's|^ *".*/\([^/]*\)\.keychain"$|\1|p')"})
            compadd -a names
        fi
        ;;
    file | inputfile) _files ;;
    domain) compadd user system common dynamic ;;
    esac
}

if [[ $funcstack[1] == _security ]]; then
    _security "$@"
else
    compdef _security security
fi
