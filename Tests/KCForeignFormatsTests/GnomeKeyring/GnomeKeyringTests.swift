import KCByteStreams
import KCCryptography
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing a GNOME keyring file")
struct GnomeKeyringTests {
    private func read(_ bytes: [UInt8], password: String? = "correct horse") throws -> ForeignContents {
        try ForeignReading.read(bytes, as: GnomeKeyringFormat(), password: password)
    }

    @Test("Network passwords become internet passwords, notes become secure notes, and attributes are unchanged")
    func mapping() throws {
        let contents = try read(KeyringWriter().file())
        #expect(
            try contents.listing == [
                "genp svce=: ",
                "genp svce=org.gnome.keyring.Note desc=secure note: dear diary",
                "genp svce=web acct=ada: pass\nword\0\u{e9}",
                "inet srvr=files.example.com acct=ada sdmn=WORK: \u{fffd}\0\u{fffd}",
            ])
        let share = try #require(try contents.entries.first { $0.item.itemClass == .internetPassword })
        #expect(share.secret == [0xff, 0, 0x80])
        #expect(share.item.attributes.number(.port) == 445)
        #expect(share.item.attributes.number(.ptcl) == 1_936_548_384)
        #expect(share.item.attributes.text(.path) == "home")
        #expect(share.item.attributes.text(.atyp) == "ntlm")
        #expect(share.item.extraValue("port") == "445")
        #expect(share.item.extraValue("kcbackup:uint32") == "port")
        #expect(share.item.extraValue("kcbackup:type") == "org.gnome.keyring.NetworkPassword")
        #expect(share.item.attributes.date(.cdat)?.seconds == 0x43b7_1c80)
        #expect(share.item.attributes.date(.mdat)?.seconds == 0x43b7_1c81)
        #expect(contents.leftOut.map(\.kind) == ["entry of an access list"])
        #expect(contents.leftOut.map(\.count) == [2])
        #expect(contents.parts.map(\.kind) == ["password", "note"])
        #expect(!contents.isPlaintext)
    }

    @Test("Two items with the same attributes are both imported, and have the same UUIDs when read again")
    func twins() throws {
        var writer = KeyringWriter()
        writer.items = [
            WrittenItem(label: "x", attributes: [("a", "b")], secret: [1]),
            WrittenItem(label: "x", attributes: [("a", "b")], secret: [2]),
            WrittenItem(label: "y", attributes: [("a", "b")], secret: [2]),
        ]
        let contents = try read(writer.file())
        #expect(contents.items.count == 3)
        #expect(contents.refused.isEmpty)
        #expect(try contents.uuids == read(writer.file()).uuids)
        #expect(Set(try contents.uuids).count == 3)
    }

    @Test("An item that is too large is refused by name, and the others are imported")
    func tooLarge() throws {
        var writer = KeyringWriter()
        let many = (0..<300).map { ("attribute \($0)", "x") }
        writer.items.append(
            WrittenItem(label: "large", attributes: [("a", String(repeating: "x", count: 70_000))], secret: []))
        writer.items.append(WrittenItem(label: "many", attributes: many, secret: []))
        let contents = try read(writer.file())
        #expect(contents.items.count == WrittenItem.examples.count)
        #expect(contents.refused.map(\.name) == ["large", "many"])
    }

    @Test("A keyring of an unknown version, or with a number above its limit, is refused with the reason")
    func limits() throws {
        var writer = KeyringWriter()
        let good = try writer.file()
        #expect(throws: ForeignFailure.unknownVariant("version 2.0")) { try read(good.replacing(at: 16, with: 2)) }
        #expect(throws: ForeignFailure.unknownVariant("a cipher or hash other than AES and MD5")) {
            try read(good.replacing(at: 18, with: 1))
        }
        writer.iterations = 0
        #expect(throws: ForeignFailure.damaged("its number of iterations is 0")) { try read(writer.file()) }
        // Name, dates and flags come before the iterations.
        let iterations = 20 + 8 + 24
        #expect(throws: ForeignFailure.limit("iterations", found: 0xff00_0003, allowed: 1_000_000)) {
            try read(good.replacing(at: iterations, with: 0xff))
        }
        let count = iterations + 4 + 8 + 16
        #expect(throws: ForeignFailure.limit("items", found: 0xff00_0004, allowed: 1_000_000)) {
            try read(good.replacing(at: count, with: 0xff))
        }
        #expect(throws: ForeignFailure.damaged("it ends within its last record")) {
            try read(good.replacing(at: count + 2, with: 0xff))
        }
    }

    @Test("A truncated keyring is refused, and one with any bit flipped is refused or yields the original secrets")
    func altered() throws {
        let good = try KeyringWriter().file()
        let secrets = try read(good).secretsByLabel
        for count in 0..<good.count {
            #expect(throws: (any Error).self, "\(count) bytes") { try read(Array(good.prefix(count))) }
        }
        var accepted = 0
        for index in good.indices {
            for mask: UInt8 in [1, 0x80] {
                guard let contents = try? read(good.replacing(at: index, with: good[index] ^ mask)) else { continue }
                accepted += 1
                #expect(try contents.secretsByLabel == secrets, "byte \(index)")
            }
        }
        // The name, the dates, the settings and the item numbers are not authenticated.
        #expect(accepted > 0 && accepted < 200)
    }

    @Test("Malformed content under the right password is read or refused", arguments: 0..<6)
    func hostileContent(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var refused = 0
        for _ in 0..<250 {
            var writer = KeyringWriter()
            let (kind, place, byte) = (random.next() % 4, random.next(), UInt8(truncatingIfNeeded: random.next()))
            writer.alter = { bytes in
                let index = Int(place % UInt64(bytes.count))
                switch kind {
                case 0: bytes[index] = byte
                case 1: bytes.removeSubrange(index..<min(bytes.count, index + Int(byte % 8)))
                case 2: bytes.insert(contentsOf: [byte, byte, 0xff], at: index)
                default: bytes.replaceSubrange(index..<min(bytes.count, index + 4), with: [0xff, 0xff, 0xff, byte])
                }
            }
            do {
                let contents = try read(writer.file())
                #expect(contents.items.count + contents.duplicates + contents.refused.count == 4)
            } catch {
                #expect(error is ForeignFailure)
                refused += 1
            }
        }
        #expect(refused > 50)
    }

    @Test("An attribute that differs from the plaintext index, or a hash in place of one, is damage")
    func index() throws {
        var writer = KeyringWriter()
        writer.items = [WrittenItem(label: "x", attributes: [("name", "value")], secret: [1])]
        let good = try writer.file()
        let place = try #require(good.firstRange(of: Array("name".utf8)))
        #expect(throws: ForeignFailure.damaged("its unencrypted part contradicts its encrypted part")) {
            try read(good.replacing(at: place.lowerBound, with: 0x4e))
        }
        writer.items[0].attributes[0].name = "gkr:compat:hashed:name"
        #expect(throws: ForeignFailure.damaged("an item has hashes instead of attributes")) {
            try read(writer.file())
        }
    }
}

