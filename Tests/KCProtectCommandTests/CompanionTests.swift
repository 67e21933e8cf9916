import KCTestSupport
import Testing

@Suite("kcbackup-protect", .waitsForPrograms)
struct CompanionTests {
    private let shell: ProgramShell

    init() throws { shell = try ProgramShell() }

    @Test("kcbackup gives it the descriptors that were named, so that a passcode can come from a pipe")
    func descriptors() throws {
        let outcome = try shell(
            """
            umask 077
            echo 'orbit lantern velvet' >passcode
            "$KCBACKUP" keychain create --passcode file:passcode -q
            echo 'dear diary' >diary
            "$KCBACKUP" protect diary --class complete --passcode fd:3 -q 3< <(cat passcode)
            echo $?
            ls
            "$KCBACKUP" unprotect diary.age --passcode fd:7 -q 7<passcode && cat diary
            """)
        #expect(
            outcome.text == """
                0
                diary.age
                passcode
                dear diary

                """, "\(outcome.text)\(outcome.errorText)")
    }
}
