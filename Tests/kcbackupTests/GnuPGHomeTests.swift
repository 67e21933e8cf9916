import KCTestSupport
import Testing

@Suite(
    "The folder of GnuPG, with a real gpg", .waitsForPrograms,
    .enabled(if: ExternalProgram.locate("gpg") != nil, "gpg is needed"))
struct GnuPGHomeTests {
    @Test("A restored folder decrypts with the passphrases of its keys; no agent was asked, and none ran meanwhile")
    func roundTrip() throws {
        let outcome = try ProgramShell()(
            """
            set -e
            trap 'gpgconf --kill all' EXIT
            loopback() { gpg --batch --quiet --pinentry-mode loopback --passphrase "$1" "${@:2}"; }
            mkdir -m 700 .gnupg
            printf 's2k-count 65536\\npinentry-program /bin/false\\n' >.gnupg/gpg-agent.conf
            for user in ada bob; do loopback "pw $user" --quick-gen-key $user default default never 2>/dev/null; done
            printf secret | gpg --batch --quiet --trust-model always -e -r ada -r bob >message
            fingerprint=$(gpg --batch --with-colons -K bob 2>/dev/null | awk -F: '/^fpr/ { print $10; exit }')
            echo "$fingerprint:5:" | gpg --batch --quiet --import-ownertrust
            printf 'correct horse' >pass; chmod 600 pass
            # The sockets of the agent are there, and it knows no passphrase.
            gpgconf --kill gpg-agent; gpg-connect-agent /bye 2>/dev/null
            "$KCBACKUP" create --keychain home: --passphrase file:pass home.kcb -v 2>created
            gpgconf --kill all
            mv .gnupg before
            "$KCBACKUP" restore home.kcb --passphrase file:pass 2>/dev/null
            for user in ada bob; do
              loopback "pw $user" -d message 2>/dev/null; echo " $?"
              gpgconf --kill gpg-agent
            done
            loopback wrong -d message 2>/dev/null || echo refused
            gpg --batch --export-ownertrust 2>/dev/null | grep -c "^$fingerprint:5:"
            gpg --batch --with-colons -K 2>/dev/null | grep -c ^sec
            stat -c %a .gnupg .gnupg/private-keys-v1.d
            grep -c 'accept-missing' created || true
            grep -A1 -x 'left out: a socket, a pipe or a device' created
            """)
        #expect(
            outcome.text == """
                secret 0
                secret 0
                refused
                1
                2
                700
                700
                0
                left out: a socket, a pipe or a device
                  '~/.gnupg/S.gpg-agent'

                """, "\(outcome.errorText)")
    }
}
