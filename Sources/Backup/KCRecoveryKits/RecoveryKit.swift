package import KCAgeEncryption
internal import KCByteStreams
internal import KCCryptography
package import KCKeychainModel

/// A sheet of paper with an identity that opens backups; what is known about it without the sheet.
package struct RecoveryKit: Hashable, Sendable {
    /// The longest comment, in bytes of UTF-8, which has to fit a line of the sheet.
    package static let commentLimit = 60

    /// Whether somebody has lately shown that the sheet is there and legible.
    package enum Rehearsal: Hashable, Sendable {
        case never
        /// The last time is more than a year ago.
        case old
        case recent
    }

    /// The public half of its identity.
    package let recipient: NativeRecipient
    package let made: Timestamp
    /// The owner's note about it, such as where it lies; may be empty.
    package let comment: String
    /// How its key is split; nil if it is printed as a whole.
    package let shares: ShareScheme?
    /// When the sheet of a kit with one was last typed in and found right; nil for never.
    var checkedWhole: Timestamp?
    /// When each share, by its number from 1, was last typed in and found right; some only prove nothing about the others.
    private(set) var checkedShares: [Int: Timestamp] = [:]
    /// When backups stopped to be made for it; nil if they are.
    package var retired: Timestamp?
    /// False from before its sheet is written until that is done: a run that was ended between has left a sheet, or none.
    package var isPrinted = true

    /// Describes a new kit.
    package init(_ recipient: NativeRecipient, made: Timestamp, comment: String, shares: ShareScheme? = nil) {
        self.recipient = recipient
        self.made = made
        self.comment = comment
        self.shares = shares
    }

    package var keyKind: NativeIdentity.Kind { recipient.isPostQuantum ? .hybrid : .x25519 }

    /// When all of it was last typed in and found right: of shares, the time of the one that was typed in before all others; nil
    /// for never.
    package var checked: Timestamp? {
        guard let shares else { return checkedWhole }
        return untriedShares.isEmpty ? (1...shares.count).compactMap { checkedShares[$0] }.min() : nil
    }

    /// The numbers of the shares that were never typed in.
    package var untriedShares: [Int] {
        guard let shares else { return [] }
        return (1...shares.count).filter { checkedShares[$0] == nil }
    }

    /// Notes that the kit was found right.
    ///
    /// - Parameter typed: the numbers of the shares that were typed in.
    package mutating func check(at now: Timestamp, shares typed: [Int] = []) {
        isPrinted = true
        guard let shares else {
            checkedWhole = now
            return
        }
        for number in typed where 1...shares.count ~= number { checkedShares[number] = now }
    }

    /// Eight digits that distinguish it from other kits: `3f9a-01bc`, the start of the SHA-256 of its recipient.
    package var fingerprint: String { Self.fingerprint(of: recipient) }

    /// The fingerprint of the kit with a public key.
    package static func fingerprint(of recipient: NativeRecipient) -> String {
        let digits = SHA256.hash(recipient.description.utf8.span).hex.prefix(8)
        return "\(digits.prefix(4))-\(digits.suffix(4))"
    }

    /// Whether it counts as checked; a check in the future, recorded while the clock was fast, does not count.
    package func rehearsal(at now: Timestamp) -> Rehearsal {
        guard let checked else { return .never }
        let (first, last) = (now.advanced(byMicroseconds: -Self.year), now.advanced(byMicroseconds: Self.hour))
        return (first...last).contains(checked) ? .recent : .old
    }

    /// True if the last trial, or the making of a kit without one, was over a year ago or is dated in the future.
    package func isOverdue(at now: Timestamp) -> Bool {
        switch rehearsal(at: now) {
        case .recent: false
        case .old: true
        case .never: made < now.advanced(byMicroseconds: -Self.year) || made > now.advanced(byMicroseconds: Self.hour)
        }
    }

    // A year and a day, in microseconds, so that a check on the same day each year is in time.
    private static let year: Int64 = 366 * 86_400_000_000
    // In microseconds; a clock may be slightly fast.
    private static let hour: Int64 = 3_600_000_000

    /// True if a text can be a comment.
    package static func isComment(_ text: String) -> Bool {
        text.utf8.count <= commentLimit
            && text.unicodeScalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
                default: true
                }
            }
    }
}
