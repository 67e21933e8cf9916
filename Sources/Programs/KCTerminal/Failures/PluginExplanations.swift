package import KCAgeEncryption
internal import KCByteStreams
internal import KCReportText

/// Explains why a plugin of age did not do what it was asked for.
package func explainPlugin(_ plugin: PluginName, _ failure: PluginFailure) -> Explanation {
    let program = "'\(plugin.program)'"
    switch failure {
    case .notFound(let folders):
        return Explanation(
            .notFound, "the plugin \(program) is not installed",
            hint: "install it, or link to it, in one of these folders: "
                + folders.map { displayedPath($0) }.joined(separator: ", "))
    case .notSafe(let failure): return explainUnsafeProgram("the plugin \(program)", failure)
    case .notStarted(let code):
        return Explanation(.io, "the plugin \(program) cannot be started: \(words(ofSystemError: code))")
    case .ended(let said):
        let last = said.exact.split(separator: "\n").last.map { "; it said: \(quoted($0))" } ?? ""
        return Explanation(
            .io, "the plugin \(program) ended before it was done\(last)",
            hint: "is the token connected, and does the plugin work with 'age'?")
    case .misbehaved(let rule):
        return Explanation(
            .refused, "the plugin \(program) does not follow the protocol: \(rule); nothing of it was used",
            hint: "update the plugin")
    case .tooMuch(let limit):
        return Explanation(.limit, "the plugin \(program) sends more than the limit of \(limit) bytes")
    case .overdue(let seconds):
        return Explanation(
            .locked, "the plugin \(program) was not done within \(duration(seconds: seconds))",
            hint: "does its token wait for a touch? at a terminal there is no limit")
    case .unattended:
        return Explanation(
            .locked, "the plugin \(program) asks for something, and there is no terminal",
            hint: "run the command at a terminal, or use a key that needs nobody")
    case .reported(let message):
        return Explanation(
            .locked, "the plugin \(program) failed: \(quoted(message))",
            hint: "is its token connected, and is it the right one?")
    }
}

/// Explains why a program that others could have replaced is not run.
///
/// - Parameter program: what it is, as displayed.
func explainUnsafeProgram(_ program: String, _ failure: FileFailure) -> Explanation {
    let path = quoted(failure.path)
    switch failure.problem {
    case .exposed(let mode):
        return Explanation(
            .refused, "\(program) is not run: others can change \(path) (mode \(String(mode, radix: 8)))",
            hint: "install it anew; if it is what you installed, 'chmod go-w \(shellWord(failure.path))' is enough")
    case .foreignOwner:
        return Explanation(
            .refused, "\(program) is not run: \(path) belongs to another user", hint: "install one of your own")
    default: return explainFile(failure).prefixed("\(program) is not run: ")
    }
}
