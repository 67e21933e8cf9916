internal import Glibc
package import KCByteStreams
internal import KCItemSources
package import KCKeychainModel

/// A file of a home as it was read: no byte of it changed meanwhile.
package final class HomeFile: Sendable {
    package let bytes: SecretBytes
    package let status: EntryStatus

    private init(_ bytes: consuming SecretBytes, _ status: EntryStatus) {
        self.bytes = bytes
        self.status = status
    }

    /// Why a file cannot be taken.
    package enum Failure: Error, Hashable, Sendable {
        case file(FileFailure)
        case stream(StreamFailure)
        /// The file was changed each time while it was read.
        case changed
        /// The file is a database, and the journal of a change that is under way or was broken off is beside it.
        case unfinished
        case tooLarge
        case otherOwner
        /// Its name, or that of a folder on the way, is not UTF-8, or it is nested too deeply.
        case name
        case item(ItemProblem)

        /// True if only more rights help.
        package var isOfRights: Bool {
            guard case .file(let failure) = self, case .system(let code, _) = failure.problem else { return false }
            return [EACCES, EPERM, EROFS].contains(code)
        }
    }

    // A program that saves a file again is done in less than that many readings.
    private static let attempts = 3

    /// Reads a file to its end, again if it changes meanwhile.
    ///
    /// - Parameter owner: the ID of the user whose file it must be.
    static func read(
        _ name: String, in folder: OpenFolder, owner: UInt32, _ rule: HomeFileRule
    ) throws(Failure) -> HomeFile {
        for _ in 0..<attempts {
            if try hasJournal(name, in: folder, rule) { throw .unfinished }
            let file = try failing(as: Failure.file, folder.file(name))
            let before = try failing(as: Failure.file, EntryStatus(file))
            guard before.owner == owner else { throw .otherOwner }
            guard before.size <= rule.limitInBytes else { throw .tooLarge }
            var bytes = SecretBytes(capacity: max(1, Int(before.size)))
            // A byte more than there should be shows that the file grew.
            try failing(
                as: Failure.stream,
                bytes.append(upTo: Int(before.size) + 1) { output throws(StreamFailure) in
                    try file.read(at: 0, into: &output)
                })
            let after = try failing(as: Failure.file, EntryStatus(file))
            guard before == after, bytes.count == Int(before.size) else { continue }
            // A change that began meanwhile may have written to the file through memory.
            if try hasJournal(name, in: folder, rule) { throw .unfinished }
            return HomeFile(bytes, before)
        }
        throw .changed
    }

    /// True if a database has a journal with anything in it; source: SQLite, "Temporary Files Used By SQLite".
    static func hasJournal(_ name: String, in folder: OpenFolder, _ rule: HomeFileRule) throws(Failure) -> Bool {
        guard rule.isDatabase else { return false }
        for ending in ["-journal", "-wal"] {
            let status = try failing(as: Failure.file, folder.status(of: name + ending))
            if let status, status.size > 0 { return true }
        }
        return false
    }

    /// When it was last changed; that of a time that no item can have is Apple's reference date.
    var modified: Timestamp {
        status.modifiedInMicroseconds.flatMap { Timestamp(microseconds: $0) } ?? .reference
    }
}

/// How a file of a home is an item: a generic password whose account is the path, and whose secret are the bytes.
package struct HomeItem: Hashable, Sendable {
    package let path: HomePath
    /// The lowest nine bits of its mode.
    package let permissions: UInt32
    package let modified: Timestamp
    /// Which key opens it; nil for a file that is no encrypted credential.
    package let key: CredentialKey?

    fileprivate static let keyName = "systemd.key"

    /// Describes a file that was read.
    package init(_ path: HomePath, _ file: HomeFile) {
        self.path = path
        permissions = file.status.permissions & 0o777
        modified = file.modified
        key = CredentialTable.isEncrypted(path) ? CredentialKey(file.bytes) : nil
    }

    /// Describes a file that is written anew.
    package init(_ path: HomePath, permissions: UInt32, modified: Timestamp) {
        self.path = path
        self.permissions = permissions & 0o777
        self.modified = modified
        key = nil
    }

    /// Parses an item; nil if it is not a file of a home.
    package init?(_ item: Item) {
        guard let path = Self.path(of: item),
            let text = item.extra.first(where: { $0.name.exact == path.root.modeName.exact })?.value,
            text.utf8.count == 4, let permissions = UInt32(text, radix: 8), permissions <= 0o777,
            item.secretSize != nil
        else { return nil }
        self.path = path
        self.permissions = permissions
        modified = item.attributes.date(.mdat) ?? .reference
        let key = item.extra.first { $0.name.exact == Self.keyName.exact }?.value
        self.key = CredentialTable.isEncrypted(path) ? key.flatMap { CredentialKey(rawValue: $0) } ?? .unknown : nil
    }

    /// The path of the file that an item is; nil if it is none.
    package static func path(of item: Item) -> HomePath? {
        guard item.itemClass == .genericPassword, let service = item.attributes.text(.svce)?.exact,
            let root = HomeRoot.allCases.first(where: { $0.service.exact == service })
        else { return nil }
        return item.attributes.text(.acct).flatMap { HomePath($0, in: root) }
    }

    /// The item, which gets the same UUID in every backup of every home.
    package var draft: ItemDraft {
        var attributes = Attributes()
        attributes[.svce] = .text(path.root.service)
        attributes[.acct] = .text(path.text.string)
        // A list shows the label, and has no place for the kind.
        let isBound = key?.isBoundToMachine ?? false
        attributes[.labl] = .text(path.shown + (isBound ? " (only on its machine)" : ""))
        attributes[.cdat] = .date(modified)
        attributes[.mdat] = .date(modified)
        if path.root == .credentials || key != nil { attributes[.desc] = .text(kind) }
        let digits = String(permissions, radix: 8)
        var extra = [
            ExtraAttribute(
                name: path.root.modeName, value: String(repeating: "0", count: 4 - digits.utf8.count) + digits)
        ]
        if let key { extra.append(ExtraAttribute(name: Self.keyName, value: key.rawValue)) }
        return ItemDraft(itemClass: .genericPassword, attributes: attributes, extra: extra)
    }

    /// The kind of a credential, for people.
    private var kind: String {
        switch key {
        case nil: "credential"
        case .null: "credential, encrypted without a key"
        case .unknown: "credential, encrypted with an unknown key"
        case .host, .tpm2, .hostAndTPM2: "credential, encrypted for this machine (\(key?.rawValue ?? ""))"
        }
    }

    /// The permissions of the file where it is restored: at most those that it had, and never write for others.
    package func restoredPermissions(_ rule: HomeFileRule) -> UInt32 {
        permissions & (rule.isSecret ? 0o700 : 0o755) | 0o400
    }
}

extension Item {
    /// True for a credential of systemd that only the machine that encrypted it opens, wherever it is restored.
    package var isOfOneMachine: Bool {
        // Nearly all items have no such attribute, and every item is asked.
        extra.contains { $0.name.exact == HomeItem.keyName.exact } && HomeItem(self)?.key?.isBoundToMachine == true
    }
}
