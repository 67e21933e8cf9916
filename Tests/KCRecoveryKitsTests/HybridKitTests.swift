import KCAgeEncryption
import KCByteStreams
import KCDeviceIdentity
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCRecoveryKits

@Suite("The key of a post-quantum kit")
struct HybridKitTests {
    private let identity: NativeIdentity

    init() throws {
        identity = try #require(try NativeIdentity.of(SecretBytes(copying: 0..<32), .hybrid))
    }

    private func lines() -> [String] {
        String(decoding: KitText.lines(of: identity).bytesForTest(), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    private func type(_ lines: [String], known: [NativeRecipient] = []) throws -> KitEntry.Reading? {
        var entry = KitEntry()
        for line in lines {
            // A line whose check character does not fit is taken when it is typed again.
            switch entry.take(SecretBytes(copying: Array(line.utf8))) {
            case .taken, .doubtful, .problem(.check): break
            case .problem: return nil
            }
        }
        return entry.nextLine == nil ? try entry.finish(known: known) : nil
    }

    @Test("Its lines are as long as those of any other, and tell its kind, with what precedes them and without")
    func typed() throws {
        #expect(lines().count == 4)
        for beginning in [[], ["AGE-SECRET-KEY-PQ-1"], ["age-secret-key-pq-1"]] {
            guard case .identity(let found) = try type(beginning + lines()) else {
                Issue.record("the lines are right")
                continue
            }
            #expect(found.recipient == identity.recipient && found.kind == .hybrid)
        }
        // Below the beginning of the other kind, they are not a key.
        guard case .nothing = try type(["AGE-SECRET-KEY-1"] + lines()) else {
            Issue.record("the checksum is about the kind too")
            return
        }
    }

    @Test("The whole identity is taken as a scanner reads it")
    func scanned() throws {
        var text = SecretBytes(capacity: 128)
        identity.encode(into: &text)
        guard case .identity(let found) = try type([String(decoding: text.bytesForTest(), as: UTF8.self)]) else {
            Issue.record("the code of the kit is an identity")
            return
        }
        #expect(found.recipient == identity.recipient)
    }

    @Test("A wrong character in a line is found")
    func repaired() throws {
        var lines = lines()
        let wrong = lines[1].last == "Q" ? "P" : "Q"
        lines[1] = lines[1].dropLast() + wrong
        guard case .repaired(let found, let numbers) = try type([lines[0], lines[1], lines[1], lines[2], lines[3]])
        else {
            Issue.record("one line has one mistake")
            return
        }
        #expect(found.recipient == identity.recipient && numbers == [2])
    }

    @Test("Shares give the key of a known kit, and of an unknown one the keys of both kinds")
    func shares() throws {
        let scheme = try #require(ShareScheme("2of3"))
        var shares = KitShares()
        for share in try identity.shares(scheme).prefix(2) { #expect(shares.add(share) == nil) }
        #expect(try shares.identities(known: [identity.recipient]).map(\.recipient) == [identity.recipient])
        let either = try shares.identities(known: [])
        #expect(either.map(\.kind) == [.x25519, .hybrid])
        #expect(either.last?.recipient == identity.recipient)
    }

    @Test("Its sheet says which age it takes, and its public key is not printed in full")
    func sheet() throws {
        let kit = RecoveryKit(identity.recipient, made: .reference, comment: "")
        let sheet = KitSheet(
            kit, with: .key(identity), by: try DeviceKey.generate(), on: "2026-03-01", version: "1", places: [])
        let text = String(
            decoding: try SheetForm.text.file([sheet], hasCode: false).bytesForTest(), as: UTF8.self)
        #expect(text.contains("AGE-SECRET-KEY-PQ-1\n"))
        #expect(text.contains("age 1.3 or newer"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= KitSheet.width })
    }

    @Test("The list of kits has kits of both kinds")
    func list() throws {
        let classic = RecoveryKit(try NativeIdentity.generate(.x25519).recipient, made: .reference, comment: "")
        let kits = [classic, RecoveryKit(identity.recipient, made: .reference, comment: "")]
        #expect(RecoveryKits.kits(RecoveryKits.fields(kits)) == kits)
    }
}
