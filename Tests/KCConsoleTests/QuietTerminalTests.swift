import Foundation
import KCTestSupport
import Testing

@testable import KCConsole

/// A program that reads a secret on a real terminal and checks it until the test has typed another line.
@Suite("The terminal while a secret is checked", .waitsForPrograms)
struct QuietTerminalTests {
    /// Runs a bash script that has commands run on a terminal, and talks to them.
    ///
    /// The output of the commands is in the file `shown` afterwards, with their status and the settings that the
    /// terminal has then.
    private func shell(_ script: String) throws -> ExternalProgram.Outcome {
        let folder = try TemporaryFolder()
        let helpers = """
            on_terminal() {
                coproc { script -qec "$1; "'echo "status $?"; stty -a' /dev/null; }
                # bash forgets its own when the commands end, which may be before the last of them is read.
                exec {from}<&${COPROC[0]} {to}>&${COPROC[1]}
            }
            # read -d : takes all up to the colon at which the program waits.
            await() { local text; IFS= read -r -t 60 -d : -u $from text && printf '%s:' "$text" >>shown; }
            type() { printf "$1" >&$to; }
            rest() { cat <&$from >>shown; }
            result() { grep -o 'status [0-9]*' shown; grep -ow -e '-*echo' shown; }

            """
        return try ExternalProgram.run(
            "timeout", ["300", "bash", "-c", helpers + script],
            environment: ["PATH": "/usr/bin:/bin", "PROGRAM": ExternalProgram.built("KCTerminalProgram")],
            in: folder.path)
    }

    @Test(
        "Text typed during the check is not shown, and the echo is back after success, failure and a crash",
        arguments: [("succeed", 0), ("fail", 1), ("crash", 139)])
    func typedAhead(mode: String, status: Int) throws {
        let outcome = try shell(
            """
            on_terminal '"$PROGRAM" \(mode)'
            await; type 'walnut\\n'
            await; type 'garbage\\n'
            rest
            grep -c -e walnut -e garbage shown; grep -c right shown; result
            """)
        #expect(
            outcome.text == "0\n\(mode == "succeed" ? 1 : 0)\nstatus \(status)\necho\n", "\(outcome.errorText)")
    }

    @Test("A question in the check shows its answer, which is not what was typed before it")
    func nestedQuestion() throws {
        let outcome = try shell(
            """
            on_terminal '"$PROGRAM" ask'
            await; type 'walnut\\n'
            await; type 'garbage\\n'
            await; type 'cactus\\n'
            rest
            grep -c garbage shown; grep -o 'answer: cactus' shown; grep -o 'answer is [a-z]*' shown; result
            """)
        #expect(
            outcome.text == "0\nanswer: cactus\nanswer is cactus\nstatus 0\necho\n", "\(outcome.errorText)")
    }

    @Test("Another secret in the check is not what was typed before it")
    func nestedSecret() throws {
        let outcome = try shell(
            """
            on_terminal '"$PROGRAM" askAgain'
            await; type 'walnut\\n'
            await; type 'garbage\\n'
            await; type 'velvet\\n'
            rest
            grep -c -e garbage -e velvet shown; grep -o -e right -e wrong shown; result
            """)
        #expect(outcome.text == "0\nright\nstatus 0\necho\n", "\(outcome.errorText)")
    }

    @Test("A secret that is asked for twice can be typed or pasted twice at the first prompt", .timeLimit(.minutes(1)))
    func typedTwice() throws {
        let outcome = try shell(
            """
            on_terminal '"$PROGRAM" twice'
            await; type 'walnut\\nvelvet\\n'
            await
            rest
            grep -c -e walnut -e velvet shown; grep -o -e right -e wrong shown; result
            """)
        #expect(outcome.text == "0\nright\nstatus 0\necho\n", "\(outcome.errorText)")
    }

    @Test(
        "A signal during the check leaves the terminal with its echo",
        arguments: [("\\003", 130), ("\\034", 131), ("TERM", 130), ("HUP", 130), ("SEGV", 139), ("USR1", 138)])
    func ended(how: String, status: Int) throws {
        let outcome = try shell(
            """
            on_terminal 'trap : INT QUIT; sh -c "echo pid \\$\\$:; exec \\"\\$PROGRAM\\" succeed"'
            read -r -t 60 -d : -u $from word pid
            await; type 'walnut\\n'
            await
            case '\(how)' in '\\'*) type 'garb\(how)' ;; *) kill -\(how) $pid ;; esac
            rest
            grep -c -e walnut -e garb shown; result
            """)
        #expect(outcome.text == "0\nstatus \(status)\necho\n", "\(outcome.errorText)")
    }

    @Test("Ctrl-Z during the check restores the echo; 'fg' turns it off again, and nothing typed before is read")
    func suspended() throws {
        let outcome = try shell(
            """
            # dash leaves the terminal as it finds it, where bash would repair it.
            export COMMAND='"$PROGRAM" succeed; echo "status $?"; stty -a; fg >fg'
            on_terminal 'dash -c "set -m; $COMMAND"'
            await; type 'walnut\\n'
            await; type 'garb\\032'
            # What stty prints may have colons.
            until tail -c 11 shown | grep -q continued:; do await || exit; done
            type 'garbage\\n'
            rest
            grep -c -e walnut -e garb shown; grep -c right shown; result
            """)
        #expect(outcome.text == "0\n1\nstatus 148\nstatus 0\necho\necho\n", "\(outcome.errorText)")
    }
}
