package import KCAgeEncryption
package import KCByteStreams
package import KCKeychainModel

/// A form in which another program keeps items: a file, or a folder of files.
///
/// Each format has its own folder in `KCForeignFormats` and one line in its list. Reading is all or nothing: a format
/// returns items only after everything was read and has passed every check that the format allows.
package protocol ForeignFormat: Sendable {
    var kind: ForeignKind { get }

    /// True if `input` is of this format, judging by its content and not by its name.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`; `ForeignFailure.damaged` for a damaged input that can only be of this
    ///   format.
    func recognises(_ input: ForeignInput) throws -> Bool

    /// Why an input is not recognized although the user or its name says that it is of this format.
    ///
    /// - Returns: nil if there is nothing to add.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    func problem(with input: ForeignInput) throws -> ForeignFailure?

    /// Reads all items.
    ///
    /// - Throws: `ForeignFailure`, `ItemLines.Failure`, `AgeFailure`, `FileFailure`, `StreamFailure`,
    ///   `CryptographyFailure`, and what `secrets` throws.
    func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents
}

extension ForeignFormat {
    package var name: String { kind.name }

    package var title: String { kind.title }

    package func problem(with input: ForeignInput) throws -> ForeignFailure? { nil }
}

/// Provides passwords and keys for encrypted files.
package protocol ForeignSecrets {
    /// Passes the password to `use`, which throws `ForeignFailure.wrongPassword` if it is wrong.
    ///
    /// If the user typed the password, it may then be asked for again.
    ///
    /// - Throws: whatever asking for the password and `use` throw.
    func password(_ what: ForeignPassword, _ use: (borrowing SecretBytes) throws -> Void) throws

    /// True if the user has named where the password comes from, so that there is one.
    var isPasswordGiven: Bool { get }

    /// The key file that opens `input`, with a password or without one; nil if none was given.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    func keyFile() throws -> ForeignFile?

    /// The key file with its place, for a key file that is itself a file of another program; nil if none was given.
    ///
    /// - Throws: as `keyFile`.
    func keyInput() throws -> ForeignInput?

    /// The host that runs the plugins of age that hold keys of the user; nil if there are none.
    var agePlugins: (any PluginHost)? { get }

    /// Passes the secrets of such items of the desktop keyring to `use`; none if there is no keyring, or if it is locked.
    ///
    /// - Throws: what reading the keyring and `use` throw.
    func keyringSecrets(_ wanted: KeyringItems, _ use: (borrowing SecretBytes) throws -> Void) throws

    /// The content of a file, decrypted by `gpg` with the keys of the user; at most `limit` bytes.
    ///
    /// - Parameter count: the number of bytes before the message in the file.
    /// - Throws: `UnopenedFile` for a problem with this file; `ForeignFailure.needsProgram` if no file could be opened;
    ///   `StreamFailure`.
    func decryptedByGPG(_ path: String, skipping count: Int, limit: Int) throws -> SecretBytes

    /// The texts of the QR codes in a picture, one a line, read by `zbarimg`; at most `limit` bytes.
    ///
    /// - Throws: `ForeignFailure` (`needsProgram`, `damaged` for a picture without codes, `limit`), `StreamFailure`.
    func textOfQRCodes(in path: String, limit: Int) throws -> SecretBytes
}

extension ForeignSecrets {
    package var isPasswordGiven: Bool { true }

    /// The default for implementations whose key file has no place.
    package func keyInput() throws -> ForeignInput? {
        try keyFile().map { ForeignInput(path: InputFile.standardInputName, .file($0)) }
    }

    /// The default for implementations that run no plugins.
    package var agePlugins: (any PluginHost)? { nil }

    /// The default for implementations without a desktop.
    package func keyringSecrets(_ wanted: KeyringItems, _ use: (borrowing SecretBytes) throws -> Void) {}

