internal import KCByteStreams

/// The user's settings for KWallet.
enum KWalletSettings {
    private static let key = "Prompt on Open"
    // In bytes; a settings file is small.
    private static let limit = 1 << 20

    /// True if KWallet asks, or might ask, before it hands an open wallet to a program.
    ///
    /// KWallet might ask if the settings cannot be read.
    ///
    /// - Parameter folders: the folders where settings may be; nil if they are not known.
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

    /// True if the settings say so; this is not the default.
    static func asksOnOpen(_ settings: String) -> Bool {
        settings.split(whereSeparator: \.isNewline).contains { line in
            let parts = line.exact.split(separator: "=", maxSplits: 1)
            // A marker of KDE may follow the key, as in `[$i]`.
            guard parts.count == 2, parts[0].drop(while: \.isWhitespace).exact.hasPrefix(key) else { return false }
            let value = String(parts[1].filter { !$0.isWhitespace }).lowercased()
            return !["false", "0", "off", "no"].contains(value)
        }
    }
}