@Suite("Importing a GNOME keyring in plain text")
struct PlainKeyringTests {
    static let text = """

        [keyring]
        display-name=Plain
        ctime=0
        mtime=0

        [2]
        item-type=0
        display-name=Two\\nlines
        secret=one
        [3]
        secret=three
        mtime=5
        ctime=6

        mtime=1198027852
        ctime=1198027853

        [2:attribute0]
        name=num
        type=uint32
        value=3

        [7]
        item-type=2
        binary-secret=00fF
        mtime=1198027852
        ctime=0

        [7:acl0]
        display-name=program
        path=/bin/program

        """

    private func read(_ text: String) throws -> ForeignContents {
        try ForeignReading.read(text, as: GnomeKeyringFormat())
    }

    @Test("Escapes, numbers and bytes are decoded, and a secret extends to the dates after it")
    func values() throws {
        let contents = try read(
            Self.text.replacing("[3]\nsecret=three\nmtime=5\nctime=6\n", with: "x=y\nmtime=5\nctime=6"))
        let entries = try contents.entries
        let first = try #require(entries.first { $0.item.attributes.text(.labl) == "Two\nlines" })
        #expect(first.secret == Array("one\nx=y\nmtime=5\nctime=6".utf8))
        #expect(first.item.extraValue("num") == "3")
        #expect(first.item.attributes.date(.cdat)?.seconds == 1_198_027_853)
        let second = try #require(entries.first { $0.item.attributes.text(.desc) == "secure note" })
        #expect(second.secret == [0, 0xff])
        #expect(contents.leftOut.map(\.kind) == ["entry of an access list"])
    }

