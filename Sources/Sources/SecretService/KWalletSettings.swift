internal import ByteStreams

/// What the user has set for KWallet.
enum KWalletSettings {
    private static let key = "Prompt on Open"
    // Bytes: a file of settings is small.
    private static let limit = 1 << 20

    /// True if KWallet asks before it gives an open wallet to a program, or might: where that cannot be found out.
    ///
    /// - Parameter folders: where the settings may be; nil if nobody knows.
    static func asksOnOpen(in folders: [String]?) -> Bool {
        guard let folders else { return true }
        return folders.contains { folder in
            do throws(FileFailure) {
                let text = try PrivateFile.readPublic("\(folder)/kwalletrc", limit: limit)
                return text.withBytes { bytes in
                    asksOnOpen(String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self))
                }
            } catch {
                return error.problem != .notFound
            }
        }
    }

    /// True if settings say so; it is not the default.
    static func asksOnOpen(_ settings: String) -> Bool {
        settings.split(whereSeparator: \.isNewline).contains { line in
            let parts = line.split(separator: "=", maxSplits: 1)
            // A mark of KDE may follow the name, as in `[$i]`.
            guard parts.count == 2, parts[0].drop(while: \.isWhitespace).hasPrefix(key) else { return false }
            let value = String(parts[1].filter { !$0.isWhitespace }).lowercased()
            return !["false", "0", "off", "no"].contains(value)
        }
    }
}
