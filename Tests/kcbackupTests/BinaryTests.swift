import Foundation
import KCTerminal
import KCTestSupport
import Testing

@Suite("The program as a process", .waitsForPrograms)
struct BinaryTests {
    private let shell: ProgramShell

    init() throws {
        shell = try ProgramShell()
    }

    @Test("An argument that is not UTF-8 is refused, and never altered")
    func invalidText() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create $'caf\\xe9' --no-passcode 2>&1
            echo $?
            "$KCBACKUP" keygen -o $'b\\xff' 2>&1 | head -1
            "$KCBACKUP" keychain create $'caf\\xe9' --no-passcode --json 2>/dev/null | grep -o '"code":64'
            ls .local 2>/dev/null
            """)
        #expect(
            outcome.text == """
                kcbackup: error: argument 3 is not UTF-8
                kcbackup: hint: see 'kcbackup --help'
                64
                kcbackup: error: argument 3, after '-o', is not UTF-8
                "code":64

                """, "\(outcome.errorText)")
    }

    @Test("Closed streams do no harm: no result is lost without an error, and no message gets into a data file")
    func closedStreams() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode <&- >&- 2>&-
            echo $?
            "$KCBACKUP" keychain create --no-passcode <&- >&- 2>&-
            echo $?
            "$KCBACKUP" keychain info | head -1
            grep -rl "kcbackup: " .local || echo clean
            "$KCBACKUP" keygen >&- 2>/dev/null
            echo $?
            # The program itself has these open by then, which makes them nobody's secret.
            for number in 3 4 5 6; do
              "$KCBACKUP" create none.kcb --passphrase fd:$number 3<&- 4<&- 5<&- 6<&- 2>&1 | head -1
            done
            """)
        #expect(
            outcome.text == """
                0
                16
                keychain  login
                clean
                74
                kcbackup: error: descriptor 3 is not open
                kcbackup: error: descriptor 4 is not open
                kcbackup: error: descriptor 5 is not open
                kcbackup: error: descriptor 6 is not open

                """)
    }

    @Test("An archive is written to a pipe completely, or a failure is reported, and nothing is left behind")
    func archiveDownAPipe() throws {
        let outcome = try shell(
            """
            exec 2>/dev/null
            mkdir temporary
            export TMPDIR=$PWD/temporary
            "$KCBACKUP" keychain create --no-passcode
            echo tulip | "$KCBACKUP" item add --service Bank --secret fd:0
            "$KCBACKUP" keygen -o key.txt
            key=$(grep -o 'age1[a-z0-9]*' key.txt)
            set -o pipefail
            "$KCBACKUP" create - -r "$key" | cat > piped.kcb
            echo $?
            "$KCBACKUP" verify piped.kcb -i key.txt >verified
            echo $?
            "$KCBACKUP" create --unencrypted - > plain.kcb
            "$KCBACKUP" verify plain.kcb >verified
            echo $?
            "$KCBACKUP" create - -r "$key" >/dev/full
            echo $?
            "$KCBACKUP" create - -r "$key" | true
            echo $?
            TMPDIR=/missing "$KCBACKUP" create - -r "$key" | wc -c
            ls -A temporary
            """)
        #expect(outcome.text == "0\n0\n0\n74\n141\n0\n")
    }

    @Test("The error names what cannot hold an archive: a closed standard output, a full temporary folder")
    func namedPlaces() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode 2>/dev/null
            "$KCBACKUP" create --unencrypted here.kcb
            "$KCBACKUP" create --unencrypted - 2>&1 >&- | head -1
            TMPDIR=/missing "$KCBACKUP" create --unencrypted - 2>&1 >/dev/null
            echo ${PIPESTATUS[0]}
            TMPDIR=/missing "$KCBACKUP" verify - 2>&1 < <(cat here.kcb)
            echo $?
            (ulimit -f 1; "$KCBACKUP" verify <(cat here.kcb) 2>&1) | head -1
            """)
        #expect(
            outcome.text == """
                kcbackup: error: standard output is closed, and the result would go there
                kcbackup: error: the temporary folder '/missing' has no room for a copy: '/missing' does not exist
                kcbackup: hint: set TMPDIR to use another folder
                74
                kcbackup: error: the temporary folder '/missing' has no room for a copy: '/missing' does not exist
                kcbackup: hint: set TMPDIR to use another folder
                74
                kcbackup: error: the temporary folder '/tmp' has no room for a copy: writing: the file would be too large

                """)
    }

    @Test("An archive is read through a link, from a pipe and from standard input, and nothing is left behind")
    func archiveFromAPipe() throws {
        let outcome = try shell(
            """
            exec 2>/dev/null
            mkdir temporary
            export TMPDIR=$PWD/temporary
            "$KCBACKUP" keychain create --no-passcode
            "$KCBACKUP" create --unencrypted here.kcb
            ln -s here.kcb latest.kcb
            for input in latest.kcb - /dev/stdin; do
              "$KCBACKUP" verify "$input" <here.kcb | tail -n +2
            done
            "$KCBACKUP" verify <(cat here.kcb) | tail -n +2
            cat here.kcb | "$KCBACKUP" verify - | tail -n +2
            echo '{"class":"genp","attributes":{"svce":"Bank"},"secret":"tulip"}' | "$KCBACKUP" import -
            "$KCBACKUP" item find --service Bank --reveal
            echo
            for input in . /dev/null missing.kcb; do
              "$KCBACKUP" verify "$input"
              echo $?
            done
            head -c 3000 here.kcb | "$KCBACKUP" verify -
            echo $?
            "$KCBACKUP" verify - <&-
            echo $?
            ln -s loop loop
            "$KCBACKUP" verify loop
            echo $?
            ls -A temporary
            """)
        #expect(
            outcome.text == String(repeating: "origin: this device\n", count: 5) + "tulip\n4\n4\n10\n13\n4\n4\n")
    }

    @Test("A full disk and a closed pipe are detected")
    func lostOutput() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" --version >/dev/full 2>/dev/null
            echo $?
            exec 3> >(true); wait $!
            "$KCBACKUP" --version >&3
            echo $?
            """)
        #expect(outcome.text == "74\n141\n")
        #expect(outcome.errorText == "")
    }

    @Test("The process dumps no core and makes only private files, and its children get the default signal handling")
    func processIsHardened() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
            "$KCBACKUP" item add --service a --secret 'cmd:echo $(ulimit -c) $(umask) $(grep SigIgn /proc/self/status)'
            "$KCBACKUP" item find --service a --reveal
            echo
            find .local -perm /077
            """)
        // The C library keeps signals 32 and 33 to itself; SIGPIPE is 13 and SIGXFSZ 25.
        #expect(outcome.text.wholeMatch(of: /0 0077 SigIgn: [0-9a-f]{9}0000000\n/) != nil, "\(outcome.text)")
    }

    @Test("A signal ends the run with its status, without waiting for a child")
    func signals() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --passcode 'cmd:echo walnut' -q
            mkfifo ready
            exec 4<>ready
            for signal in INT TERM HUP; do
              "$KCBACKUP" item add --service a --no-secret --passcode 'cmd:echo >ready; exec sleep 600' 2>messages &
              read -t 60 -u 4 || exit
              kill -$signal $!
              wait $!
              echo $?
              cat messages
            done
            """)
        #expect(
            outcome.text == """
                130
                kcbackup: error: interrupted; nothing is left half-written under its name
                143
                kcbackup: error: interrupted; nothing is left half-written under its name
                143
                kcbackup: error: interrupted; nothing is left half-written under its name

                """)
    }

    @Test("A run of a job that a signal ends is recorded with its exit code, and nothing says that it was killed")
    func signalsInJobs() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode -q
            mkfifo ready
            exec 4<>ready
            "$KCBACKUP" schedule add x -q --to b \\
              --passphrase "cmd:[ -e '$PWD/waits' ] || exec echo walnut; echo >'$PWD/ready'; exec sleep 600"
            for signal in INT TERM HUP; do
              touch waits
              "$KCBACKUP" run x 2>messages &
              read -t 60 -u 4 || exit
              kill -$signal $!
              wait $!
              echo $?
              cat messages
              rm waits
              "$KCBACKUP" status --prometheus | grep '^kcbackup_last_exit_code'
              "$KCBACKUP" status --json | grep -o '"result":"[a-z]*"'
              "$KCBACKUP" doctor | grep -c "was killed"
            done
            """)
        let lines = [130, 143, 143].map { code in
            """
            \(code)
            kcbackup: error: job 'x': interrupted; nothing is left half-written under its name
            kcbackup_last_exit_code{job="x"} \(code)
            "result":"signal"
            0

            """
        }
        #expect(outcome.text == lines.joined(), "\(outcome.errorText)")
    }

    @Test("A hangup that the parent process had ignored stays ignored, as nohup needs it")
    func ignoredHangup() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" keychain create --no-passcode -q 2>/dev/null
            trap '' HUP
            "$KCBACKUP" item add --service a --secret 'cmd:grep SigIgn /proc/$PPID/status'
            "$KCBACKUP" item find --service a --reveal
            """)
        #expect(outcome.text.wholeMatch(of: /SigIgn:\s[0-9a-f]{15}1/) != nil, "\(outcome.text)")
    }

    @Test("On a terminal, a secret is read without echo, and the echo is restored in every case")
    func terminal() throws {
        let outcome = try shell(
            """
            # read -d : takes all up to the colon at the end of a prompt.
            coproc { script -qec '"$KCBACKUP" keychain create typed; echo "status $?"; stty -a' /dev/null; }
            exec {from}<&${COPROC[0]} {to}>&${COPROC[1]}
            read -r -t 60 -d : -u $from asked; echo "$asked"
            echo 'walnut cactus velvet 7 thunder' >&$to
            read -r -t 60 -d : -u $from asked
            echo 'walnut cactus velvet 7 thunder' >&$to
            cat <&$from >rest
            grep -c walnut rest; grep -o "status [0-9]*" rest; grep -ow -e "-*echo" rest
            coproc { script -qec 'trap : INT; "$KCBACKUP" keychain create other; echo "status $?"; stty -a' /dev/null; }
            exec {from}<&${COPROC[0]} {to}>&${COPROC[1]}
            read -r -t 60 -d : -u $from asked
            printf '\\003' >&$to
            cat <&$from >rest
            grep -c "^kcbackup: error: interrupted" rest; grep -o "status [0-9]*" rest; grep -ow -e "-*echo" rest
            "$KCBACKUP" keychain info typed --json >/dev/null; echo $?
            "$KCBACKUP" keychain info other 2>/dev/null; echo $?
            """)
        #expect(
            outcome.text == """
                Enter the new passcode of keychain 'typed' (empty for none)
                0
                status 0
                echo
                1
                status 130
                echo
                0
                10

                """, "\(outcome.errorText)")
    }

    @Test("Ctrl-Z at a prompt restores the echo; 'fg' prompts again, and input typed before is discarded")
    func suspended() throws {
        let outcome = try shell(
            """
            # dash leaves the terminal as it finds it, where bash would repair it.
            export COMMAND='"$KCBACKUP" keychain create typed; echo "status $?"; stty -a; fg >fg; echo "status $?"; stty -a'
            coproc { script -qec 'dash -c "set -m; $COMMAND"' /dev/null; }
            exec {from}<&${COPROC[0]} {to}>&${COPROC[1]}
            read -r -t 60 -d : -u $from asked
            printf 'half an ans\\032' >&$to
            read -r -t 60 -d : -u $from again
            grep -o "status [0-9]*" <<<"$again"; grep -ow -e "-*echo" <<<"$again"
            grep -o "Enter the new passcode.*" <<<"$again"
            for answer in 1 2; do
              echo 'walnut cactus velvet 7 thunder' >&$to
              [ $answer = 2 ] || read -r -t 60 -d : -u $from asked
            done
            cat <&$from >rest
            grep -o "status [0-9]*" rest; grep -ow -e "-*echo" rest; grep -c walnut rest
            echo 'walnut cactus velvet 7 thunder' | "$KCBACKUP" keychain unlock typed --passcode fd:0 2>&1 | grep -c wrong
            """)
        #expect(
            outcome.text == """
                status 148
                echo
                Enter the new passcode of keychain 'typed' (empty for none)
                status 0
                echo
                0
                0

                """, "\(outcome.errorText)")
    }

    @Test("A signal that ends the program at a prompt leaves the terminal with its echo", arguments: ["\\034", "HUP"])
    func ended(_ how: String) throws {
        let outcome = try shell(
            """
            coproc { script -qec 'trap : QUIT; sh -c "echo pid \\$\\$; exec \\"\\$KCBACKUP\\" keychain create typed"; echo "status $?"; stty -a' /dev/null; }
            exec {from}<&${COPROC[0]} {to}>&${COPROC[1]}
            read -r -t 60 -u $from word pid
            read -r -t 60 -d : -u $from asked
            if [ \(how) = HUP ]; then kill -HUP ${pid%?}; else printf '\(how)' >&$to; fi
            cat <&$from >rest
            grep -o "status [0-9]*" rest; grep -ow -e "-*echo" rest; head -1 rest | tr -d ' \\r'
            "$KCBACKUP" keychain info typed 2>/dev/null; echo $?
            """)
        #expect(
            outcome.text == "status \(how == "HUP" ? 143 : 131)\necho\n\n10\n", "\(outcome.errorText)")
    }

    @Test(
        "Identity files are read as age writes them, from a file, a pipe and standard input",
        .enabled(if: ExternalProgram.locate("age") != nil))
    func ageKeyFiles() throws {
        let outcome = try shell(
            """
            exec 2>messages
            umask 077
            "$KCBACKUP" keychain create --no-passcode
            "$KCBACKUP" create --keychain login -r $(age-keygen -o key.txt 2>&1 | sed 's/.*: //') a.kcb
            # age asks on the terminal alone, twice.
            printf 'walnut\\nwalnut\\n' | script -qec "age -p -a -o armored.age key.txt" /dev/null >said
            echo walnut >passphrase
            "$KCBACKUP" verify a.kcb -i <(cat armored.age) --identity-passphrase file:passphrase | head -1
            cat key.txt | "$KCBACKUP" verify a.kcb -i - | head -1
            "$KCBACKUP" verify a.kcb -i /dev/stdin <key.txt | head -1
            "$KCBACKUP" verify a.kcb -i - <<<"$(grep -v '#' key.txt)" | head -1
            chmod 644 key.txt
            "$KCBACKUP" verify a.kcb -i - <key.txt; echo $?
            "$KCBACKUP" verify a.kcb -i - </dev/null; echo $?
            grep -c walnut messages
            """)
        let good = "a.kcb: genuine, 0 items\n"
        #expect(outcome.text == good + good + good + good + "4\n4\n0\n", "\(outcome.errorText)")
    }

    @Test("Without HOME, the user database determines the home folder")
    func withoutHome() throws {
        let outcome = try shell(#"env -u HOME -u XDG_DATA_HOME "$KCBACKUP" keychain info ./none.keychain"#)
        #expect(outcome.status == 10)
    }
}