    @Test("A secret that looks like another item makes both ambiguous, and neither is imported")
    func ambiguous() throws {
        let text = Self.text.replacing("[3]\nsecret", with: "\n[3]\nitem-type=0\nsecret")
        let contents = try read(text)
        #expect(try contents.entries.map(\.secret) == [[0, 0xff]])
        #expect(contents.refused.count == 2)
    }

    @Test("A line of a secret may look like a group", arguments: ["[2]", "[3]", "[7:acl0]", "[x", "\n[2]", "mtime=1"])
    func linesLikeGroups(line: String) throws {
        let secret = "one\n\(line)\nthree"
        let text = Self.text.replacing("one\n[3]\nsecret=three\nmtime=5\nctime=6\n", with: secret)
        let entries = try read(text).entries
        #expect(entries.contains { $0.secret == Array(secret.utf8) } && entries.count == 2)
    }

    @Test("The end of a secret is not searched for again and again", .timeLimit(.minutes(10)))
    func manyGroups() throws {
        let groups = (0..<30_000).map { "[g\($0)]\nitem-type=0\nsecret=x\n\n" }.joined()
        let text = "[keyring]\ndisplay-name=P\n\n" + groups
        #expect(throws: ForeignFailure.damagedLine(4, "an item has no date")) { try read(text) }
    }

    @Test("Items with the same attributes are numbered as in the running daemon, whatever their order in the file")
    func numbers() throws {
        let groups = ["3", "10", "2"].map { number in
            "[\(number)]\ndisplay-name=x\nsecret=\(number)\nmtime=1\n"
                + "[\(number):attribute0]\nname=a\ntype=string\nvalue=b\n"
        }
        let entries = try read("[keyring]\ndisplay-name=Plain\n" + groups.joined()).entries
        #expect(entries.map(\.item.uuid.ordinal) == [0, 1, 2])
        #expect(entries.map { $0.secret ?? [] } == ["2", "3", "10"].map { Array($0.utf8) })
    }

    @Test("A handwritten file, whose order is not the daemon's, is read line by line")
    func byHand() throws {
        let contents = try read(
            "# mine\n[keyring]\n\n[one]\nsecret = a\\sb\nmtime=1\n[two]\nmtime=1\nsecret=c\ndisplay-name=x\n")
        #expect(Set(try contents.secretsByLabel.values) == [Array("a b".utf8), Array("c".utf8)])
        #expect(contents.remarks.count == 1, "a secret was changed by reading it, and nobody is told")
    }

    @Test("A file truncated within an item is refused, and one truncated after it yields its secret")
    func cut() throws {
        let text = Array(Self.text.replacing("[3]\nsecret=three\nmtime=5\nctime=6\n", with: "x=y\nthree\n").utf8)
        let secrets = try ForeignReading.read(text, as: GnomeKeyringFormat()).secretsByLabel
        #expect(secrets.count == 2)
        var (refused, found) = (0, 0)
        for count in 0..<text.count {
            do {
                let contents = try ForeignReading.read(Array(text.prefix(count)), as: GnomeKeyringFormat())
                for (label, secret) in try contents.secretsByLabel {
                    #expect(secrets[label] == secret, "\(count) bytes")
                    found += 1
                }
            } catch is ForeignFailure {
                refused += 1
            }
        }
        #expect(refused > 0 && found > 0, "\(refused) \(found)")
    }

