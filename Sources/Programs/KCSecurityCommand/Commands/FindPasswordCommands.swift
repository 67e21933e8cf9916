internal import KCByteStreams
internal import KCKeychainModel
internal import KCKeychainStore

extension Command {
    static let findGenericPassword = finding(.generic, "find-generic-password", "Find a generic password.")
    static let findInternetPassword = finding(.internet, "find-internet-password", "Find an Internet password.")
    static let deleteGenericPassword = deleting(.generic, "delete-generic-password", "Delete a generic password.")
    static let deleteInternetPassword = deleting(.internet, "delete-internet-password", "Delete an Internet password.")

    private static func finding(_ kind: PasswordKind, _ name: String, _ summary: String) -> Command {
        Command(
            name, summary,
            flags: kind.flags.map(\.flag) + [
                Flag("g", .none, "Show the password as well, on standard error"),
                Flag("w", .none, "Print the password and nothing else"),
            ],
            operands: "[keychain...]",
            notes: [
                "Shows the first item that has all these attributes, of the keychains of the search list or of those named."
            ]
        ) { words, session in
            let query = ItemQuery(itemClass: kind.itemClass, attributes: try kind.attributes(words))
            return try session.find(query, words)
        }
    }

    private static func deleting(_ kind: PasswordKind, _ name: String, _ summary: String) -> Command {
        Command(
            name, summary, flags: kind.flags.map(\.flag), operands: "[keychain...]",
            notes: ["Deletes the first item that has all these attributes; one at least is needed."]
        ) { words, session in
            let query = ItemQuery(itemClass: kind.itemClass, attributes: try kind.attributes(words))
            if query.attributes.isEmpty { throw UsageProblem() }
            let found = try session.calling("SecKeychainSearchCopyNext") {
                try session.first(query, in: session.searched(words.operands))
            }
            try session.calling("SecKeychainItemDelete") {
                _ = try found.keychain.delete(matching: ItemQuery(found.item), now: session.now)
            }
            try session.write(listing(of: found.item, in: session.listed(found.local)).span)
            session.message("password has been deleted.\n")
            return .ok
        }
    }
}

extension Session {
    fileprivate func find(_ query: ItemQuery, _ words: Words) throws -> ExitStatus {
        let found = try calling("SecKeychainSearchCopyNext") { try first(query, in: searched(words.operands)) }
        if !words.has("w") { try write(listing(of: found.item, in: listed(found.local)).span) }
        guard words.has("w") || words.has("g") else { return .ok }
        var text = SecretBytes(capacity: 256)
        try calling("SecKeychainItemCopyContent") {
            if words.has("g") && !words.has("w") { text.append(utf8: "password: ") }
            // An item without data is treated as having empty data, as on macOS.
            switch try secret(of: found) {
            case .none: break
            case .some(let secret):
                secret.withBytes { words.has("w") ? text.appendBare($0) : text.appendListed($0) }
            }
        }
        text.append(UInt8(ascii: "\n"))
        if words.has("w") { try write(text) } else { try writeToStandardError(text) }
        return .ok
    }
}
