package import BackupArchive
package import ByteStreams
package import Cryptography
internal import DeviceIdentity
internal import KeychainModel
package import KeychainKeys

/// The secrets of an unencrypted archive as its keychain stored them, and what opens them here.
///
/// The device that made the archive opens those that need no passcode; the passcode of the archive's time, or a keychain
/// with the same class keys, opens the others. On another device all stay closed.
package final class StoredSecrets {
    /// The keybag, which a keychain may lend its class keys.
    package let keybag: ArchivedKeybag

    /// Reads the keybag in an archive's header; with the key of the device that made the archive it must be genuine too.
    ///
    /// - Throws: `ArchiveFailure` (`damaged`, `limit`, also for a newer keybag, `cryptography`).
    init(_ header: ArchiveHeader, _ keychain: StoredKeychain, device: DeviceKey?) throws(ArchiveFailure) {
        do {
            keybag = try ArchivedKeybag(text: keychain.keybag, of: header.device, deviceKey: device)
        } catch {
            throw Self.failure(error)
        }
    }

    /// True when the passcode of the archive's time would open more than is open.
    package var needsPasscode: Bool { keybag.hasPasscode && !keybag.isOpen }

    /// True when a passcode was set at the archive's time.
    package var hasPasscode: Bool { keybag.hasPasscode }

    /// Opens everything with the passcode of the archive's time.
    ///
    /// - Parameter minimumCost: as in `Keychain.open`.
    /// - Throws: `ArchiveFailure` (`wrongPasscode`, `limit`, `damaged`, `cryptography`).
    package func unlock(
        passcode: borrowing SecretBytes, minimumCost: ScryptCost? = nil
    ) throws(ArchiveFailure) {
        do {
            try keybag.unlock(passcode: passcode, minimumCost: minimumCost)
        } catch {
            throw Self.failure(error)
        }
    }

    /// Checks one of them, and opens it into `secret` where there is a key.
    func open(
        _ item: Item, line: borrowing Span<UInt8>, stored: borrowing SecretBytes, into secret: inout SecretBytes
    ) throws(ArchiveFailure) -> ArchivedKeybag.Finding {
        do {
            return try keybag.open(item, line: line, stored: stored, into: &secret)
        } catch {
            throw Self.failure(error)
        }
    }

    /// What is wrong with an archive's keybag is wrong with the archive.
    private static func failure(_ error: KeybagFailure) -> ArchiveFailure {
        switch error {
        case .wrongPasscode: .wrongPasscode
        case .newerFormat(let found, let known):
            .limit("version of the keybag: \(found) where \(known) is the newest that is known")
        case .damaged(let rule): .damaged(rule: rule)
        case .escrow: .damaged(rule: "the keybag has an escrow record")
        case .otherDevice: .damaged(rule: "the keybag belongs to another device")
        case .limit(let what, let found, let allowed): .limit("\(what): \(found) where \(allowed) is the limit")
        case .cryptography(let failure): .cryptography(failure)
        }
    }
}

extension ProvenArchive {
    /// Reads both streams to their ends; every stored secret is checked on its way, and opened where there is a key.
    ///
    /// - Parameter form: in which form the visitor wants stored secrets.
    /// - Returns: what was found, for `readAgain`.
    /// - Throws: `ArchiveFailure` and what the visitor throws; nothing that it got may be believed then.
    func read<Visitor: RecordVisitor>(_ form: SecretForm, _ visitor: inout Visitor) throws -> ReadStreams {
        guard let stored else { return try opened.readAll(device: device, &visitor) }
        var checking = CheckingVisitor(next: visitor, secrets: stored, form: form)
        defer { visitor = checking.next }
        return try opened.readAll(device: nil, &checking)
    }

    /// Reads both streams once more; what is in them must be what `read` found.
    ///
    /// - Throws: as `read`, and `damaged` when their content has changed.
    func readAgain<Visitor: RecordVisitor>(
        _ first: ReadStreams, _ form: SecretForm, _ visitor: inout Visitor
    ) throws {
        guard let stored else { return try opened.readAgain(first, device: device, &visitor) }
        var checking = CheckingVisitor(next: visitor, secrets: stored, form: form)
        defer { visitor = checking.next }
        try opened.readAgain(first, device: nil, &checking)
    }
}

/// Checks stored secrets, and hands them on in the form that is wanted.
private struct CheckingVisitor<Next: RecordVisitor>: RecordVisitor {
    var next: Next
    let secrets: StoredSecrets
    let form: SecretForm
    private let opened = Opened()

    /// Where secrets are opened; a class, since a visitor is copied.
    private final class Opened {
        var secret = SecretBytes(capacity: 4096)
    }

    init(next: Next, secrets: StoredSecrets, form: SecretForm) {
        self.next = next
        self.secrets = secrets
        self.form = form
    }

    mutating func take(
        _ item: Item, line: borrowing Span<UInt8>, secret: borrowing SecretBytes, state: SecretState
    ) throws {
        switch (try secrets.open(item, line: line, stored: secret, into: &opened.secret), form) {
        case (.malformed, _): throw ArchiveFailure.damaged(rule: "a stored secret does not fit its item")
        case (.broken, _): try next.take(item, line: line, secret: opened.secret, state: .broken)
        case (.closed, .plain): throw ArchiveFailure.passcodeNeeded
        case (.closed, .stored): try next.take(item, line: line, secret: secret, state: .stored)
        case (.opened, .stored): try next.take(item, line: line, secret: secret, state: .storedWhole)
        case (.opened, .plain):
            try next.take(
                item, line: line, secret: opened.secret, state: item.secretSize == nil ? .absent : .open)
        }
    }
}