    /// The default for implementations that do not run programs.
    package func decryptedByGPG(_ path: String, skipping count: Int, limit: Int) throws -> SecretBytes {
        throw ForeignFailure.needsProgram("gpg", problem: "it cannot be started")
    }

    /// The default for implementations that do not run programs.
    package func textOfQRCodes(in path: String, limit: Int) throws -> SecretBytes {
        throw ForeignFailure.needsProgram("zbarimg", problem: "it cannot be started")
    }
}

/// The contents of a file or folder of another program.
package struct ForeignContents {
    /// An item that was not imported, and why.
    package struct Refused: Hashable, Sendable {
        /// The item's name in its program; foreign text.
        package let name: String
        /// The kind of the item as `RecordPlace.kind` has it; `record` for a whole record, and if it is not known.
        package let kind: String
        package let problem: Problem

        /// The kind of what is a whole record.
        package static let wholeRecord = "record"

        package init(name: String, kind: String = wholeRecord, problem: Problem) {
            self.name = name
            self.kind = kind
            self.problem = problem
        }
    }

    /// Why an item cannot be imported.
    package enum Problem: Hashable, Sendable {
        /// The item violates a rule for items; for example, it is too large.
        case item(ItemProblem)
        /// Another item has the same unique key, and nothing distinguishes the two.
        case sameKey
        /// The item is damaged in its file; the text says what is wrong and contains no foreign text.
        case damaged(String)
        /// The item is imported as text, since what it should be cannot be read; the text says why.
        case kept(String)

        /// True if the item is imported nevertheless.
        package var isKept: Bool { if case .kept = self { true } else { false } }
    }

    /// The items, in archive order.
    package let items: CollectedItems
    /// A more exact description than the format's title; may contain foreign text: "keyring 'login', encrypted".
    package let details: String
    /// The number of items per kind of part, such as "password" and "note", in order of first appearance.
    package let parts: [(kind: String, count: Int)]
    /// The number of things that have no place in a keychain, by kind, such as "password history".
    package let leftOut: [(kind: String, count: Int)]
    /// Items that should have been imported but were not.
    package let refused: [Refused]
    /// Items that the rules leave behind, with their names in the other program, which are foreign text.
    package let staying: [(name: String, reason: Passage.Reason)]
    /// The number of items that equal another one, including the secret, and are imported only once.
    package let duplicates: Int
    /// Items that differ from another only in their secret, and were marked to distinguish them.
    package let marked: [Item]
    /// The remarks for the user: repaired items, weak encryption; one sentence each, without a period.
    package let remarks: [String]
    /// True if the input holds secrets in the clear.
    package let isPlaintext: Bool

    /// Creates contents with all that is known of them.
    package init(
        items: CollectedItems, details: String, parts: [(kind: String, count: Int)],
        leftOut: [(kind: String, count: Int)], refused: [Refused], staying: [(name: String, reason: Passage.Reason)],
        duplicates: Int, marked: [Item], remarks: [String], isPlaintext: Bool
    ) {
        self.items = items
        self.details = details
        self.parts = parts
        self.leftOut = leftOut
        self.refused = refused
        self.staying = staying
        self.duplicates = duplicates
        self.marked = marked
        self.remarks = remarks
        self.isPlaintext = isPlaintext
    }
}

extension ForeignContents {
    /// True if there are secrets and they are in the clear.
    package var exposesSecrets: Bool { isPlaintext && (items.count > 0 || !refused.isEmpty) }

    /// Creates contents of one kind of item, all of which were imported.
    package init(items: CollectedItems, kind: String, isPlaintext: Bool) {
        self.init(
            items: items, details: "", parts: items.count == 0 ? [] : [(kind, items.count)], leftOut: [], refused: [],
            staying: [], duplicates: 0, marked: [], remarks: [], isPlaintext: isPlaintext)
    }
}

extension ForeignContents: ItemSource {
    /// Visits every item; refused items are reported as unreadable.
    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        try items.visitItems(&visitor)
        for _ in refused { try visitor.skip(damaged: nil) }
    }
}
