import KCSandbox
import KCTestSupport
import Testing

@Suite("Importing with a sandbox, without one, and from a hostile file", .waitsForPrograms)
struct ReaderSandboxTests {
    private let shell: ProgramShell

    init() throws { shell = try ProgramShell() }

    private static let beginning = """
        umask 077
        printf 'url,username,password\\nhttps://a.example,ada,pw\\n' >a.csv
        "$KCBACKUP" keychain create --no-passcode 2>/dev/null

        """

    @Test("Where the kernel has no Landlock, nothing is read unless the user says so", .traced)
    func noLandlock() throws {
        let outcome = try shell(
            Self.beginning + """
                without() { inject landlock_create_ruleset:error=ENOSYS "$KCBACKUP" "$@"; }
                without import a.csv 2>&1
                echo $?
                without import a.csv --without-sandbox -q
                echo $?
                "$KCBACKUP" item list -q | grep -c a.example
                without doctor 2>&1 | grep -o '.* is no Landlock\\|files of other programs.*'
                """)
        #expect(
            outcome.text == """
                kcbackup: error: 'a.csv' was not read: files of other programs are read in a sandbox, and this kernel has no Landlock, or a container refuses it
                kcbackup: hint: '--without-sandbox' reads the file without one: only for a file that you trust
                4
                0
                1
                files of other programs are read in a sandbox, and this kernel has no Landlock, or a container refuses it: '--without-sandbox' reads a file without one: only for a file that you trust

                """, "\(outcome.text)\(outcome.errorText)")
    }

    @Test(
        "A reader that is stopped imports nothing, and is one clear error",
        .enabled(if: SandboxSupport().isComplete, "this kernel lacks Landlock or filters of system calls"))
    func hostile() throws {
        let hostile = try ExternalProgram.built("KCHostileReader")
        let outcome = try shell(
            Self.beginning + """
                mkdir programs
                cp "$KCBACKUP" programs/kcbackup
                cp '\(hostile)' programs/kcbackup-read
                for word in connect crash items; do
                  printf $word >file
                  programs/kcbackup import file 2>&1
                  echo $?
                done
                printf records >.netrc
                programs/kcbackup import .netrc --remove-from-file -q 2>&1
                echo $?
                cat .netrc
                echo
                rm programs/kcbackup-read
                programs/kcbackup import file 2>&1 | sed "s,$PWD,HERE,"
                "$KCBACKUP" item list -q
                """)
        #expect(
            outcome.text == """
                kcbackup: error: 'file', a Bitwarden export, was not read: its reader was stopped: it wanted to open a socket
                kcbackup: hint: nothing was imported; the file may have been made to attack programs that read it
                13
                kcbackup: error: 'file', a Bitwarden export, was not read: its reader crashed (signal 4)
                kcbackup: hint: nothing was imported; the file may have been made to attack programs that read it
                13
                kcbackup: error: 'file', a Bitwarden export, was not read: its reader broke the protocol: more items are marked than there are
                kcbackup: hint: nothing was imported; the file may have been made to attack programs that read it
                13
                kcbackup: warning: '.netrc' stays as it is: the keychain does not have the secrets of all of its records
                3
                records
                kcbackup: error: 'file' was not read: there is no 'HERE/programs/kcbackup-read', which reads files of other programs
                kcbackup: hint: the program belongs to kcbackup: install kcbackup again

                """, "\(outcome.text)\(outcome.errorText)")
    }
}
