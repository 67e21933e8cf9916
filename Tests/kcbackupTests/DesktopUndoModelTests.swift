import KCTestSupport
import Testing

@testable import kcbackup

/// Runs random commands against a real GNOME Keyring daemon, and takes each back.
@Suite("Undo means the last change, in the desktop keyring", .waitsForPrograms)
struct DesktopUndoModelTests {
    private let shell: DesktopShell

    /// `attempt` runs a command and prints a line for everything that is not as it should be.
    ///
    /// If the command changed the keyring, `undo` must give the contents before it, and another `undo` those after it.
    private static let functions = """
        states=.local/share/kcbackup/undo/secret-service
        # The newest state first; the part of its name after the last '-' is the command that followed.
        states() { ls -r $states | grep kcb; }
        fault() { echo "after $history: $1"; sed 's/^/  /' messages; }
        back() {
          local count=$(states | wc -l) status=0
          $KCBACKUP undo --keychain secret-service: --yes -v 2>messages || status=$?
          [ $status = 0 ] || fault "undo ended with $status"
          grep -q "^took back '$1' of " messages || fault "undo took back something else than '$1'"
          dump | sort | cmp -s - $2 || fault "undo did not bring back what was $2"
          # What it brought back is replaced by what it took back.
          [ $(states | wc -l) = $count ] || fault "undo left $(states | wc -l) states of $count"
        }
        attempt() {
          history="$history; $*"
          dump | sort >before
          states >known
          local status=0 verb=$1
          [ $verb != item ] || verb="item $2"
          $KCBACKUP "$@" -v >/dev/null 2>messages || status=$?
          dump | sort >after
          if cmp -s before after; then
            states | cmp -s - known || fault "a state was kept of nothing"
            ! grep 'takes that back\\|took back' messages || fault "it is said that something was changed"
            return
          fi
          changes=$((changes + 1))
          [ $status = 0 ] || fault "it changed something and ended with $status"
          grep -q 'takes that back' messages || fault "undo is not named"
          back "$verb" before
          back undo after
        }
        history= changes=0

        """

    init() throws {
        shell = try DesktopShell(
            desktop: DesktopTests.judge.get(), preparation: desktopFunctions + Self.functions)
    }

    private static func command(_ random: inout SeededRandom) -> String {
        let file = Bool.random(using: &random) ? "a.kcb" : "b.kcb"
        let label = ["mail", "bank", "wiki", "door"].randomElement(using: &random) ?? ""
        let bound = Bool.random(using: &random)
        let keyring = " --keychain secret-service:"
        return [
            "attempt restore \(file)", "attempt restore \(file) --on-conflict overwrite",
            "attempt restore \(file) --on-conflict keep", "attempt restore \(file) --replace --yes",
            "attempt restore \(file) --replace --yes", "attempt restore \(file) --label \(label)",
            "attempt item update --label \(label) --set accessible=\(bound ? "aku" : "ak")\(keyring) --yes",
            "attempt item update --label \(label) --secret file:new\(keyring) --yes",
            "attempt item update --class genp --set labl=\(label)\(keyring) --yes",
            "attempt undo --yes\(keyring)",
            // Undo by itself takes back no change of another program.
            "history=\"$history; add \(label)\"; $DESKTOP add login \(label) other c \(UInt8.random(in: 1...9, using: &random))",
            "history=\"$history; delete\"; delete login/1 || true",
        ].randomElement(using: &random) ?? ""
    }

    @Test("Undo after any command gives the keyring before it, and undo again the keyring after it")
    func anyCommand() throws {
        var random = SeededRandom(seed: 1)
        let commands = (0..<14).map { _ in Self.command(&random) }
        let text = try shell.run(
            """
            keyring
            printf new >new; chmod 600 new
            $DESKTOP make Work
            $DESKTOP add login mail one a 1; $DESKTOP add login bank two a 2; $DESKTOP add Work wiki three b 1
            $KCBACKUP create --keychain secret-service: --unencrypted a.kcb
            delete login/1
            $DESKTOP secret Work/1 changed; $DESKTOP add Work door four b 2
            $KCBACKUP create --keychain secret-service: --unencrypted b.kcb
            $KCBACKUP item update --keychain secret-service: --label door --set accessible=aku
            \(commands.joined(separator: "\n"))
            [ $changes -ge 5 ] || echo "only $changes changes: $history"
            """)
        #expect(text == "")
    }

    @Test("A collection that is taken back and forth leaves the states of the others")
    func oneCollection() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP make Work
            $DESKTOP add login mail one a 1; $DESKTOP add Work wiki two b 1
            $KCBACKUP create --keychain secret-service: --unencrypted a.kcb
            for item in login/1 Work/1; do $DESKTOP secret $item precious; done
            dump | sort >before
            $KCBACKUP restore a.kcb --on-conflict overwrite
            dump | sort >after
            for round in 1 2 3 4 5 6 7; do $KCBACKUP undo --keychain secret-service:Work --yes -q; states | wc -l; done
            $KCBACKUP undo --keychain secret-service:Work --yes -q
            dump | sort | cmp - after
            $KCBACKUP undo --keychain secret-service:Login --yes -q
            $KCBACKUP undo --keychain secret-service:Work --yes -q
            dump | sort | cmp - before
            """)
        #expect(text == "2\n2\n2\n2\n2\n2\n2\n")
    }

    @Test("States before changes of items do not displace those before restores")
    func limits() throws {
        let text = try shell.run(
            """
            keyring
            $DESKTOP add login mail one a 1
            $KCBACKUP create --keychain secret-service: --unencrypted a.kcb
            $DESKTOP secret login/1 two
            $KCBACKUP restore a.kcb --on-conflict overwrite
            for round in 1 2 3 4 5 6; do
              $KCBACKUP item update --keychain secret-service: --class genp --set labl=$round
            done
            states | sed 's/.*-\\([a-z]*\\).kcb/\\1/' | sort | uniq -c | tr -s ' '
            """)
        #expect(text == " 1 restore\n 5 update\n")
    }
}
