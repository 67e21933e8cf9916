package import KCBackupArchive
package import KCBackupCatalogue
package import KCBackupEngine
internal import KCByteStreams
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCHomeFiles
package import KCKeychainModel

// Descriptions of archives and their contents, as text and in JSON (docs/json.md, "Parts").

extension ArchiveOutline {
    /// The lines that need no key.
    package func lines(_ path: String, _ calendar: LocalCalendar) -> [String] {
        var rows = [
            ("archive", displayed(path)), ("mode", header.mode.rawValue), ("made", calendar.moment(header.created)),
            ("by device", header.device.description), ("with", displayed(header.tool)), ("size", byteCount(size)),
        ]
        if header.mode == .encrypted { rows.append(("opens with", keyWords)) }
        return rows.map { name, value in name + String(repeating: " ", count: 12 - name.count) + value + "\n" }
    }

    package var keyWords: String {
        // The passphrase is one recipient of each stream.
        let restore = max(0, secretsRecipients.count - (hasPassphrase ? 1 : 0))
        let own = reach == .thisDevice ? ", of this device alone" : ""
        let inspect = max(0, metadataRecipients.count - secretsRecipients.count)
        let keys = [
            hasPassphrase ? "a passphrase" : nil,
            restore > 0 ? counted(restore, isPostQuantum ? "post-quantum public key" : "public key") + own : nil,
            inspect > 0 ? counted(inspect, "inspect key") + " (metadata alone)" : nil,
        ]
        return keys.compactMap { $0 }.joined(separator: ", ")
    }

    /// True if a quantum computer does not break its public keys: all recipients of an archive have the same strength.
    private var isPostQuantum: Bool { metadataRecipients.contains { $0.exact.hasPrefix("mlkem768") } }

    /// The JSON object "archive".
    package func json(_ path: String) -> JSONValue {
        .members([
            ("path", .text(path)), ("id", .text(Hexadecimal.encode(header.archiveID))),
            ("version", .number(Int(ArchiveHeader.currentVersion))), ("mode", .text(header.mode.rawValue)),
            ("created", .text(header.created.description)), ("device", .text(header.device.description)),
            ("tool", .text(header.tool)), ("size", .number(Int(size))), ("passphrase", .flag(hasPassphrase)),
            (
                "recipients",
                header.mode == .unencrypted
                    ? nil
                    : [
                        "metadata": .list(metadataRecipients.map { .text(displayed($0, limit: 64)) }),
                        "secrets": .list(secretsRecipients.map { .text(displayed($0, limit: 64)) }),
                    ]
            ),
        ])
    }
}

extension KeyReach {
    /// The condition for a restore on another device, in words; nil if nothing has to be said.
    ///
    /// - Parameter keys: the number of public keys that open it.
    package func condition(keys: Int) -> String? {
        guard self == .itsKeys else { return nil }
        return keys == 1 ? "has the key" : "has one of the keys"
    }
}

extension ArchiveSource {
    /// The source as text.
    package var words: String {
        switch kind {
        case Self.keychain: "keychain \(quoted(name))"
        case Self.keychainFile: "keychain file \(quoted(name))"
        case Self.items: "the file of items \(quoted(name))"
        case Self.desktopKeyring: desktopWords(collection: name)
        case Self.homeFiles: HomeRoot.home.words
        case Self.credentials: HomeRoot.credentials.words
        default: "\(kind) \(quoted(name))"
        }
    }

    /// The JSON object "source".
    package var json: JSONValue { ["kind": .text(kind), "name": .text(name)] }
}

extension ArchiveContents {
    /// The JSON object "contents".
    package var json: JSONValue {
        [
            "counts": .counts { counts[$0] }, "omitted": .number(omitted), "damaged": .number(damaged),
            "complete": .flag(isComplete),
        ]
    }
}

extension Origin {
    /// The origin as text.
    package var words: String {
        switch self {
        case .thisDevice: "this device"
        case .trustedDevice(let name): "the trusted device \(quoted(name))"
        case .passphrase: "somebody who knows the passphrase"
        case .unknown: "unknown: the device that signed it is not trusted"
        }
    }

    /// The JSON object "origin".
    package var json: JSONValue {
        if case .trustedDevice(let device) = self { return ["kind": .text(name), "name": .text(device)] }
        return ["kind": .text(name)]
    }
}

