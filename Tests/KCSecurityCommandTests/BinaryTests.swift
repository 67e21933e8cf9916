import Foundation
import KCTestSupport
import Testing

@Suite("The security command as a process", .waitsForPrograms)
struct SecurityBinaryTests {
    private let shell: ProgramShell

    init() throws {
        shell = try ProgramShell()
    }

    @Test("A script from a Mac works, with its keychains, items, lists and the statuses that it checks")
    func script() throws {
        let outcome = try shell(
            """
            set -e
            "$SECURITY" -q create-keychain -p '' build.keychain
            "$SECURITY" list-keychains -s $("$SECURITY" list-keychains -d user | tr -d '"') build.keychain
            "$SECURITY" default-keychain -s build.keychain
            "$SECURITY" add-generic-password -a me -s site -w "hunter2" build.keychain
            "$SECURITY" find-generic-password -a me -s site -w
            "$SECURITY" find-generic-password -ga me 2>&1 >/dev/null | sed -n 's/^password: "\\(.*\\)"$/\\1/p'
            printf 'add-generic-password -a you -s site -X 70\\n' | "$SECURITY" -i
            "$SECURITY" find-generic-password -wa you
            "$SECURITY" find-generic-password -a nobody 2>/dev/null || echo $?
            "$SECURITY" frob 2>/dev/null || echo $?
            "$SECURITY" find-generic-password -z 2>/dev/null || echo $?
            "$SECURITY" add-generic-password -a asks -s site -w </dev/null 2>/dev/null || echo $?
            "$SECURITY" delete-keychain build.keychain
            find .local -perm /077
            """)
        #expect(outcome.text == "hunter2\nhunter2\np\n44\n1\n2\n36\n", "\(outcome.errorText)")
    }

    @Test("Text that is not UTF-8 is refused, on the command line and in input lines, and never altered")
    func invalidText() throws {
        let outcome = try shell(
            """
            "$SECURITY" -q create-keychain -p '' login
            "$SECURITY" add-generic-password -a me -s site -w $'caf\\xe9' 2>&1
            echo $?
            printf 'add-generic-password -a me -s site -w caf\\xe9\\nerror 0\\n' | "$SECURITY" -i 2>&1
            echo $?
            printf 'add-generic-password -a me -s site -w caf\\xe9' | "$SECURITY" -i 2>/dev/null
            echo $?
            "$SECURITY" find-generic-password -a me >/dev/null 2>&1
            echo $?
            "$SECURITY" add-generic-password -a me -s site -w 'café' 2>/dev/null
            echo $?
            """)
        #expect(
            outcome.text == """
                security: argument 7 is not UTF-8
                2
                security: the line is not UTF-8
                Error: 0x00000000 0 No error.
                0
                2
                44
                0

                """, "\(outcome.errorText)")
    }

    @Test("A closed pipe and a full disk are detected, and closed streams do no harm")
    func lostOutput() throws {
        let outcome = try shell(
            """
            "$SECURITY" help >/dev/full 2>/dev/null
            echo $?
            exec 3> >(true); wait $!
            "$SECURITY" help >&3
            echo $?
            "$SECURITY" create-keychain -p '' login <&- >&- 2>&-
            echo $?
            "$SECURITY" default-keychain >&- 2>/dev/null
            echo $?
            grep -rl "security: " .local || echo clean
            """)
        #expect(outcome.text == "222\n141\n0\n220\nclean\n", "\(outcome.errorText)")
    }

    @Test("On a terminal, a password is read without echo")
    func terminal() throws {
        let outcome = try shell(
            """
            # read -d : takes all up to the colon at the end of a prompt.
            coproc { script -qec '"$SECURITY" create-keychain login; echo "status $?"; stty -a' /dev/null; }
            exec {from}<&${COPROC[0]} {to}>&${COPROC[1]}
            read -r -t 60 -d : -u $from asked; echo "$asked"
            echo 'walnut cactus velvet 7 thunder' >&$to
            read -r -t 60 -d : -u $from asked
            echo 'walnut cactus velvet 7 thunder' >&$to
            cat <&$from >rest
            grep -c walnut rest; grep -o "status [0-9]*" rest; grep -ow -e "-*echo" rest
            """)
        #expect(outcome.text == "password for new keychain\n0\nstatus 0\necho\n", "\(outcome.errorText)")
    }

    @Test("A signal ends the run with its status")
    func signals() throws {
        let outcome = try shell(
            """
            mkfifo lines
            for signal in INT TERM; do
              "$SECURITY" -i <lines >/dev/null 2>messages &
              exec 4>lines
              echo error 0 >&4
              while ! grep -q . messages; do kill -0 $! 2>/dev/null || exit; echo frob >&4; done
              kill -$signal $!
              wait $!
              echo $?
              exec 4>&-
            done
            """)
        #expect(outcome.text == "130\n143\n", "\(outcome.errorText)")
    }
}
