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
        /// It was changed each time while it was read.
        case changed
        case tooLarge
        case otherOwner
        /// Its name, or that of a folder on the way, is not UTF-8, or it is nested too deeply.
        case name
        case item(ItemProblem)
    }

    // A program that saves a file again is done in less than that many readings.
    private static let attempts = 3

    /// Reads a file to its end, again if it changes meanwhile.
    ///
    /// - Parameter owner: the ID of the user whose file it must be.
    static func read(
        _ name: String, in folder: OpenFolder, owner: UInt32, limit: Int
    ) throws(Failure) -> HomeFile {
        for _ in 0..<attempts {
            let file = try failing(as: Failure.file, folder.file(name))
            let before = try failing(as: Failure.file, EntryStatus(file))
            guard before.owner == owner else { throw .otherOwner }
            guard before.size <= limit else { throw .tooLarge }
            var bytes = SecretBytes(capacity: max(1, Int(before.size)))
            // One byte more than there should be shows that it grew.
            try failing(
                as: Failure.stream,
                bytes.append(upTo: Int(before.size) + 1) { output throws(StreamFailure) in
                    try file.read(at: 0, into: &output)
                })
            let after = try failing(as: Failure.file, EntryStatus(file))
            if before == after, bytes.count == Int(before.size) { return HomeFile(bytes, before) }
        }
        throw .changed
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

    /// The service of such an item.
    package static let service = "kcbackup.home-file"
    private static let permissionsName = "home.mode"

    /// Describes a file that was read.
    package init(_ path: HomePath, _ file: HomeFile) {
        self.path = path
        permissions = file.status.permissions & 0o777
        modified = file.modified
    }

    /// Parses an item; nil if it is not a file of a home.
    package init?(_ item: Item) {
        guard let path = Self.path(of: item),
            let text = item.extra.first(where: { $0.name.exact == Self.permissionsName.exact })?.value,
            text.utf8.count == 4, let permissions = UInt32(text, radix: 8), permissions <= 0o777,
            item.secretSize != nil
        else { return nil }
        self.path = path
        self.permissions = permissions
        modified = item.attributes.date(.mdat) ?? .reference
    }

    /// The path of the file that an item is; nil if it is none.
    package static func path(of item: Item) -> HomePath? {
        guard item.itemClass == .genericPassword, item.attributes.text(.svce)?.exact == service.exact else {
            return nil
        }
        return item.attributes.text(.acct).flatMap { HomePath($0) }
    }

    /// The item, which gets the same UUID in every backup of every home.
    package var draft: ItemDraft {
        var attributes = Attributes()
        attributes[.svce] = .text(Self.service)
        attributes[.acct] = .text(path.text.string)
        attributes[.labl] = .text(path.shown)
        attributes[.cdat] = .date(modified)
        attributes[.mdat] = .date(modified)
        let digits = String(permissions, radix: 8)
        return ItemDraft(
            itemClass: .genericPassword, attributes: attributes,
            extra: [
                ExtraAttribute(
                    name: Self.permissionsName, value: String(repeating: "0", count: 4 - digits.utf8.count) + digits)
            ])
    }

    /// The permissions of the file where it is restored: at most those that it had, and never write for others.
    package func restoredPermissions(_ rule: HomeFileRule) -> UInt32 {
        permissions & (rule.isSecret ? 0o700 : 0o755) | 0o400
    }
}
