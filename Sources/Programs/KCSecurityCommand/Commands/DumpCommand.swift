internal import KCByteStreams
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains

extension Command {
    static let dumpKeychain = Command(
        "dump-keychain", "Show all items of keychains.",
        flags: [
            Flag("a", .none, "Say that there are no access control lists"),
            Flag("d", .none, "Show the data as well, in the clear"),
            Flag("i", .none, "Without meaning here"),
            Flag("r", .none, "Show the data as well, as it is stored"),
        ],
        operands: "[keychain...]",
        notes: ["Without a keychain, all of the search list are shown."]
    ) { words, session in
        if words.has("a") || words.has("i") { session.noteAccessLists() }
        let keychains = try session.calling("SecKeychainCopySearchList") { try session.searched(words.operands) }
        return try session.dump(keychains, words)
    }
}

extension Session {
    fileprivate func dump(_ keychains: [LocalKeychain], _ words: Words) throws -> ExitStatus {
        try calling("SecKeychainSearchCopyNext") {
            try forEach(
                ItemQuery(), in: keychains, api: "SecKeychainSearchCopyNext",
                prepare: { keychain, local in
                    // Ask for the password before any output.
                    if words.has("d") { try unlock(keychain, local, for: .whenUnlocked) }
                }
            ) { found in
                try dump(found, words)
            }
        }
    }

    private func dump(_ found: Found, _ words: Words) throws {
        var text = SecretBytes(listing(of: found.item, in: listed(found.local)).span)
        if words.has("r") {
            text.append(utf8: "raw data:\n")
            let bytes = try found.keychain.storedSecret(of: found.item)
            text.appendListed(bytes.span)
            text.append(UInt8(ascii: "\n"))
        }
        if words.has("d") {
            text.append(utf8: "data:\n")
            // A dump in the clear is an export: what is bound to this device is shown item by item only.
            switch Departure.decide(found.item) {
            case .stays(let reason) where found.item.secretSize != nil:
                let label = displayed(found.item.attributes.text(.labl) ?? "", limit: 100)
                note("the data of \"\(label)\" is not dumped: \(reason.words)", evenIfQuiet: true)
            case .leaves, .stays:
                switch try secret(of: found) {
                case .none: break
                case .some(let secret): secret.withBytes { text.appendListed($0) }
                }
            }
            text.append(UInt8(ascii: "\n"))
        }
        try write(text)
    }
}
