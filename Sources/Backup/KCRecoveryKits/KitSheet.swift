package import KCAgeEncryption
internal import KCByteStreams
package import KCDeviceIdentity
internal import KCKeychainModel
package import KCSecretShares

/// The text of the sheet of a recovery kit, in no particular layout.
///
/// `SheetForm` makes a file of it.
package struct KitSheet {
    /// The kit that the sheet is about.
    let kit: RecoveryKit
    /// The secret on it.
    let content: Content
    /// The device that makes it.
    let device: DeviceKey
    /// The day it is made, as people read it.
    let day: String
    /// The version of the program.
    let version: String
    /// Where the backups of the device lie.
    let places: [String]

    /// Describes a sheet.
    package init(
        _ kit: RecoveryKit, with content: Content, by device: DeviceKey, on day: String, version: String,
        places: [String]
    ) {
        self.kit = kit
        self.content = content
        self.device = device
        self.day = day
        self.version = version
        self.places = places
    }

    /// The secret with which a sheet opens backups.
    package enum Content {
        /// All of the key.
        case key(NativeIdentity)
        /// A part of the key, and how many there are.
        case share(SecretShare, ShareScheme)
    }

    /// A part of a sheet, in lines of at most `width` columns.
    enum Block {
        case title(String)
        case heading(String)
        /// A paragraph.
        case text([String])
        /// Lines that stay as they are: commands, facts.
        case lines([String])
        /// The text to be kept secret, and its code.
        case secret
    }

    /// The beginning of every title.
    static let beginning = "RECOVERY KIT "
    /// The number of columns of the longest line.
    static let width = 78
    // As many as leave the sheet one page.
    private static let placeLimit = 4

    /// All that is on it, from the top.
    var blocks: [Block] {
        switch content {
        case .key: keyBlocks + checking + limits(["copies of this sheet"])
        case .share(let share, let scheme):
            blocks(of: share, scheme) + checking + limits(["copies of this share", "others are with"])
        }
    }

    /// The known facts about the kit.
    var facts: [String] {
        var facts = [
            "made         \(day), by kcbackup \(version)", "by device    \(device.id)",
            "public key   \(kit.recipient.isPostQuantum ? Self.longKey : kit.recipient.description)",
        ]
        if !kit.comment.isEmpty {
            let title = "comment      "
            let rows = Self.folded(
                displayed(kit.comment, limit: RecoveryKit.commentLimit), by: Self.width - 2 - title.utf8.count)
            facts += rows.enumerated().map { index, row in
                (index == 0 ? title : String(repeating: " ", count: title.utf8.count)) + row
            }
        }
        return facts
    }

    // A key of 1,959 characters would fill half a page, and the sheet has its other half.
    private static let longKey = "post-quantum, age1pq1…; 'age-keygen -y key.txt' prints it"

    private var prefix: String { KitText.prefix(kit.keyKind) }

    private var keyBlocks: [Block] {
        let lengths = KitText.lineLengths.map(String.init).joined(separator: ", ")
        return [
            .title("\(Self.beginning)\(kit.fingerprint) FOR BACKUPS OF KCBACKUP"),
            .text([
                "The key on this sheet opens every backup that was made for it, on any machine.",
                "Anyone with the sheet can read these backups. Keep it where the machine and",
                "its backups are not, and a second copy at another place.",
            ]),
            .lines(facts), .heading("THE KEY"), .lines([prefix]), .secret,
            .text([
                "Letters and digits, but no B, I, O and 1. The single character at the end of a",
                "line is not part of the key: it shows in which line a typing mistake is. A",
                "photo of this sheet is a copy of the key.",
            ]),
            .heading("TO RESTORE"),
            .lines([
                "kcbackup restore ARCHIVE -i tty      asks for these lines, one by one",
                "kcbackup recovery check ARCHIVE      tries it without restoring: once a year",
            ]),
            .text([
                "Without kcbackup: put the key into a file 'key.txt' that nobody else can read,",
                "in one line. \(prefix) comes first, then \(lengths) characters,",
                "without numbers, blanks and the single characters. Then",
            ]),
        ] + opening
    }

    /// How a key in a file opens an archive without this program.
    var opening: [Block] {
        let wantedAge = kit.recipient.isPostQuantum ? ["This takes age 1.3 or newer, or age-plugin-pq beside it."] : []
        return [
            .lines([
                "tar -xf ARCHIVE", "age -d -i key.txt metadata.jsonl.gz.age | gzip -dc",
                "age -d -i key.txt secrets.jsonl.gz.age | gzip -dc",
            ]),
            .text(
                wantedAge + [
                    "Each line of both but the first and the last is an item; 'secret' is base64,",
                    "and 'sealed' opens only on its device.",
                ]),
        ]
    }

    private var checking: [Block] {
        [
            .heading("WHO MADE A BACKUP"),
            .text([
                "Anybody can encrypt for this key, so 'restore' asks on another machine whether",
                "the device is yours. Its backups have its signature. Without kcbackup, put the",
                "next two lines, as one line, into a file 'signers':",
            ]),
            .lines(Self.folded(device.allowedSignersLine)),
            .lines([
                "ssh-keygen -Y verify -n kcbackup -f signers -I \(device.id) \\",
                "  -s SHA256SUMS.sig < SHA256SUMS", "sha256sum -c SHA256SUMS",
            ]),
        ]
    }

    /// - Parameter questions: what is to be filled in, besides where backups lie and when the sheet was checked.
    private func limits(_ questions: [String]) -> [Block] {
        let blank = String(repeating: "_", count: 48)
        var rows = places.prefix(Self.placeLimit).flatMap { Self.folded(displayed($0), by: 48) }
        if places.count > Self.placeLimit { rows.append("and \(places.count - Self.placeLimit) more") }
        rows.append(blank)
        let titles = ["backups lie at"] + Array(repeating: "", count: rows.count - 1) + questions + ["last checked"]
        rows += Array(repeating: blank, count: questions.count + 1)
        let table = zip(titles, rows).map { title, row in
            title + String(repeating: " ", count: 23 - title.utf8.count) + row
        }
        return [
            .heading("WHAT THIS KEY DOES NOT OPEN"),
            .text([
                "Items that may only be on one device (ThisDeviceOnly); backups that were made",
                "without this key, such as older ones; unencrypted backups; keychain files.",
            ]),
            .heading("WHERE THINGS ARE"),
            .lines(table),
        ]
    }

    /// Breaks a line at blanks, and within words that are longer than a line.
    ///
    /// A scalar is as wide as it is in a PDF, where one that the font lacks is spelled out: nothing is cut off there.
    private static func folded(_ line: String, by width: Int = KitSheet.width - 2) -> [String] {
        var rows: [String] = []
        var used = 0
        for word in line.exact.split(separator: " ") {
            let size = PDFWriter.encoded(word).count
            if !rows.isEmpty, used + 1 + size <= width {
                rows[rows.count - 1] += " " + word
                used += 1 + size
                continue
            }
            rows.append("")
            used = 0
            for scalar in word.unicodeScalars {
                let size = PDFWriter.encoded(String(scalar)).count
                if used + size > width {
                    rows.append("")
                    used = 0
                }
                rows[rows.count - 1].unicodeScalars.append(scalar)
                used += size
            }
        }
        return rows
    }
}

extension KitSheet {
    /// The lines of the key or the words of the share, each line with a line feed.
    var secretLines: SecretBytes {
        switch content {
        case .key(let identity): KitText.lines(of: identity)
        case .share(let share, _): ShareText.lines(of: share)
        }
    }

    /// The text in the code: an identity for any age, or words as they are typed.
    var codeText: SecretBytes {
        switch content {
        case .key(let identity):
            var text = SecretBytes(capacity: 128)
            identity.encode(into: &text)
            return text
        case .share(let share, _): return ShareText.words(of: share)
        }
    }
}
