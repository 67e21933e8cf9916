import KCByteStreams
import KCCryptography
import KCTestSupport
import Testing

@testable import KCAgeEncryption

@Suite struct ConformanceTests {
    @Test("Every supported vector has the expected outcome", arguments: ConformanceVector.all.filter(\.isSupported))
    func vector(_ vector: ConformanceVector) throws {
        var identities: [any Identity] = []
        for text in vector.identities {
            identities.append(try #require(try parseIdentity(text)))
        }
        for text in vector.passphrases { identities.append(ScryptIdentity(passphrase: secretText(text))) }
        let file: [UInt8]
        do {
            file = try Self.binary(vector)
        } catch {
            #expect(vector.expectation == "armor failure", "\(error)")
            return
        }
        let result = Decryption(file, with: identities)
        let hash = SHA256.hash(result.released.span).hex
        switch vector.expectation {
        case "success":
            #expect(result.failure == nil)
            #expect(hash == vector.payloadHash)
        case "payload failure":
            #expect(result.failure is StreamFailure)
            #expect(result.released.isEmpty || hash == vector.payloadHash)
        case "HMAC failure":
            #expect(result.failure as? AgeFailure == .headerAuthentication)
            #expect(result.released.isEmpty)
        case "no match":
            #expect(Self.isNoMatch(result.failure))
            #expect(result.released.isEmpty)
        case "header failure":
            let failure = try #require(result.failure as? AgeFailure)
            #expect(!Self.isNoMatch(failure))
            #expect(failure != .headerAuthentication)
            #expect(result.released.isEmpty)
        default:
            Issue.record("unknown expectation")
        }
    }

    /// The binary age file of a vector, with the armor removed.
    private static func binary(_ vector: ConformanceVector) throws(AgeFailure) -> [UInt8] {
        guard vector.isArmored else { return vector.file }
        return try TextArmor.decode(SecretBytes(copying: vector.file)).bytesForTest()
    }

    private static func isNoMatch(_ failure: (any Error)?) -> Bool {
        switch failure as? AgeFailure {
        case .noMatchingIdentity, .wrongPassphrase: true
        default: false
        }
    }

    @Test("A parsed header serializes to the same bytes", arguments: ConformanceVector.all.filter(\.isSupported))
    func malleability(_ vector: ConformanceVector) throws {
        guard let file = try? Self.binary(vector), let header = try? AgeHeader.read(from: ChoppySource(file)) else {
            #expect(["armor failure", "header failure"].contains(vector.expectation))
            return
        }
        #expect(Array(header.text.utf8) == Array(file.prefix(header.length)))
    }

    /// The armored vectors that do not begin with the first line of the armor.
    private static let otherBeginnings: Set = [
        "armor_garbage_leading", "armor_lowercase", "armor_whitespace_begin", "armor_whitespace_outside",
    ]

    @Test(
        "Armor is recognized by its first line and reported where a binary file is required",
        arguments: ConformanceVector.all.filter { $0.isArmored && !Self.otherBeginnings.contains($0.name) })
    func armored(_ vector: ConformanceVector) {
        let isArmored = TextArmor.isArmored(SecretBytes(copying: vector.file))
        #expect(isArmored)
        #expect(Decryption(vector.file, with: []).failure as? AgeFailure == .armored)
    }

    @Test("No vector is skipped")
    func complete() {
        guard ConformanceVector.isDefaultFolder else { return }
        #expect(!ConformanceVector.all.contains { !$0.isSupported })
        #expect(ConformanceVector.all.count { $0.isArmored } == 33)
        #expect(ConformanceVector.all.count { $0.name.contains("hybrid") } == 19)
        #expect(ConformanceVector.all.count == 143)
    }
}
