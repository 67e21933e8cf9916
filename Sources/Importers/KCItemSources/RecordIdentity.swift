package import KCByteStreams

extension RecordWriter {
    /// What identifies a record without an ID: its title, addresses and user name, without the secrets in them.
    package static func names(
        title: String, addresses: [String], user: String?, password: borrowing SecretBytes?
    ) -> [String] {
        let isToken = AccessToken.isToken(user, password: password)
        let places = addresses.compactMap { WebAddress($0)?.readable }
        return [title, places.joined(separator: " "), isToken ? "" : user ?? ""]
    }

    /// Makes the identity of a record without an ID from texts that are not secrets, delimited by their lengths.
    package static func identity(of texts: [String]) -> String {
        texts.map { "\($0.utf8.count)\n\($0)" }.joined()
    }
}
