internal import KCByteStreams
internal import KCKeychainModel

extension RecordWriter {
    /// The attributes that say which record of which program it is.
    var origin: [ExtraAttribute] {
        if let returned, !returned.origin.isEmpty { return returned.origin }
        let format = ExtraAttribute(name: "source.format", value: collector.format)
        // An item that stands by itself keeps its ID to itself.
        if let returned { return [format, ExtraAttribute(name: RecordKey.attribute, value: "of \(returned.id)")] }
        if let id { return [format, ExtraAttribute(name: "source.id", value: id)] }
        let code = collector.code(ofRecord: identity)
        return [format, ExtraAttribute(name: RecordKey.attribute, value: code)]
    }

    /// Ends the record, once all its parts were added: adds what has only been in its addresses, and counts a record
    /// without any part.
    package func finish() throws(ForeignFailure) {
        let places = try settleAddresses()
        if ordinals.isEmpty, !areAddressesKept {
            if user == nil, places.isEmpty { return collector.leaveOut("record without a secret") }
            try addLogin(user: user, password: nil)
        }
        try addAddresses()
    }

    /// Adds each text of the record that was neither read nor skipped as a field with its path, since it may be a secret.
    package func addUnread(of record: ForeignJSON.Value, in json: ForeignJSON) throws(ForeignFailure) {
        for (path, value) in json.unreadTexts(in: record) {
            guard let text = json.secret(value) else { continue }
            try addField(path, text)
            collector.noteUnknownField(path)
        }
    }

    /// States that another item is the login of this user at these addresses, so that parts added later have only the
    /// name of the user, if it is one.
    package func omitLogin(of name: String?) {
        user = AccessToken.isToken(name, password: nil) ? nil : name
        places = []
        areAddressesKept = true
    }
}
