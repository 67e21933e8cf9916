import KCByteStreams
import KCCryptography
import Testing

@testable import KCSecurityTokens
@testable import KCTestSupport

@Suite("Security tokens, by libfido2 with a token in software")
struct SecurityTokenTests {
    private let token = SoftwareToken()
    private static let salt = [UInt8](repeating: 5, count: 32)

    private struct Unasked: Error {}

    private var tokens: SecurityTokens { SecurityTokens(.transports([token]), patience: 50) }

    private func enrol(_ presence: TokenPresence = .touch, pin: String? = nil) throws -> TokenCredential {
        try tokens.enrol(try #require(tokens.connected().first), presence) { _ in try Self.typed(pin) }
    }

    private func secret(
        of credential: TokenCredential, salt: [UInt8] = salt, pin: String? = nil, on others: SecurityTokens? = nil
    ) throws -> [UInt8] {
        try (others ?? tokens).secret(of: credential, salt: salt) { _ in try Self.typed(pin) }.bytesForTest()
    }

    private static func typed(_ pin: String?) throws -> SecretBytes {
        guard let pin else { throw Unasked() }
        return SecretBytes(copying: pin.utf8)
    }

    // MARK: - Secrets

    @Test("The secret is HMAC-SHA-256 of the salt: the same for the same salt, and another for another")
    func secrets() throws {
        let credential = try enrol()
        #expect(credential.presence == .touch && credential.id.count == 48)
        let first = try secret(of: credential)
        #expect(try secret(of: credential) == first)
        let own = try #require(token.secrets[credential.id])
        #expect(first == hmac(own.touched, Self.salt))
        #expect(credential.publicKey == own.key.point)
        let other = [UInt8](repeating: 6, count: 32)
        #expect(try secret(of: credential, salt: other) == hmac(own.touched, other))
        #expect(try secret(of: enrol()) != first)
    }

    @Test("Each secret takes one touch, and a token that has not made the credential is not touched")
    func touches() throws {
        let credential = try enrol()
        #expect(token.touches == 1)
        let other = SoftwareToken()
        let both = SecurityTokens(.transports([other, token]), patience: 50)
        #expect(try secret(of: credential, on: both) == secret(of: credential))
        #expect(token.touches == 3 && other.touches == 0)
    }

    @Test("Which credential a connected token has made is found without a touch")
    func held() throws {
        let (first, second) = (try enrol(), try enrol())
        let other = SoftwareToken()
        let foreign = try SecurityTokens(.transports([other]), patience: 50)
            .enrol(SecurityToken(path: "0", manufacturer: "", product: ""), .touch) { _ in try Self.typed(nil) }
        let both = SecurityTokens(.transports([SoftwareToken(), token]), patience: 50)
        #expect(try both.firstHeld(among: [foreign, second, first]) == second)
        #expect(try both.firstHeld(among: [foreign]) == nil)
        #expect(try both.firstHeld(among: []) == nil)
        #expect(try SecurityTokens(.transports([])).firstHeld(among: [first]) == nil)
        #expect(token.touches == 2)
        // Another one that does not answer is in nobody's way, unless it could be the one.
        other.conduct = .isSilent
        let silent = SecurityTokens(.transports([other, token]), patience: 50)
        #expect(try silent.firstHeld(among: [first]) == first)
        #expect(throws: TokenFailure.noAnswer) { try silent.firstHeld(among: [foreign]) }
    }

    @Test("A credential with a PIN has another secret, and asks for the PIN each time")
    func pin() throws {
        token.pin = "1234"
        let credential = try enrol(.pin, pin: "1234")
        #expect(credential.presence == .pin)
        let own = try #require(token.secrets[credential.id])
        #expect(try secret(of: credential, pin: "1234") == hmac(own.verified, Self.salt))
        #expect(throws: Unasked.self) { try secret(of: credential) }
        #expect(token.touches == 2)
    }

    @Test("A token with a PIN wants it for a new credential, and not for one that needs only a touch")
    func pinOfEnrolment() throws {
        token.pin = "1234"
        #expect(throws: Unasked.self) { try enrol() }
        let credential = try enrol(pin: "1234")
        #expect(try secret(of: credential) == hmac(#require(token.secrets[credential.id]).touched, Self.salt))
    }

    @Test("A token that later insists on its PIN does not pass off its other secret as the one of a touch")
    func laterPIN() throws {
        let credential = try enrol()
        token.pin = "1234"
        token.wantsPINAlways = true
        #expect(throws: TokenFailure.pinNeeded) { try secret(of: credential, pin: "1234") }
    }

    // MARK: - PINs

    @Test("A wrong PIN is said to be wrong, with the tries that are left, until the token is blocked")
    func wrongPIN() throws {
        token.pin = "1234"
        let credential = try enrol(.pin, pin: "1234")
        func refusal() -> TokenFailure? {
            #expect(throws: TokenFailure.self) { try secret(of: credential, pin: "4321") }
        }
        #expect(refusal() == .wrongPIN(triesLeft: 7))
        #expect(refusal() == .wrongPIN(triesLeft: 6))
        #expect(refusal() == .pinPaused)
        for _ in 0..<4 { _ = refusal() }
        #expect(refusal() == .pinBlocked)
        #expect(throws: TokenFailure.pinBlocked) { try secret(of: credential, pin: "1234") }
        #expect(token.touches == 1)
    }

    @Test("A PIN that C would cut short, and an empty one, cost no try", arguments: ["", "12\u{0}34"])
    func malformedPIN(pin: String) throws {
        token.pin = "12"
        #expect(throws: TokenFailure.wrongPIN(triesLeft: nil)) { try enrol(.pin, pin: pin) }
        #expect(token.triesLeft == 8)
    }

    @Test("The question says how many tries are left")
    func triesLeft() throws {
        token.pin = "1234"
        let device = try #require(tokens.connected().first)
        #expect(throws: TokenFailure.wrongPIN(triesLeft: 7)) { try enrol(.pin, pin: "9") }
        var told: [Int?] = []
        _ = try tokens.enrol(device, .pin) { left in
            told.append(left)
            return try Self.typed("1234")
        }
        #expect(told == [7])
    }

    @Test("A token without a PIN is refused for a credential that needs one")
    func noPIN() {
        #expect(throws: TokenFailure.pinNotSet) { try enrol(.pin, pin: "1234") }
    }

    // MARK: - Failures

    @Test("A touch that is declined, or does not come, is no answer")
    func notTouched() throws {
        let credential = try enrol()
        for conduct in [SoftwareToken.Conduct.declines, .ignores] {
            token.conduct = conduct
            #expect(throws: TokenFailure.notTouched) { try enrol() }
            #expect(throws: TokenFailure.notTouched) { try secret(of: credential) }
        }
    }

    @Test(
        "A token that never answers, that only says that it waits, or that is gone, does not keep anyone waiting",
        arguments: [SoftwareToken.Conduct.isSilent, .waits, .isGone])
    func silence(conduct: SoftwareToken.Conduct) throws {
        let credential = try enrol()
        token.conduct = conduct
        #expect(throws: TokenFailure.noAnswer) { try enrol() }
        #expect(throws: TokenFailure.noAnswer) { try secret(of: credential) }
    }

    @Test("The credential of another token, and one that was changed, is not known")
    func otherToken() throws {
        let credential = try enrol()
        let other = SecurityTokens(.transports([SoftwareToken()]), patience: 50)
        #expect(throws: TokenFailure.otherToken) { try secret(of: credential, on: other) }
        let changed = try #require(
            TokenCredential(id: credential.id.reversed(), publicKey: credential.publicKey, presence: .touch))
        #expect(throws: TokenFailure.otherToken) { try secret(of: changed) }
        #expect(throws: TokenFailure.noToken) { try secret(of: credential, on: SecurityTokens(.transports([]))) }
    }