extension RestoreAction.Problem {
    /// The problem in words.
    package var words: String {
        switch self {
        case .identityTaken:
            "its name belongs to an item of the keychain that is another one of the backup, and stays as it is"
        case .noKey: "no key opens its secret"
        case .noPlace: "items of its class have no place there"
        case .notAHomeFile: "it is none of the files that kcbackup writes there"
        case .inTheWay:
            "a link, a folder, or something that is not yours or that all can write to, is in its place or on the way"
        case .notPermitted: "you may not read or write where it goes"
        case .noPasscode:
            "it needs a keychain with a passcode: 'kcbackup keychain set-passcode'"
        case .overLimit: "together with what the keychain has beside it, it is over a limit"
        case .broken: "it was damaged before the archive was made: its seal is broken"
        }
    }
}

extension Verdict {
    /// The verdict in a table.
    package var word: String {
        switch self {
        case .restores: "restores"
        case .staysBehind: "stays"
        }
    }

    /// The reason in a table; empty if the item restores.
    package var reasonWord: String {
        switch self {
        case .restores: ""
        case .staysBehind(.thisDeviceOnly): "ThisDeviceOnly"
        case .staysBehind(.unencryptedElsewhere): "unencrypted archive"
        case .staysBehind(.inNoArchive): "in no archive"
        case .staysBehind(.notBoundThere): "not bound there"
        case .staysBehind(.asksForPasscode): "asks for passcode"
        }
    }

    /// The JSON object "verdict".
    package var json: JSONValue {
        switch self {
        case .restores: ["restores": true]
        case .staysBehind(let reason): ["restores": false, "reason": .text(reason.rawValue)]
        }
    }
}

extension Item {
    /// A name for the item in messages: class, service or server, account.
    ///
    /// An item of a desktop keyring is named by its label, which is what programs show there: its service follows from
    /// its schema, and many items have the same.
    package var words: String {
        if let file = HomeItem.path(of: self) { return "file \(quoted(file.shown))" }
        let label = collection == nil ? nil : attributes.text(.labl).flatMap { $0.isEmpty ? nil : $0 }
        let place =
            label ?? attributes.text(.svce) ?? attributes.text(.srvr) ?? attributes.text(.labl) ?? uuid.description
        let account = attributes.text(.acct).flatMap { $0.isEmpty ? nil : ", account \(quoted($0))" } ?? ""
        return "\(itemClass.name) \(quoted(place))\(account)"
    }
}

/// Returns a name for each item; names that would be the same are distinguished by the attributes that differ.
package func wordsApart(_ items: some Collection<Item>) -> [String] {
    var words = items.map(\.words)
    var alike: [ExactText: [Int]] = [:]
    for (index, words) in words.enumerated() { alike[words.exact, default: []].append(index) }
    let items = Array(items)
    for indices in alike.values where indices.count > 1 {
        for index in indices {
            let others = indices.lazy.filter { $0 != index }.map { items[$0] }
            words[index] += items[index].difference(from: others)
        }
    }
    return words
}

extension Item {
    // The attributes that a user knows of, the most telling first.
    private static let telling: [AttributeCode] = [.labl, .svce, .srvr, .ptcl, .port, .path, .sdmn, .atyp, .agrp]

    /// The attributes that distinguish the item from others with the same words; its UUID if none do.
    fileprivate func difference(from others: some Sequence<Item>) -> String {
        var rest = Array(others)
        var words = ""
        for code in Self.telling {
            let same = rest.filter { $0.attributes[code] == attributes[code] }
            if same.count == rest.count { continue }
            rest = same
            words += value(of: code).map { ", \(code.word) \($0)" } ?? ", no \(code.word)"
            if rest.isEmpty { break }
        }
        if !rest.isEmpty, let collection, rest.contains(where: { $0.collection != collection }) {
            rest.removeAll { $0.collection != collection }
            words += ", collection \(quoted(collection))"
        }
        return rest.isEmpty ? words : "\(words), UUID \(uuid)"
    }

    /// The value of an attribute, quoted unless it is a number; a number that is four characters is shown as these.
    private func value(of code: AttributeCode) -> String? {
        guard case .number(let number) = attributes[code] else { return attributes.shown(code).map(quoted) }
        return attributes.fourCharacters(code).map(quoted) ?? String(number)
    }
}
