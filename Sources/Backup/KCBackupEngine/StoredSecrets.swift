package import KCBackupArchive
package import KCByteStreams
package import KCCryptography
internal import KCDeviceIdentity
package import KCKeychainKeys
internal import KCKeychainModel

/// The secrets of an unencrypted archive, as its keychain stored them, and the keys that open them.
///
/// The device that made the archive opens secrets that need no passcode. The others open with the passcode that was set
/// when the archive was made, or with a keychain that has the same class keys. On another device, none of them open.
package final class StoredSecrets {
    /// The keybag, to which a keychain may lend its class keys.
    package let keybag: ArchivedKeybag

    /// Parses the keybag in an archive's header, and authenticates it if the key of the device that made the archive is
    /// given.
    ///
    /// - Throws: `ArchiveFailure` (`damaged`, `limit` (also for a newer keybag version), `cryptography`).
    init(_ header: ArchiveHeader, _ keychain: StoredKeychain, device: DeviceKey?) throws(ArchiveFailure) {
        keybag = try failing(
            as: Self.failure, ArchivedKeybag(text: keychain.keybag, of: header.device, deviceKey: device))
    }

    /// True if the secrets of all items without a constraint are open.
    package var opensUnconstrained: Bool { keybag.isOpen }

    /// True if those of items with a constraint are open, too.
    package var opensConstrained: Bool { keybag.isOpen && keybag.opensConstrained }

    /// True if the secret of an item is open, or if it has none.
    func opens(_ item: Item) -> Bool { item.secretSize == nil || keybag.opens(item.protection) }

    /// True if a passcode was set when the archive was made.
    package var hasPasscode: Bool { keybag.hasPasscode }

    /// Opens all secrets with the passcode that was set when the archive was made.
    ///
    /// - Parameter minimumCost: as in `Keychain.open`.
    package func unlock(
        passcode: borrowing SecretBytes, minimumCost: ScryptCost? = nil
    ) throws(ArchiveFailure) {
        try failing(as: Self.failure, keybag.unlock(passcode: passcode, minimumCost: minimumCost))
    }

    /// Checks one stored secret, and opens it into `secret` if a key is available.
    func open(
        _ item: Item, line: borrowing Span<UInt8>, stored: borrowing SecretBytes, into secret: inout SecretBytes
    ) throws(ArchiveFailure) -> ArchivedKeybag.Finding {
        try failing(as: Self.failure, keybag.open(item, line: line, stored: stored, into: &secret))
    }

    /// Reports a failure of the keybag as a failure of the archive.
    private static func failure(_ error: KeybagFailure) -> ArchiveFailure {
        switch error {
        case .wrongPasscode: .wrongPasscode
        case .newerFormat(let found, let known):
            .limit("version of the keybag: \(found) where \(known) is the newest that is known")
        case .damaged(let rule): .damaged(rule: rule)
        case .escrow: .damaged(rule: "the keybag has an escrow record")
        case .token: .damaged(rule: "the keybag has token records")
        case .otherDevice: .damaged(rule: "the keybag belongs to another device")
        case .limit(let what, let found, let allowed): .limit("\(what): \(found) where \(allowed) is the limit")
        case .cryptography(let failure): .cryptography(failure)
        }
    }
}

extension ProvenArchive {
    /// Reads both streams to the end, checking every stored secret and opening it if a key is available.
    ///
    /// - Parameters:
    ///   - form: the form in which the visitor wants stored secrets.
    ///   - needed: the items whose secrets must be known; those of others may stay closed. Nil for all.
    /// - Returns: what was found, for `readAgain`.
    /// - Throws: `ArchiveFailure` and what the visitor throws; nothing that the visitor received may be trusted then.
    func read<Visitor: RecordVisitor>(
        _ form: SecretForm, of needed: SelectedSecrets? = nil, _ visitor: inout Visitor
    ) throws -> ReadStreams {
        guard let stored else { return try opened.readAll(device: device, &visitor) }
        var checking = CheckingVisitor(next: visitor, secrets: stored, form: form, needed: needed)
        defer { visitor = checking.next }
        return try opened.readAll(device: nil, &checking)
    }

    /// Reads both streams again and requires the contents that `read` found.
    ///
    /// - Throws: as `read`, and `damaged` if the contents have changed.
    func readAgain<Visitor: RecordVisitor>(
        _ first: ReadStreams, _ form: SecretForm, of needed: SelectedSecrets, _ visitor: inout Visitor
    ) throws {
        guard let stored else { return try opened.readAgain(first, device: device, &visitor) }
        var checking = CheckingVisitor(next: visitor, secrets: stored, form: form, needed: needed)
        defer { visitor = checking.next }
        try opened.readAgain(first, device: nil, &checking)
    }
}

/// Checks stored secrets and passes them on in the requested form.
private struct CheckingVisitor<Next: RecordVisitor>: RecordVisitor {
    var next: Next
    let secrets: StoredSecrets
    let form: SecretForm
    let needed: SelectedSecrets?
    private let opened = Opened()

    /// The buffer for opened secrets; a class, because visitors are copied.
    private final class Opened {
        var secret = SecretBytes(capacity: 4096)
    }

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        switch (try secrets.open(item, line: line, stored: secret, into: &opened.secret), form) {
        case (.malformed, _): throw ArchiveFailure.damaged(rule: "a stored secret does not fit its item")
        case (.broken, _): try next.take(item, line: line, secret: opened.secret, state: .broken)
        case (.closed, .plain):
            guard needed?.contains(item) == false else { throw ArchiveFailure.passcodeNeeded }
            try next.take(item, line: line, secret: opened.secret, state: .notRead)
        case (.closed, .stored): try next.take(item, line: line, secret: secret, state: .stored)
        case (.opened, .stored): try next.take(item, line: line, secret: secret, state: .storedWhole)
        case (.opened, .plain):
            try next.take(
                item, line: line, secret: opened.secret, state: item.secretSize == nil ? .absent : .open)
        }
    }
}
