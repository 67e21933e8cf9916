internal import KCByteStreams

extension RemoteFailure {
    // ssh's, when there is no connection or none any longer; sftp itself fails with 1.
    private static let connectionFailed: Int32 = 255

    // The second is of a folder below one that is missing too.
    private static let absences = ["No such file or directory", ": No such file", "\" not found"]

    /// Explains an ending of sftp with a failure.
    ///
    /// In batch mode it ends with the first command that fails, and the last line says why.
    init(ofSftp ending: ProgramEnding, _ location: RemoteLocation) {
        let lines = ending.messages.exact.split(separator: "\n").map { line in
            line.exact.removingSuffix("\r") ?? line
        }
        // The messages of ssh come before the line about the closed connection.
        let last = lines.last { !$0.exact.hasPrefix("Connection closed") } ?? lines.last
        let message = last.map { $0.exact.removingSuffix(".") ?? $0 } ?? "exit status \(ending.status)"
        if ending.status == Self.connectionFailed {
            if ending.messages.exact.contains("Host key verification failed") {
                self =
                    ending.messages.exact.contains("has changed and you have requested strict checking")
                    ? .denied(location, message: "it has another key than the one that is known")
                    : .unknownHost(location)
            } else if ending.messages.exact.contains("Permission denied") {
                self = .denied(location, message: message)
            } else {
                self = .unreachable(location, message: message)
            }
            return
        }
        if message.exact.hasSuffix("Permission denied") {
            self = .denied(location, message: message)
        } else if Self.absences.contains(where: message.exact.hasSuffix) {
            self = .missing(location)
        } else {
            self = .failed(location, message: message)
        }
    }
}
