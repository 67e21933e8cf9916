internal import KCByteStreams
package import KCReportText

/// A failure as reported to the user: exit status, message and hint.
///
/// The message and the hints are in lower case without a period, name flags through `OptionName`, and contain foreign
/// text only as escaped by `quoted()`.
package struct Explanation: Hashable, Sendable {
    package let status: ExitStatus
    package let message: String
    package let remedies: [Remedy]
    /// The job that the message names.
    private var job: String?

    package init(_ status: ExitStatus, _ message: String, hint hints: String...) {
        self.init(status, message, hints: hints)
    }

    package init(_ status: ExitStatus, _ message: String, hints: [String]) {
        self.init(status, message, remedies: hints.map { Remedy($0) })
    }

    package init(_ status: ExitStatus, _ message: String, remedies: [Remedy]) {
        self.status = status
        self.message = message
        self.remedies = remedies
    }

    /// Returns the explanation, whose message names this job.
    package func naming(job: String) -> Explanation {
        var explanation = self
        explanation.job = job
        return explanation
    }

    private func with(message: String? = nil, remedies: [Remedy]? = nil) -> Explanation {
        var explanation = Explanation(status, message ?? self.message, remedies: remedies ?? self.remedies)
        explanation.job = job
        return explanation
    }

    /// The remedies as text.
    package var hints: [String] { remedies.map(\.text) }

    /// Returns the explanation with a prefix, such as "line 3: ".
    package func prefixed(_ prefix: String) -> Explanation {
        with(message: prefix + message)
    }

    /// Returns the explanation with the name of a job, unless the message has it.
    package func about(job: String) -> Explanation {
        self.job?.exact == job.exact ? self : prefixed("job \(quoted(job)): ").naming(job: job)
    }

    /// Returns the explanation of a failure after a complete change.
    ///
    /// - Parameter isOfOutput: true if nothing but the printed result is missing.
    package func after(_ change: String, isOfOutput: Bool) -> Explanation {
        with(
            message: "\(change), but \(message)",
            remedies: isOfOutput ? [Remedy("it is done, and only the output is missing: do not repeat it")] : nil)
    }

    /// Returns the explanation with text after its message.
    package func suffixed(_ suffix: String) -> Explanation {
        with(message: message + suffix)
    }

    /// Returns the explanation with additional hints.
    package func adding(_ more: [String]) -> Explanation { adding(more.map { Remedy($0) }) }

    /// Returns the explanation with additional remedies.
    package func adding(_ more: [Remedy]) -> Explanation { with(remedies: remedies + more) }

    /// The explanation for an unattended run: without remedies that need somebody at the desktop.
    package var unattended: Explanation { without(.desktopPrompt) }

    /// True if a remedy takes a passcode.
    package var asksForPasscode: Bool { remedies.contains { $0.means == .passcode } }

    /// Returns the explanation with other hints in place of those that say to give a passcode.
    package func replacingPasscode(by ways: [String]) -> Explanation { without(.passcode).adding(ways) }

    private func without(_ means: Remedy.Means) -> Explanation {
        with(remedies: remedies.filter { $0.means != means })
    }

    /// The lines for standard error.
    package var lines: String {
        "kcbackup: error: \(message)\n" + hints.map { "kcbackup: hint: \($0)\n" }.joined()
    }

    /// Returns the object for `--json`.
    ///
    /// - Parameter archive: the archive that it is about, if the run reads several archives.
    package func json(about archive: String? = nil) -> JSONValue {
        ["error": jsonBody.adding([("path", archive.map { .text($0) })])]
    }

    /// The JSON object "error".
    package var jsonBody: JSONValue {
        [
            "code": .number(Int(status.code)), "name": .text(status.name), "message": .text(message),
            "hints": .list(hints.map { .text($0) }),
        ]
    }
}
