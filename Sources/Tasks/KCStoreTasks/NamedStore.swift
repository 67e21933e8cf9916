package import KCBackupArchive
internal import KCBackupCatalogue
package import KCBackupEngine
package import KCByteStreams
package import KCHomeFiles
package import KCItemStores
package import KCSecretService

/// A store of items as the user named it.
///
/// Every kind can be read. A kind that can also be changed, or restored into, says how; one that does not is only read.
///
/// ```swift
/// let store = try StoreChoice.named("secret-service:", in: machine)
/// let open = try store.opened(StoreAccess(), for: .reading, in: context)
/// print(try open.items.itemCount())
/// ```
package protocol NamedStore {
    /// The name, as `--keychain` takes it, or the path of a file.
    var name: String { get }

    /// The name, as `--keychain` takes it.
    var storeName: String { get }

    /// The same store, whatever the working folder is.
    func absolute(in machine: Machine) -> Self

    var kind: StoreKind { get }

    /// The kind and the name that are recorded in its archives.
    var recorded: (kind: String, name: String) { get }

    /// The first part of its archives' names.
    var stem: String { get }

    /// The first part of its archives' names where nothing of `stem` can be in the name of a file.
    var plainStem: String { get }

    /// Opens the store for reading, with what fits its kind; secrets that need a passcode cannot be read yet.
    func opened(_ access: StoreAccess, for use: StoreUse, in context: TaskContext) throws -> OpenStore

    /// Opens the store for changes, with what fits its kind.
    ///
    /// - Throws: `StoreUnfit` if stores of its kind are only read.
    func changeable(_ access: StoreAccess, in context: TaskContext) throws -> any ItemStore

    /// Prepares to restore into the store, or to take changes back in it, with what fits its kind.
    ///
    /// - Parameter noPasscode: true to make a keychain that does not exist without a passcode.
    /// - Throws: `StoreUnfit` if stores of its kind are only read.
    func restorable(
        _ access: StoreAccess, noPasscode: Bool, in context: TaskContext
    ) throws -> any RestorableStore

    /// Checks that the store has its place, before anything is made for a backup of it.
    ///
    /// - Throws: `FileFailure` (`notFound`).
    func requirePlace(in machine: Machine) throws(FileFailure)

    /// Finds what would make a job fail that backs up the store.
    ///
    /// - Parameter isUnencrypted: true if the archive of the job is, which needs no passcode.
    func examine(_ access: StoreAccess, isUnencrypted: Bool, in context: TaskContext) throws
}

/// The kinds of stores.
package enum StoreKind: Hashable, Sendable {
    case keychain, keyring, file, home

    /// The rule for items that are there already, unless the user gives one.
    ///
    /// The date of a file says when it was copied or touched, and not which one is right.
    package var conflictPolicy: ConflictPolicy { self == .home ? .keep : .newer }
}

/// The purpose for which a store is read.
package enum StoreUse: Hashable, Sendable {
    /// All of it is needed, such as for an export.
    case reading
    /// The items that can be seen are shown.
    case listing
    /// A comparison with another file, which may need what does not open this one.
    case comparing
    /// An archive is made.
    case archiving

    /// True if what is locked may be left out.
    var mayLeaveOut: Bool { self == .listing || self == .archiving }
}

/// A store that was asked for what its kind cannot do.
package enum StoreUnfit: Error, Hashable, Sendable {
    case onlyRead
    /// A home, whose items are files.
    case areFiles(HomeRoot)
    /// A store of this kind does not meet a demand that others meet.
    case lacks(StoreDemand, StoreKind, able: [StoreKind])
}

/// A store that was opened for reading.
package struct OpenStore {
    package let items: any ReadableStore
    package let contents: Contents

    /// The facts about a store beside its items.
    package enum Contents {
        case ofKeychain
        case ofKeyring(DesktopKeyring, count: Int, [CollectionSummary])
        case ofHome(HomeHoldings)
        case ofItemLines
        case ofFile(ForeignReading, path: String)
    }

    package init(_ items: any ReadableStore, _ contents: Contents) { (self.items, self.contents) = (items, contents) }
}

extension NamedStore {
    package var storeName: String { name }
    package func absolute(in machine: Machine) -> Self { self }

    package func changeable(_ access: StoreAccess, in context: TaskContext) throws -> any ItemStore {
        throw StoreUnfit.onlyRead
    }

    package func restorable(
        _ access: StoreAccess, noPasscode: Bool, in context: TaskContext
    ) throws -> any RestorableStore {
        throw StoreUnfit.onlyRead
    }

    /// Opening it says what is missing, and makes nothing.
    package func requirePlace(in machine: Machine) {}

    /// Nothing can be known in advance.
    package func examine(_ access: StoreAccess, isUnencrypted: Bool, in context: TaskContext) {}

    /// Returns the source recorded in its archives.
    package func archiveSource() throws(ArchiveFailure) -> ArchiveSource {
        try ArchiveSource(kind: recorded.kind, name: recorded.name)
    }

    /// The first part of its archives' names, made safe for a file name: visible, on one line, and not an option.
    package var fileStem: String { ArchiveName.fileStem(of: stem) ?? plainStem }
}
