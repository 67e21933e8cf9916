import Glibc
import KCByteStreams
import KCConsole

// Asks for a secret as the programs do, and checks it until another line is typed. The tests run it on a terminal.
//
// Argument: what the check does then. After a colon, the program waits for the test. With `child`, it runs a program
// that says its number.

enum Check: String {
    case succeed, fail, ask, askAgain, twice, crash
}

/// The secret is wrong.
struct WrongSecret: Error {}

func say(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(1, bytes, bytes.count)
}

func text(_ secret: borrowing SecretBytes) -> String {
    secret.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
}

/// Says that the check has begun, and waits for a complete line, which remains to be read; says so each time the process
/// is continued.
func waitForLine() throws {
    // A signal that arrives as soon as the test knows must end the wait.
    var (all, none, before) = (sigset_t(), sigset_t(), sigset_t())
    sigfillset(&all)
    sigemptyset(&none)
    sigprocmask(SIG_SETMASK, &all, &before)
    defer { sigprocmask(SIG_SETMASK, &before, nil) }
    say("checking:")
    while true {
        var input = fd_set()
        input.__fds_bits.0 = 1
        if pselect(1, &input, nil, nil, nil, &none) == 1 { return }
        if Interruption.isRequested { throw TerminalFailure.interrupted }
        say("continued:")
    }
}

if CommandLine.arguments.last == "child" {
    ProcessSetup.run()
    let script = "echo $$; exec sleep 600"
    let child = ChildProgram(path: "/bin/sh", arguments: ["-c", script], environment: ["PATH": "/usr/bin:/bin"])
    _ = try child.run { piece in say(String(decoding: piece.indices.map { piece[$0] }, as: UTF8.self)) }
}
guard let check = CommandLine.arguments.last.flatMap(Check.init) else { exit(64) }
ProcessSetup.run()
let terminal = ControllingTerminal()
do {
    try terminal.quietly {
        let secret = try terminal.readSecret("secret: ")
        try waitForLine()
        switch check {
        case .succeed: say(text(secret) == "walnut" ? "right\n" : "wrong\n")
        case .fail: throw WrongSecret()
        case .ask: say("answer is \(try terminal.readAnswer("answer: "))\n")
        case .askAgain: say(text(try terminal.readSecret("secret: ")) == "velvet" ? "right\n" : "wrong\n")
        case .twice: say(text(try terminal.readSecretAgain("again: ")) == "velvet" ? "right\n" : "wrong\n")
        case .crash: kill(getpid(), SIGSEGV)
        }
    }
} catch TerminalFailure.interrupted {
    exit(130)
} catch {
    exit(1)
}
