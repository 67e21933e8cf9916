import KCByteStreams
import KCItemSources
import KCKeychainModel
import KCTestSupport
import Testing

@testable import KCForeignFormats

@Suite("Importing a Password Safe database")
struct PasswordSafeTests {
    static let fixture = "PasswordSafe/loxodo.psafe3"

    private func read(_ bytes: [UInt8], password: String = "pw one") throws -> ForeignContents {
        try ForeignReading.read(bytes, as: PasswordSafeFormat(), password: password)
    }

    @Test("Records with all kinds of fields are read; an alias has the password of the record that it names")
    func genuine() throws {
        let bytes = try ForeignReading.fixture(Self.fixture)
        #expect(try KnownFormats.recognise(ForeignReading.input(bytes)).name == "password-safe")
        let contents = try read(bytes)
        #expect(contents.refused == [])
        #expect(
            try contents.listing
                == [
                    "genp svce=alias acct=bob: p\u{e4}ss 🔑",
                    "genp svce=code acct=Credit Card Number (ada) desc=field: 4111",
                    "genp svce=code acct=ada: q", "genp svce=code acct=field 224 (ada) desc=attachment: news",
                    "genp svce=code acct=one-time password (ada) desc=one-time password: otpauth://totp/code:ada?secret=JBSWY3DPEHPK3PXP&issuer=code",
                    "genp svce=door: 1234", "genp svce=mail acct=note (ada) desc=secure note: two\nlines",
                    "inet srvr=mail.example acct=ada: p\u{e4}ss 🔑",
                ].sorted())
        #expect(
            contents.leftOut.map { "\($0.count) \($0.kind)" }
                == ["1 list of earlier passwords", "1 date of last use"])
        #expect(contents.remarks.count == 1)
        let login = try #require(try contents.entries.first { $0.item.itemClass == .internetPassword }?.item)
        #expect(login.extraValue("source.folder") == "Work.mail" && login.extraValue("url.1") != nil)
        #expect(login.created.seconds == 1_700_000_000 && login.modified.seconds == 1_700_000_001)
        #expect(throws: ForeignFailure.wrongPassword) { try read(bytes, password: "pw two") }
    }

    @Test("A truncated database is refused, and so is one whose end, rounds or code was changed")
    func damaged() throws {
        let bytes = try ForeignReading.fixture(Self.fixture)
        for count in stride(from: 0, to: bytes.count, by: 5) {
            #expect(throws: ForeignFailure.self, "\(count)") { try read(Array(bytes.prefix(count))) }
        }
        var changed = bytes
        changed.replaceSubrange(36..<40, with: [0, 0, 0, 2])
        #expect(throws: ForeignFailure.limit("rounds", found: 1 << 25, allowed: 1 << 24)) { try read(changed) }
        changed.replaceSubrange(36..<40, with: [0, 0, 0, 0])
        #expect(throws: ForeignFailure.damaged("its number of rounds is missing")) { try read(changed) }
        #expect(throws: ForeignFailure.damaged("its end is not marked")) {
            try read(bytes.replacing(at: bytes.count - 33, with: 0))
        }
        #expect(throws: ForeignFailure.damaged("its contents do not match their code")) {
            try read(bytes.replacing(at: bytes.count - 1, with: bytes[bytes.count - 1] ^ 1))
        }
    }

    @Test("An altered byte of the encrypted part is refused, or changes neither a secret nor the number of items")
    func altered() throws {
        let bytes = try ForeignReading.fixture(Self.fixture)
        let right = try read(bytes)
        let secrets = Set(try right.entries.map { $0.secret ?? [] })
        var accepted = 0
        let indices = stride(from: 152, to: bytes.count - 48, by: ModelRun.isWhole ? 1 : 24)
        for index in indices {
            do {
                let contents = try read(bytes.replacing(at: index, with: bytes[index] ^ 0x10))
                accepted += 1
                // Only padding and the types of fields are not authenticated.
                #expect(Set(try contents.entries.map { $0.secret ?? [] }).isSubset(of: secrets), "\(index)")
            } catch is ForeignFailure {
                // Refused.
            }
        }
        #expect(accepted < Array(indices).count / 4)
    }
}
