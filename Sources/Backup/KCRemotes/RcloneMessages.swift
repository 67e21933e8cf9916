internal import KCByteStreams

extension RemoteFailure {
    /// The meanings of the words of rclone and of the libraries in it.
    private static let meanings: [(words: [String], failure: @Sendable (RemoteLocation, String) -> RemoteFailure)] = [
        (["Failed to load config file"], { _, message in .unreadableConfiguration(message) }),
        (["didn't find section in config file"], { location, _ in .unknownRemote(location.remote) }),
        (
            [
                "AccessDenied", "Forbidden", "Unauthorized", "unable to authenticate", "key mismatch",
                "InvalidAccessKeyId",
                "SignatureDoesNotMatch", "permission denied",
            ], { .denied($0, message: $1) }
        ),
        (
            [
                "connection refused", "no such host", "i/o timeout", "deadline exceeded", "network is unreachable",
                "no route to host", "connection reset",
            ], { .unreachable($0, message: $1) }
        ),
        (
            [
                "object not found", "directory not found", "is a directory or doesn't exist", "NoSuchBucket",
                "NoSuchKey", "SSH_FX_NO_SUCH_FILE", "file does not exist", "404 Not Found",
            ], { location, _ in .missing(location) }
        ),
        (["PreconditionFailed", "Precondition Failed"], { location, _ in .exists(location) }),
    ]

    /// A message without what may be a secret in a URL: what stands before the host, and the query.
    private static func withoutSecrets(_ message: String) -> String {
        message.exact.split(separator: " ", omittingEmptySubsequences: false).map { word in
            guard word.exact.contains("://") else { return word }
            let address = word.exact.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            let parts = address[0].exact.split(separator: "@")
            return (parts.count > 1 ? "…@" + (parts.last ?? "") : address[0]) + (address.count > 1 ? "?…" : "")
        }.joined(separator: " ")
    }

    /// A message without the level that some versions put before it.
    private static func withoutLevel(_ message: String) -> String {
        for level in ["CRITICAL: ", "ERROR : ", "NOTICE: "] {
            if let rest = message.exact.removingPrefix(level) { return rest }
        }
        return message
    }

    /// Explains an ending with a failure.
    init(_ ending: ProgramEnding, _ location: RemoteLocation) {
        // The library for S3 in old versions adds indented lines.
        let lines = ending.messages.exact.split(separator: "\n").filter { !$0.exact.hasPrefix("\t") }
        let message = Self.withoutSecrets(lines.last.map(Self.withoutLevel) ?? "exit status \(ending.status)")
        for meaning in Self.meanings where meaning.words.contains(where: ending.messages.exact.contains) {
            self = meaning.failure(location, message)
            return
        }
        self = .failed(location, message: message)
    }
}
