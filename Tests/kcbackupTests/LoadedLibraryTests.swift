import KCTestSupport
import Testing

@Suite("Libraries that are loaded when they are needed", .waitsForPrograms)
struct LoadedLibraryTests {
    private let shell: ProgramShell

    init() throws {
        shell = try ProgramShell()
    }

    /// Defines `broken NAME… -- COMMAND…`, which runs a command for which files that are no libraries stand in for these.
    private static let broken = """
        broken() {
          rm -rf libraries; mkdir libraries
          while [ "$1" != -- ]; do : >"libraries/$1"; shift; done
          shift
          LD_LIBRARY_PATH=$PWD/libraries "$@"
        }

        """

    @Test("A run that needs neither libarchive nor zxcvbn nor libgcrypt nor libyaml loads none of them")
    func unneeded() throws {
        let outcome = try shell(
            Self.broken + """
                without() { broken libarchive.so.13 libzxcvbn.so.0 libgcrypt.so.20 libyaml-0.so.2 -- "$KCBACKUP" "$@"; }
                set -e
                without --version >/dev/null
                without keychain create --no-passcode 2>/dev/null
                echo tulip | without item add --service Bank --secret fd:0 2>/dev/null
                without item list | grep -c Bank
                "$KCBACKUP" create --unencrypted a.kcb 2>/dev/null
                without verify a.kcb | head -1
                without restore a.kcb
                echo restored
                """)
        #expect(outcome.text == "1\na.kcb: genuine, 1 item\nrestored\n", "\(outcome.errorText)")
    }

    @Test("A library that is missing where it is needed is one clear error, and leaves nothing behind")
    func missing() throws {
        let outcome = try shell(
            Self.broken + """
                umask 077
                "$KCBACKUP" keychain create --no-passcode 2>/dev/null
                broken libarchive.so.13 -- "$KCBACKUP" create --unencrypted a.kcb 2>&1 | grep -v warning
                echo ${PIPESTATUS[0]}
                broken libarchive.so.13 -- "$KCBACKUP" create --unencrypted - 2>/dev/null | wc -c
                echo "walnut lantern velvet orbit" >passcode
                broken libzxcvbn.so.0 -- "$KCBACKUP" keychain create other --passcode file:passcode 2>&1
                echo $?
                "$KCBACKUP" keychain info other >/dev/null 2>&1
                echo $?
                ls
                """)
        #expect(
            outcome.text == """
                kcbackup: error: the library 'libarchive.so.13' cannot be loaded
                kcbackup: hint: install it, unless memory is short; on Debian: 'apt-get install libarchive13'
                74
                0
                kcbackup: error: the library 'libzxcvbn.so.0' cannot be loaded
                kcbackup: hint: install it, unless memory is short; on Debian: 'apt-get install libzxcvbn0'
                74
                10
                libraries
                passcode

                """, "\(outcome.errorText)")
    }
}