    @Test("A token without secrets, and one of the older standard, is refused before it is touched")
    func noSecrets() {
        token.hasSecrets = false
        #expect(throws: TokenFailure.noSecrets) { try enrol() }
        token.isFIDO2 = false
        #expect(throws: TokenFailure.noSecrets) { try enrol() }
        #expect(token.touches == 0)
    }

    @Test("A credential without a statement about it is accepted, and proves itself with each secret")
    func noStatement() throws {
        token.format = "none"
        let credential = try enrol()
        #expect(try secret(of: credential).count == 32)
    }

    @Test("A false signature is noticed, at enrollment and with each secret")
    func falseSignatures() throws {
        let credential = try enrol()
        token.signsFalsely = true
        #expect(throws: TokenFailure.wrongAnswer) { try enrol() }
        #expect(throws: TokenFailure.wrongAnswer) { try secret(of: credential) }
    }

    @Test("A secret under the key of another credential is not accepted")
    func otherKey() throws {
        let (one, two) = (try enrol(), try enrol())
        let mixed = try #require(TokenCredential(id: one.id, publicKey: two.publicKey, presence: .touch))
        #expect(throws: TokenFailure.wrongAnswer) { try secret(of: mixed) }
        let noPoint = try #require(
            TokenCredential(id: one.id, publicKey: [UInt8](repeating: 1, count: 64), presence: .touch))
        #expect(throws: TokenFailure.wrongAnswer) { try secret(of: noPoint) }
    }

    @Test("A credential that is claimed to need the PIN, or not to need it, gives no secret of the other kind")
    func otherPresence() throws {
        token.pin = "1234"
        let credential = try enrol(.pin, pin: "1234")
        let claimed = try #require(
            TokenCredential(id: credential.id, publicKey: credential.publicKey, presence: .touch))
        #expect(try secret(of: claimed) != secret(of: credential, pin: "1234"))
    }

    // Of CTAP: a new credential, a secret, what the token can do, the agreement on a key.
    private static let commands: [UInt8] = [0x01, 0x02, 0x04, 0x06]

    @Test("An answer that is cut anywhere is a failure, and never a secret", arguments: commands)
    func cutAnswers(command: UInt8) throws {
        let credential = try enrol()
        var lengths: [Int] = []
        token.alter = { given, answer in
            if given == command { lengths.append(answer.count) }
            return answer
        }
        _ = try (enrol(), secret(of: credential))
        for cut in 1...(try #require(lengths.max())) {
            token.alter = { given, answer in given == command ? answer.dropLast(cut) : answer }
            expectFailure(of: credential, enrols: command != 0x02, "\(command) without its last \(cut) bytes")
        }
    }

    @Test("An answer that is changed anywhere gives no other secret", arguments: [UInt8(0x01), 0x02])
    func changedAnswers(command: UInt8) throws {
        let credential = try enrol()
        let right = try secret(of: credential)
        var random = SeededRandom(seed: 7)
        for _ in 0..<400 {
            let (place, mask) = (Int.random(in: 1...300, using: &random), UInt8.random(in: 1...255, using: &random))
            token.alter = { given, answer in
                guard given == command, place < answer.count else { return answer }
                var changed = answer
                changed[place] ^= mask
                return Self.isHarmless(changed[place]) ? changed : answer
            }
            if command == 0x02 {
                if let secret = try? secret(of: credential) { #expect(secret == right, "\(place) \(mask)") }
            } else if let made = try? enrol() {
                // The changed byte is in the unsigned part: the ID of the credential is in the signed part, and so is
                // its key.
                #expect(token.secrets[made.id]?.key.point == made.publicKey, "\(place) \(mask)")
            }
        }
    }

    @Test("Garbage in place of an answer is a failure", arguments: commands)
    func garbage(command: UInt8) throws {
        let credential = try enrol()
        var random = SeededRandom(seed: 8)
        for _ in 0..<100 {
            let count = Int.random(in: 1...200, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }.filter(Self.isHarmless)
            token.alter = { given, answer in given == command ? [0] + bytes : answer }
            expectFailure(of: credential, enrols: command != 0x02, "\(bytes)")
        }
    }

    /// False for the start of a list or a map of billions: libcbor 0.8 takes memory for as many as it claims.
    private static func isHarmless(_ byte: UInt8) -> Bool { ![0x9a, 0x9b, 0xba, 0xbb].contains(byte) }

    /// - Parameter enrols: true to try an enrollment, false to try a secret.
    private func expectFailure(of credential: TokenCredential, enrols: Bool, _ comment: Comment) {
        if enrols, (try? enrol()) == nil { return }
        #expect(throws: TokenFailure.self, comment) { _ = try secret(of: credential) }
    }

    @Test("A size that no credential has is refused")
    func sizes() {
        let point = [UInt8](repeating: 0, count: 64)
        #expect(TokenCredential(id: [], publicKey: point, presence: .touch) == nil)
        #expect(TokenCredential(id: [UInt8](repeating: 0, count: 1_025), publicKey: point, presence: .touch) == nil)
        #expect(TokenCredential(id: [1], publicKey: Array(point.dropFirst()), presence: .touch) == nil)
    }

    @Test("Looking for tokens on a machine without any is no failure")
    func listing() throws {
        _ = try SecurityTokens().connected()
        #expect(throws: TokenFailure.noAnswer) {
            try SecurityTokens().enrol(
                SecurityToken(path: "/dev/nowhere", manufacturer: "", product: ""), .touch
            ) { _ in try Self.typed(nil) }
        }
    }
}