    @Test(
        "A line that the daemon never writes is refused with its number",
        arguments: [
            ("[keyring]\n[1]\nmtime=1\nsecret\n", 4), ("[keyring]\n[1]\nmtime=1\nmtime=2\n", 4),
            ("[keyring]\n[1]\nmtime=1\n[1]\n", 4), ("[keyring]\n[1]\nmtime=x\n", 3), ("[keyring]\n[1]\nwhat=1\n", 3),
            ("[keyring]\n[1:attribute0]\nname=a\n", 2), ("[keyring]\n[1]\nmtime=1\nbinary-secret=123\n", 4),
            ("[keyring]\n[1]\nmtime=1\nbinary-secret=zz\n", 4), ("[keyring]\n[1\n", 2),
            ("[keyring]\n[1:x]\n[1]\nmtime=1\n", 2),
        ])
    func broken(text: String, line: Int) throws {
        let failure = #expect(throws: ForeignFailure.self) { try read(text) }
        guard case .damagedLine(line, _) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("Altered bytes lead to a failure or to items", arguments: 0..<4)
    func fuzz(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let text = Array(Self.text.utf8)
        for _ in 0..<500 {
            var bytes = text
            for _ in 0...random.next() % 3 {
                let index = Int(random.next() % UInt64(bytes.count))
                let interesting = Array("[]=\n:\\#0 \u{ff}".utf8)
                bytes[index] = interesting[Int(random.next() % UInt64(interesting.count))]
            }
            do { _ = try ForeignReading.read(bytes, as: GnomeKeyringFormat()) } catch {
                #expect(error is ForeignFailure)
            }
        }
    }
}

@Suite("Importing a libsecret keyring")
struct LibsecretKeyringTests {
    private func read(_ bytes: [UInt8]) throws -> ForeignContents {
        try ForeignReading.read(bytes, as: GnomeKeyringFormat(), password: "test", name: "default.keyring")
    }

    /// Reduces the rounds, so that the file can be read thousands of times; its items no longer open.
    private func quick(_ file: [UInt8]) -> [UInt8] {
        Array(file[..<54]) + [1, 0, 0, 0] + file[58...]
    }

    @Test("A truncated file is refused, and one with any bit flipped is refused or yields the original secrets")
    func altered() throws {
        let good = try ForeignReading.fixture("oo7/default.keyring")
        let secrets = try read(good).secretsByLabel
        // Key derivation is slow, so only every third byte of the original file is altered.
        var (refused, found) = (0, 0)
        for index in stride(from: 18, to: good.count, by: 3) {
            do {
                let contents = try read(good.replacing(at: index, with: good[index] ^ 0x10))
                for (label, secret) in try contents.secretsByLabel {
                    #expect(secrets[label] == secret, "byte \(index)")
                    found += 1
                }
            } catch is ForeignFailure {
                refused += 1
            }
        }
        #expect(refused > 0 && found > 0, "\(refused) \(found)")
        let quick = quick(good)
        #expect(throws: ForeignFailure.wrongPasswordOrDamaged) { try read(quick) }
        for count in 0..<quick.count {
            #expect(throws: (any Error).self, "\(count) bytes") { try read(Array(quick.prefix(count))) }
        }
    }

    @Test("A file whose fields end where its structure says that it ended before is refused")
    func overlappingFields() throws {
        let head = Array("GnomeKeyring\n\r\0\n\u{1}\0".utf8) + [32, 0, 0, 0] + [UInt8](repeating: 0, count: 32)
        let rounds: [UInt8] = [0xa0, 0x86, 1, 0]
        #expect(throws: ForeignFailure.self) {
            try read(head + rounds + [UInt8](repeating: 0, count: 8) + [0, 0, 0, 0x24])
        }
    }

    @Test("A number of rounds above the limit is refused before any derivation")
    func limit() throws {
        let good = try ForeignReading.fixture("oo7/default.keyring")
        #expect(throws: ForeignFailure.limit("iterations", found: 0xff01_86a0, allowed: 10_000_000)) {
            try read(good.replacing(at: 57, with: 0xff))
        }
    }

    @Test("Altered structure leads to a failure or to items", arguments: 0..<4)
    func fuzz(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let quick = quick(try ForeignReading.fixture("oo7/default.keyring"))
        for _ in 0..<500 {
            var bytes = quick
            for _ in 0...random.next() % 3 {
                let index = 18 + Int(random.next() % UInt64(bytes.count - 18))
                if (54..<58).contains(index) { continue }
                bytes[index] = UInt8(truncatingIfNeeded: random.next())
            }
            do { _ = try read(bytes) } catch { #expect(error is ForeignFailure) }
        }
    }
}
