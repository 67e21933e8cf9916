package import ByteStreams
package import KeychainModel

/// A form in which another program keeps items: a file, or a folder of files.
///
/// A format is one folder of `ForeignFormats`, and one line in its list. Reading is all or nothing: a format hands out
/// items only when everything was read, and every check that the format allows was passed.
package protocol ForeignFormat: Sendable {
    /// What `--from` calls it, in lower case with dashes, such as `gnome-keyring`.
    var name: String { get }

    /// What people call it, such as "GNOME keyring file".
    var title: String { get }

    /// True if `input` is of this format, by its content and not by its name.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`; `ForeignFailure.damaged` for what can be nothing else, and is not whole.
    func recognises(_ input: ForeignInput) throws -> Bool

    /// Why an input is not recognised that is of this format by the word of its user, or by its name; nil where there is
    /// nothing to say but that.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    func problem(with input: ForeignInput) throws -> ForeignFailure?

    /// Reads all items.
    ///
    /// - Throws: `ForeignFailure`, `FileFailure`, `StreamFailure`, `CryptographyFailure`, and what `secrets` throws.
    func read(_ input: ForeignInput, _ secrets: any ForeignSecrets) throws -> ForeignContents
}

extension ForeignFormat {
    package func problem(with input: ForeignInput) throws -> ForeignFailure? { nil }
}

/// Provides what opens an encrypted file.
package protocol ForeignSecrets {
    /// Hands the password to `use`, which throws `ForeignFailure.wrongPassword` where it is not the right one; a typed one
    /// may then be typed again.
    ///
    /// - Parameter what: what it opens, in words: "password of the KeePass database".
    /// - Throws: what asking and `use` throw.
    func password(_ what: String, _ use: (borrowing SecretBytes) throws -> Void) throws

    /// The file that opens `input` beside its password, or in its place; nil if none was given.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    func keyFile() throws -> ForeignFile?

    /// What `gpg` makes of a file, by the keys of the user; at most `limit` bytes.
    ///
    /// - Throws: `UnopenedFile` for what is wrong with this file; `ForeignFailure.needsProgram` where no file would open;
    ///   `StreamFailure`.
    func decryptedByGPG(_ path: String, limit: Int) throws -> SecretBytes
}

extension ForeignSecrets {
    /// Whoever gives passwords need not run programs.
    package func decryptedByGPG(_ path: String, limit: Int) throws -> SecretBytes {
        throw ForeignFailure.needsProgram("gpg", problem: "it cannot be started here")
    }
}

/// What a file or folder of another program holds.
package struct ForeignContents {
    /// An item that was not taken, and why.
    package struct Refused: Hashable, Sendable {
        /// What its program calls it; foreign text.
        package let name: String
        package let problem: Problem
    }

    /// Why an item cannot be taken.
    package enum Problem: Hashable, Sendable {
        /// No item can be like this, for example since it is too large.
        case item(ItemProblem)
        /// Another item has its unique key, and nothing tells the two apart.
        case sameKey
        /// It is damaged in its file; the text says what is wrong, and has no foreign text.
        case damaged(String)
    }

    /// The items, in archive order.
    package let items: CollectedItems
    /// What the input is, more exactly than by its format's title; may have foreign text: "keyring 'login', encrypted".
    package let details: String
    /// How many items there are of each kind of part, such as "password" and "note", in the order of first appearance.
    package let parts: [(kind: String, count: Int)]
    /// How much of what has no place in a keychain there was, by kind, such as "password history".
    package let leftOut: [(kind: String, count: Int)]
    /// Items that were not taken although they should be.
    package let refused: [Refused]
    /// How many items were the same as another, secret included, and are taken once.
    package let duplicates: Int
    /// Items that differ from another in nothing but their secret, and got a mark to tell them apart.
    package let marked: [Item]
    /// What the user should know: repaired items, weak encryption; one sentence each, without a full stop.
    package let remarks: [String]
    /// True if the input holds secrets in the clear.
    package let isPlaintext: Bool
}

extension ForeignContents {
    /// True if there are secrets, in the clear.
    package var exposesSecrets: Bool { isPlaintext && (items.count > 0 || !refused.isEmpty) }

    /// Items of one kind, all of which were taken.
    package init(items: CollectedItems, kind: String, isPlaintext: Bool) {
        self.init(
            items: items, details: "", parts: items.count == 0 ? [] : [(kind, items.count)], leftOut: [], refused: [],
            duplicates: 0, marked: [], remarks: [], isPlaintext: isPlaintext)
    }
}

extension ForeignContents: ItemSource {
    /// Visits every item; those that were refused count as items that cannot be read.
    package func visitItems<Visitor: ItemVisitor>(_ visitor: inout Visitor) throws {
        try items.visitItems(&visitor)
        for _ in refused { try visitor.skip(damaged: nil) }
    }
}
