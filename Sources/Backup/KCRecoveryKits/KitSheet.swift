package import KCAgeEncryption
package import KCByteStreams
package import KCDeviceIdentity
internal import KCKeychainModel

/// The sheet of a recovery kit as text of at most 78 columns, for a printer or a typewriter.
package struct KitSheet {
    /// What the sheet is about.
    package let kit: RecoveryKit
    /// The device that makes it.
    package let device: DeviceKey
    /// The day it is made, as people read it.
    package let day: String
    /// The version of the program.
    package let version: String

    /// Describes a sheet.
    package init(_ kit: RecoveryKit, by device: DeviceKey, on day: String, version: String) {
        self.kit = kit
        self.device = device
        self.day = day
        self.version = version
    }

    /// The text of the sheet with the identity in it.
    package func text(_ identity: X25519Identity) -> SecretBytes {
        var text = SecretBytes(capacity: 8_192)
        text.append(top.utf8.span)
        KitText.lines(of: identity).withBytes { text.append($0) }
        text.append(bottom.utf8.span)
        return text
    }

    private var top: String {
        """
        RECOVERY KIT \(kit.fingerprint) FOR BACKUPS OF KCBACKUP

        The key on this sheet opens every backup that was made for it, on any machine.
        Whoever has the sheet can read these backups. Keep it where the machine and
        its backups are not, and a second copy at another place.

          made         \(day), by kcbackup \(version)
          by device    \(device.id)
          public key   \(kit.recipient)
        \(kit.comment.isEmpty ? "" : "  comment      \(displayed(kit.comment, limit: RecoveryKit.commentLimit))\n")
        THE KEY

          \(KitText.prefix)

        """
    }

    private var bottom: String {
        let lengths = KitText.lineLengths.map(String.init).joined(separator: ", ")
        return """

            Letters and digits, but no B, I, O and 1. The single character at the end of a
            line is not part of the key: it shows in which line a typing mistake is.

            TO RESTORE

              kcbackup restore ARCHIVE -i tty
                                asks for these lines, one after the other
              kcbackup recovery check ARCHIVE
                                tries it without restoring: do this once a year

            Without kcbackup: put the key into a file 'key.txt' that nobody else can read,
            in one line. \(KitText.prefix) comes first, then \(lengths) characters,
            without numbers, blanks and the single characters. Then

              tar -xf ARCHIVE
              age -d -i key.txt metadata.jsonl.gz.age | gzip -dc
              age -d -i key.txt secrets.jsonl.gz.age | gzip -dc

            Each line of both but the first and the last is an item; 'secret' is base64,
            and 'sealed' opens only on its device.

            WHO MADE A BACKUP

            Anybody can encrypt for this key, so 'restore' asks on another machine whether
            the device is yours. Its backups have its signature. Without kcbackup, put the
            next two lines, as one line, into a file 'signers':

            \(Self.folded(device.allowedSignersLine))

              ssh-keygen -Y verify -n kcbackup -f signers -I \(device.id) \\
                -s SHA256SUMS.sig < SHA256SUMS
              sha256sum -c SHA256SUMS

            WHAT THIS KEY DOES NOT OPEN

            Items that may only be on one device (ThisDeviceOnly); backups that were made
            without this key, such as older ones; unencrypted backups; keychain files.

            TO FILL IN BY HAND

              backups lie at         ________________________________________________

              copies of this sheet   ________________________________________________

              last checked           ________________________________________________

            """
    }

    /// Breaks a line with words that are longer than a line of the sheet.
    private static func folded(_ line: String) -> String {
        var rows: [[UInt8]] = []
        for word in line.utf8.split(separator: UInt8(ascii: " ")) {
            if let last = rows.last, last.count + 1 + word.count <= width {
                rows[rows.count - 1] += [UInt8(ascii: " ")] + Array(word)
            } else {
                rows.append(Array(word))
            }
        }
        return rows.map { "  " + String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }

    // In columns, without the indentation.
    private static let width = 76
}
