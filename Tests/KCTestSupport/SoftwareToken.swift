import Glibc
import KCByteStreams
import KCCryptography
import KCSecurityTokens

/// A FIDO2 token in memory (CTAP 2.0, with PIN protocol 1), which fails on demand.
///
/// Used by one thread at a time.
package final class SoftwareToken: TokenTransport, @unchecked Sendable {
    /// The conduct of a person, or of somebody between.
    package enum Conduct {
        case touches
        /// Declines on the token.
        case declines
        /// Does nothing, until the token gives up.
        case ignores
        /// Nothing comes back.
        case isSilent
        /// The token says that it waits, again and again.
        case waits
        case isGone
    }

    /// The secrets of a credential, without and with verification of the user.
    struct Secrets {
        let key = TokenKey()
        let touched = (0..<32).map { _ in UInt8.random(in: 0...255) }
        let verified = (0..<32).map { _ in UInt8.random(in: 0...255) }
    }

    package var conduct = Conduct.touches
    package var pin: String?
    package var wantsPINAlways = false
    var hasSecrets = true
    var isFIDO2 = true
    /// The format of the statement about a new credential.
    var format = "packed"
    /// Changes answers: the command, and its answer with its status.
    var alter: (UInt8, [UInt8]) -> [UInt8] = { $1 }
    /// Signs with another key than the credential's.
    var signsFalsely = false
    /// How many commands were given.
    package private(set) var commands = 0
    package private(set) var touches = 0
    private(set) var secrets: [[UInt8]: Secrets] = [:]
    private(set) var triesLeft = 8

    private var reports: [[UInt8]] = []
    private var message: (channel: [UInt8], command: UInt8, count: Int, bytes: [UInt8])?
    private let agreement = TokenKey()
    private let pinToken = (0..<16).map { _ in UInt8.random(in: 0...255) }
    private static let channel: [UInt8] = [0x11, 0x22, 0x33, 0x44]

    /// Creates a token without a PIN, which a person touches when it blinks.
    package init() {}

    // MARK: - Reports

    /// See `TokenTransport`.
    package func send(_ report: [UInt8]) -> Bool {
        if conduct == .isGone { return false }
        if report[4] & 0x80 != 0 {
            let count = Int(report[5]) << 8 | Int(report[6])
            message = (Array(report[..<4]), report[4] & 0x7f, count, Array(report[7...]))
        } else {
            message?.bytes += report[5...]
        }
        guard let message, message.bytes.count >= message.count else { return true }
        self.message = nil
        answer(message.channel, message.command, Array(message.bytes.prefix(message.count)))
        return true
    }

    /// See `TokenTransport`.
    package func receive(milliseconds: Int) -> [UInt8]? {
        if conduct == .waits, reports.isEmpty, milliseconds > 0 {
            // CTAPHID_KEEPALIVE: the user is needed. libfido2 counts whole milliseconds between reports, and never ends if
            // there are none.
            usleep(5_000)
            return padded(Self.channel + [0xbb, 0, 1, 2])
        }
        return reports.isEmpty ? nil : reports.removeFirst()
    }

    private func padded(_ report: [UInt8]) -> [UInt8] { report + [UInt8](repeating: 0, count: 64 - report.count) }

    private func answer(_ channel: [UInt8], _ command: UInt8, _ bytes: [UInt8]) {
        switch command {
        case 0x06:
            // The capabilities: blinking, and CBOR.
            reply(channel, command, Array(bytes.prefix(8)) + Self.channel + [2, 1, 0, 0, isFIDO2 ? 5 : 1])
        case 0x10:
            guard let first = bytes.first else { return }
            commands += 1
            if conduct == .isSilent || conduct == .waits, first != 0x04 { return }
            reply(channel, command, alter(first, perform(first, CBOR(bytes.dropFirst()))))
        default: break
        }
    }

    private func reply(_ channel: [UInt8], _ command: UInt8, _ bytes: [UInt8]) {
        let head = channel + [command | 0x80, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
        reports.append(padded(head + bytes.prefix(57)))
        var (rest, number) = (bytes.dropFirst(57), UInt8(0))
        while !rest.isEmpty {
            reports.append(padded(channel + [number] + rest.prefix(59)))
            (rest, number) = (rest.dropFirst(59), number + 1)
        }
    }

    // MARK: - Commands

    private func perform(_ command: UInt8, _ request: CBOR?) -> [UInt8] {
        let answer: Result<CBOR, Status> =
            switch (command, request) {
            case (0x04, _): .success(facts)
            case (0x01, let request?): Result { () throws(Status) in try makeCredential(request) }
            case (0x02, let request?): Result { () throws(Status) in try getAssertion(request) }
            case (0x06, let request?): Result { () throws(Status) in try clientPIN(request) }
            default: .failure(Status(code: 0x01))
            }
        return switch answer {
        case .success(let value): [0] + value.encoded
        case .failure(let status): [status.code]
        }
    }

    private struct Status: Error { let code: UInt8 }

    private var facts: CBOR {
        .map([
            (.integer(1), .list([.text("FIDO_2_0")])),
            (.integer(2), .list(hasSecrets ? [.text("credProtect"), .text("hmac-secret")] : [.text("credProtect")])),
            (.integer(3), .bytes([UInt8](repeating: 7, count: 16))),
            (
                .integer(4),
                .map([(.text("rk"), .flag(true)), (.text("up"), .flag(true)), (.text("clientPin"), .flag(pin != nil))])
            ),
            (.integer(5), .integer(1_200)), (.integer(6), .list([.integer(1)])),
        ])
    }

    private func touch() throws(Status) {
        switch conduct {
        case .declines: throw Status(code: 0x27)
        case .ignores: throw Status(code: 0x2f)
        default: touches += 1
        }
    }

    /// True if the request has proof of the PIN.
    private func isVerified(_ request: CBOR, proof: Int, hash: [UInt8]) throws(Status) -> Bool {
        guard let given = request[proof]?.data else { return false }
        guard given == mac(pinToken, hash) else { throw Status(code: 0x33) }
        return true
    }

    private func makeCredential(_ request: CBOR) throws(Status) -> CBOR {
        guard let hash = request[1]?.data, let party = request[2]?["id"]?.string else { throw Status(code: 0x14) }
        let isVerified = try isVerified(request, proof: 8, hash: hash)
        if pin != nil, !isVerified { throw Status(code: 0x36) }
        if request[7]?["rk"]?.isTrue == true { throw Status(code: 0x28) }
        try touch()
        let (id, made) = ((0..<48).map { _ in UInt8.random(in: 0...255) }, Secrets())
        secrets[id] = made
        var data = digest(Array(party.utf8)) + [isVerified ? 0xc5 : 0xc1, 0, 0, 0, 1]
        data += [UInt8](repeating: 7, count: 16) + [0, UInt8(id.count)] + id + made.key.cose(-7).encoded
        data += CBOR.map([(.text("hmac-secret"), .flag(true))]).encoded
        let signer = signsFalsely ? TokenKey() : made.key
        let statement: CBOR =
            format == "none"
            ? .map([]) : .map([(.text("alg"), .integer(-7)), (.text("sig"), .bytes(signer.sign(data + hash)))])
        return .map([(.integer(1), .text(format)), (.integer(2), .bytes(data)), (.integer(3), statement)])
    }

    private func getAssertion(_ request: CBOR) throws(Status) -> CBOR {
        guard let party = request[1]?.string, let hash = request[2]?.data,
            let id = request[3]?.values?.first?["id"]?.data
        else { throw Status(code: 0x14) }
        let isVerified = try isVerified(request, proof: 6, hash: hash)
        if wantsPINAlways, !isVerified { throw Status(code: 0x36) }
        guard let own = secrets[id] else { throw Status(code: 0x2e) }
        let isTouched = request[5]?["up"]?.isTrue != false
        if isTouched { try touch() }
        var flags: UInt8 = (isTouched ? 1 : 0) | (isVerified ? 4 : 0)
        var extensions: [UInt8] = []
        if let wanted = request[4]?["hmac-secret"] {
            let answer = try secret(of: own, isVerified: isVerified, wanted)
            extensions = CBOR.map([(.text("hmac-secret"), .bytes(answer))]).encoded
            flags |= 0x80
        }
        let data = digest(Array(party.utf8)) + [flags, 0, 0, 0, 2] + extensions
        let signer = signsFalsely ? TokenKey() : own.key
        return .map([
            (.integer(1), .map([(.text("id"), .bytes(id)), (.text("type"), .text("public-key"))])),
            (.integer(2), .bytes(data)), (.integer(3), .bytes(signer.sign(data + hash))),
        ])
    }

    private func secret(of own: Secrets, isVerified: Bool, _ request: CBOR) throws(Status) -> [UInt8] {
        guard let shared = request[1].flatMap(shared), let sealed = request[2]?.data,
            request[3]?.data == mac(shared, sealed)
        else { throw Status(code: 0x33) }
        let salt = blocks(sealed, shared, encrypts: false)
        return blocks(hmac(isVerified ? own.verified : own.touched, salt), shared, encrypts: true)
    }

    private func clientPIN(_ request: CBOR) throws(Status) -> CBOR {
        switch request[2]?.number {
        case 1: return .map([(.integer(3), .integer(triesLeft))])
        case 2: return .map([(.integer(1), agreement.cose(-25))])
        case 5:
            guard let pin else { throw Status(code: 0x35) }
            if triesLeft == 0 { throw Status(code: 0x32) }
            guard let shared = request[3].flatMap(shared), let sealed = request[6]?.data else {
                throw Status(code: 0x14)
            }
            triesLeft -= 1
            guard blocks(sealed, shared, encrypts: false) == Array(digest(Array(pin.utf8)).prefix(16)) else {
                throw Status(code: triesLeft == 0 ? 0x32 : triesLeft % 3 == 2 ? 0x34 : 0x31)
            }
            triesLeft = 8
            return .map([(.integer(2), .bytes(blocks(pinToken, shared, encrypts: true)))])
        default: throw Status(code: 0x01)
        }
    }

    /// The key that is agreed on with the other side.
    private func shared(_ key: CBOR) -> [UInt8]? {
        guard let x = key[-2]?.data, let y = key[-3]?.data else { return nil }
        return agreement.agree(with: x + y).map { digest($0) }
    }

    private func digest(_ bytes: [UInt8]) -> [UInt8] { HashFunction.sha256.digest(of: bytes.span) }

    private func mac(_ key: [UInt8], _ bytes: [UInt8]) -> [UInt8] { Array(hmac(key, bytes).prefix(16)) }
}

/// HMAC-SHA-256.
func hmac(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
    do {
        var code = try HMAC(.sha256, key: SecretBytes(copying: key))
        try code.update(message.span)
        return try code.finalize()
    } catch {
        preconditionFailure("there is no HMAC: \(error)")
    }
}
