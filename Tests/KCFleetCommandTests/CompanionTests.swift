import KCTestSupport
import Testing

@Suite("kcbackup-fleet", .waitsForPrograms)
struct CompanionTests {
    private let shell: ProgramShell

    init() throws { shell = try ProgramShell() }

    @Test("kcbackup gives it the words of the command line, and has its result and its exit code")
    func started() throws {
        let outcome = try shell(
            """
            "$KCBACKUP" fleet search 'no index' 'wi-fi ada' --json 2>/dev/null
            echo $?
            "$KCBACKUP" fleet search --on today 2>&1
            echo $?
            """)
        #expect(
            outcome.text == """
                {"error":{"code":10,"name":"not-found","message":"there is no index 'no index'","hints":["'kcbackup fleet index REMOTE:PATH --output \\"no index\\"' makes it"]}}
                10
                kcbackup: error: missing expected argument '<index>'
                kcbackup: hint: see 'kcbackup fleet search --help'
                64

                """, "\(outcome.text)\(outcome.errorText)")
    }

    @Test("Where it is missing, or is no program, that is one clear error")
    func missing() throws {
        let outcome = try shell(
            """
            mkdir -p prefix/bin prefix/libexec/kcbackup
            cp "$KCBACKUP" prefix/bin/
            fleet() { prefix/bin/kcbackup fleet search index ada 2>&1 | sed "s,$PWD,HERE,"; echo ${PIPESTATUS[0]}; }
            fleet
            touch prefix/libexec/kcbackup/kcbackup-fleet
            fleet
            chmod 755 prefix/libexec/kcbackup/kcbackup-fleet
            fleet
            ln -sf ../../bin/kcbackup prefix/libexec/kcbackup/kcbackup-fleet
            fleet
            printf '#!/bin/sh\necho here\n' >kcbackup-fleet
            chmod 755 kcbackup-fleet
            cp prefix/bin/kcbackup gone
            exec 9<gone
            rm gone
            mkdir away && cd away
            printf "#!/bin/sh\\necho away\\n" >kcbackup-fleet && chmod 755 kcbackup-fleet
            /proc/self/fd/9 fleet search index ada 2>&1 | sed "s,$PWD,HERE,"
            cd ..
            prefix/bin/kcbackup fleet search --help | head -1
            """)
        #expect(
            outcome.text == """
                kcbackup: error: there is no 'HERE/prefix/libexec/kcbackup/kcbackup-fleet', which runs this command
                kcbackup: hint: the program belongs to kcbackup: install kcbackup again
                10
                kcbackup: error: 'HERE/prefix/libexec/kcbackup/kcbackup-fleet' cannot be run: permission denied
                126
                kcbackup: error: 'HERE/prefix/libexec/kcbackup/kcbackup-fleet' cannot be run: it is no program
                126
                kcbackup: error: 'HERE/prefix/libexec/kcbackup/kcbackup-fleet' is another program
                kcbackup: hint: install kcbackup again
                126
                here
                OVERVIEW: Find items of all machines in what 'fleet index' collected.

                """, "\(outcome.text)\(outcome.errorText)")
    }
    @Test("A companion that others could replace is not run, and no reader either")
    func replaceable() throws {
        let outcome = try shell(
            """
            umask 022
            mkdir -p prefix/bin prefix/libexec/kcbackup
            cp "$KCBACKUP" prefix/bin/
            for name in fleet read; do
              printf '#!/bin/sh\\necho here\\n' >prefix/libexec/kcbackup/kcbackup-$name
              chmod 775 prefix/libexec/kcbackup/kcbackup-$name
            done
            echo a >a.csv
            prefix/bin/kcbackup keychain create --no-passcode -q 2>/dev/null
            for words in 'fleet search index ada' 'import a.csv'; do
              prefix/bin/kcbackup $words 2>&1 | sed "s,$PWD,HERE,g" | head -1
              echo ${PIPESTATUS[0]}
            done
            """)
        #expect(
            outcome.text == """
                kcbackup: error: 'HERE/prefix/libexec/kcbackup/kcbackup-fleet' is not run: others can change 'HERE/prefix/libexec/kcbackup/kcbackup-fleet' (mode 775)
                4
                kcbackup: error: 'HERE/prefix/libexec/kcbackup/kcbackup-read' is not run: others can change 'HERE/prefix/libexec/kcbackup/kcbackup-read' (mode 775)
                4

                """, "\(outcome.text)\(outcome.errorText)")
    }
}
