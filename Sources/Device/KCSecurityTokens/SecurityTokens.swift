internal import CKCFIDO2
package import KCByteStreams

/// A token that is connected.
package struct SecurityToken: Hashable, Sendable {
    /// Its device file.
    package let path: String
    /// Who made it, as it says; foreign text, which may be empty.
    package let manufacturer: String
    /// The name of the product, as the token states it; foreign text, which may be empty.
    package let product: String
}

/// The FIDO2 tokens of this machine, through libfido2.
///
/// Each gives secrets that no other token can give, and only while a person touches it (CTAP 2.1, section 12.5,
/// `hmac-secret`).
///
/// ```swift
/// let tokens = SecurityTokens()
/// guard let token = try tokens.connected().first else { throw TokenFailure.noToken }
/// let credential = try tokens.enrol(token, .touch) { _ in try readPIN() }
/// let secret = try tokens.secret(of: credential, salt: salt) { _ in try readPIN() }
/// ```
///
/// A token can be lost, and a reset destroys its credentials: nothing should have its secret as the only key.
package struct SecurityTokens: Sendable {
    /// How tokens are reached.
    package enum Reach: Sendable {
        /// The device files of the kernel.
        case devices
        /// These, whose paths are their numbers; for tests.
        case transports([any TokenTransport])
    }

    /// Asks for the PIN of a token, which accepts this many wrong ones more; nil if it does not say.
    package typealias PINQuestion = (_ triesLeft: Int?) throws -> SecretBytes

    /// In bytes.
    package static let saltSize = 32

    // The number of devices that are listed, far above what a machine has.
    private static let limit = 64

    // In milliseconds. An answer without a touch is immediate, and the user is waiting.
    private static let patienceWithoutTouch: Int32 = 3_000

    private let reach: Reach
    private let patience: Int32

    /// - Parameter patience: how long an answer may take, in milliseconds; tokens wait for a touch for about half a
    ///   minute.
    package init(_ reach: Reach = .devices, patience: Int32 = 60_000) {
        self.reach = reach
        self.patience = patience
    }

    /// The tokens that are connected; tells nothing of what they can do.
    package func connected() throws(TokenFailure) -> [SecurityToken] {
        switch reach {
        case .transports(let transports):
            return transports.indices.map { SecurityToken(path: "\($0)", manufacturer: "", product: "") }
        case .devices: return try listed()
        }
    }

    private func listed() throws(TokenFailure) -> [SecurityToken] {
        try TokenLibrary.load()
        let call = unsafe TokenLibrary.functions.pointee
        var list = call.fido_dev_info_new(Self.limit)
        defer { unsafe call.fido_dev_info_free(&list, Self.limit) }
        var count = 0
        let code = unsafe call.fido_dev_info_manifest(list, Self.limit, &count)
        guard code == 0 else { throw TokenFailure(code, of: "fido_dev_info_manifest") }
        return (0..<count).compactMap { index in
            let entry = unsafe call.fido_dev_info_ptr(list, index)
            func text(_ start: UnsafePointer<CChar>?) -> String? { unsafe start.map { unsafe String(cString: $0) } }
            guard let path = unsafe text(call.fido_dev_info_path(entry)) else { return nil }
            return unsafe SecurityToken(
                path: path, manufacturer: text(call.fido_dev_info_manufacturer_string(entry)) ?? "",
                product: text(call.fido_dev_info_product_string(entry)) ?? "")
        }
    }

    /// Makes a credential on a token, which is touched for that.
    ///
    /// - Parameter askPIN: asked if the token wants its PIN, also for a credential that needs only a touch later.
    /// - Throws: `TokenFailure`, `CryptographyFailure`, and what `askPIN` throws.
    package func enrol(
        _ token: SecurityToken, _ presence: TokenPresence, askPIN: PINQuestion
    ) throws -> TokenCredential {
        let connection = try connection(to: token)
        try connection.requireSecrets()
        if presence == .pin {
            guard connection.hasPIN else { throw TokenFailure.pinNotSet }
        } else {
            do {
                return try connection.makeCredential(presence, pin: nil)
            } catch TokenFailure.pinNeeded {
                // The PIN is asked for below.
            }
        }
        let pin: SecretBytes? = try askPIN(connection.triesLeft())
        return try connection.makeCredential(presence, pin: pin)
    }

    /// The secret of a credential for a salt of 32 bytes, always the same for the same salt; the token is touched.
    ///
    /// - Parameter askPIN: asked if the credential needs the PIN.
    /// - Throws: `TokenFailure`, `CryptographyFailure`, and what `askPIN` throws.
    package func secret(
        of credential: TokenCredential, salt: [UInt8], askPIN: PINQuestion
    ) throws -> SecretBytes {
        precondition(salt.count == Self.saltSize, "a salt has 32 bytes")
        let connection = try connection(holding: credential)
        let pin: SecretBytes? = credential.presence == .pin ? try askPIN(connection.triesLeft()) : nil
        return try connection.secret(of: credential, salt: salt, pin: pin)
    }

    /// The first of these credentials that a connected token has made, without a touch; nil if none has.
    ///
    /// - Throws: `TokenFailure` if a token that could be the one cannot be asked, `CryptographyFailure`.
    package func firstHeld(among credentials: [TokenCredential]) throws -> TokenCredential? {
        var obstacle: TokenFailure?
        for token in try connected() {
            do {
                let connection = try connection(to: token, patience: min(patience, Self.patienceWithoutTouch))
                for credential in credentials where try connection.holds(credential) { return credential }
            } catch let failure as TokenFailure where failure != .interrupted {
                // Another one may be the right one.
                obstacle = failure
            }
        }
        if let obstacle { throw obstacle }
        return nil
    }

    /// Connects to the token that made a credential: no other one need be touched.
    private func connection(holding credential: TokenCredential) throws -> TokenConnection {
        var obstacle: TokenFailure = .noToken
        for token in try connected() {
            do {
                let connection = try connection(to: token)
                if try connection.holds(credential) { return connection }
                if obstacle == .noToken { obstacle = .otherToken }
            } catch let failure as TokenFailure where failure != .interrupted {
                // Another one may be the right one. If none is, this failure says more than that.
                obstacle = failure
            }
        }
        throw obstacle
    }

    private func connection(to token: SecurityToken) throws(TokenFailure) -> TokenConnection {
        try connection(to: token, patience: patience)
    }

    private func connection(
        to token: SecurityToken, patience: Int32
    ) throws(TokenFailure) -> TokenConnection {
        switch reach {
        case .devices: return try TokenConnection(token.path, through: nil, patience: patience)
        case .transports(let transports):
            guard let index = Int(token.path), transports.indices.contains(index) else { throw .noAnswer }
            return try TokenConnection(token.path, through: transports[index], patience: patience)
        }
    }
}
