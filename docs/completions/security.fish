# Completion of security(1) for fish. Commands and flags are those that the program itself lists.

# The command on the line, if it is whole.
function __security_command
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]
        switch $words[1]
            case -p
                set -e words[1]
            case '-*'
            case '*'
                echo $words[1]
                return 0
        end
        set -e words[1]
    end
    return 1
end

function __security_usage
    set -l command (__security_command)
    command security help $command 2>/dev/null
end

# What the flag before takes, or else the operands.
function __security_kind
    set -l before (commandline -opc)[-1]
    set -l usage (__security_usage)
    set -l kind (string match -r -g -- "^    $before ([a-z]+) " $usage)
    if string match -qr '^-.$' -- $before; and set -q kind[1]
        echo $kind[1]
    else
        string split -r -m 1 -f 2 ' ' -- $usage[1]
    end
end

function __security_operands
    switch (__security_kind)
        case '*keychain*'
            command security list-keychains 2>/dev/null | string match -r -g '^ *".*/([^/]*)\.keychain"$'
            if string match -q '*/*' -- (commandline -ct)
                __fish_complete_path (commandline -ct) ''
            end
        case file inputfile
            __fish_complete_path (commandline -ct) ''
        case domain
            printf '%s\n' user system common dynamic
        case '*command*'
            __security_commands
    end
end

function __security_commands
    command security help 2>/dev/null | string match -r -g '^    ([a-z][a-z-]*) +(.*)$' | while read -l name
        read -l summary
        printf '%s\t%s\n' $name $summary
    end
end

function __security_flags
    __security_usage | string match -r -g '^    (-\w)(?: [a-z]+)? +(.*)$' | while read -l flag
        read -l help
        printf '%s\t%s\n' $flag $help
    end
end

complete -c security -f
complete -c security -n 'not __security_command' -a '(__security_commands)'
complete -c security -n __security_command -a '(__security_operands)'
complete -c security -n 'string match -q -- "-*" (commandline -ct)' -a '(__security_flags)'
