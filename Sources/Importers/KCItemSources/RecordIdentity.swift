package import KCByteStreams

extension RecordWriter {
    /// The names that identify a record without an ID: its title, addresses and user name, without the secrets in them.
    package static func names(
        title: String, addresses: [String], user: String?, password: borrowing SecretBytes?
    ) -> [String] {
        names(title: title, addresses: addresses.map { WebAddress($0) }, user: user, password: password)
    }

    /// The names that identify a record without an ID, of whose addresses the malformed ones are nil.
    package static func names(
        title: String, addresses: [WebAddress?], user: String?, password: borrowing SecretBytes?
    ) -> [String] {
        let isToken = AccessToken.isToken(user, password: password)
        let places = addresses.compactMap { $0?.readable }
        return [title, places.joined(separator: " "), isToken ? "" : user ?? ""]
    }

    /// The name of a field in a section, so that fields of two sections are told apart.
    package static func fieldName(_ name: String, in section: String?) -> String {
        guard let section, !section.isEmpty else { return name }
        return name.isEmpty ? section : "\(section): \(name)"
    }

    /// Makes the identity of a record without an ID from texts that are not secrets, delimited by their lengths.
    package static func identity(of texts: [String]) -> String {
        texts.map { "\($0.utf8.count)\n\($0)" }.joined()
    }
}
