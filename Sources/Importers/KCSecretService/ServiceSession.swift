internal import CKCLibSecret
internal import KCByteStreams

/// Workarounds for KWallet up to 6.24, which does not always derive the right session key.
///
/// If a number begins with a zero byte, it derives another key than libsecret, without reporting an error. KWallet
/// refuses a public key that begins with a zero byte.
extension SecretServiceClient {
    // Two in 256 sessions cannot be used.
    static let sessionTries = 8
    // In the file that calls `csecret_open`, since each compiled file has its own copy of the C class.
    private static let registered: Void = unsafe csecret_register(LibSecret.functions)

    /// Opens an encrypted session of libsecret on a connection.
    ///
    /// - Throws: `sessionNotEncrypted`, and why there is no session.
    static func openSession(_ connection: BusConnection, _ kind: Kind) throws -> OpaquePointer {
        let session = try unsafe openAnySession(connection, kind)
        let algorithms = unsafe g.secret_service_get_session_algorithms(session).map { unsafe String(cString: $0) }
        if algorithms?.exact.hasPrefix("dh-") == true { return unsafe session }
        // libsecret takes one in the clear where it gets no other.
        unsafe g.g_object_unref(UnsafeMutableRawPointer(session))
        throw SecretServiceFailure.sessionNotEncrypted
    }

    private static func openAnySession(_ connection: BusConnection, _ kind: Kind) throws -> OpaquePointer {
        // A static is initialized only once, even with several threads.
        _ = registered
        var tries = 0
        while true {
            tries += 1
            let cause: BusError
            do throws(BusLoop.Failure) {
                return try unsafe connection.loop.result(
                    within: BusLimit.asked.session,
                    { unsafe csecret_open(connection.raw, $0, $1, $2) }, { unsafe csecret_opened($0, $1, $2) })
            } catch {
                switch error {
                case .failed(let error): cause = error
                case .late: throw SecretServiceFailure.noAnswer
                case .interrupted: throw SecretServiceFailure.interrupted
                }
            }
            if kind.isKWallet {
                if tries < sessionTries, cause.reason.exact.contains("public key size") { continue }
                // KWallet leaves the encryption to a plug-in of libqca.
                if cause.reason.exact.contains("libqca") { throw SecretServiceFailure.sessionNotEncrypted }
            }
            throw SecretServiceFailure(cause, .connecting)
        }
    }

    /// Finds a session with the right key: one in which a secret reads the same as in another session.
    ///
    /// - Throws: `malformed` (`secrets`), and what reading throws; nothing if the item is gone.
    func proveSession(reading path: String) throws {
        if isProved { return }
        do {
            var secrets = SecretBytes(capacity: 1_024)
            var last = try read(path, into: &secrets)
            for _ in 0..<Self.sessionTries {
                try renewSession()
                let next = try read(path, into: &secrets)
                if let last, let next, Self.areEqual(last, next, in: secrets) {
                    isProved = true
                    return
                }
                last = next
            }
        } catch let error as BusError {
            // The next item can prove the session.
            if error.saysGone { return }
            throw SecretServiceFailure(error, .secrets)
        }
        throw SecretServiceFailure.malformed(.secrets)
    }

    /// True if an item has this secret when read with the session key, which proves that the key is right.
    ///
    /// - Throws: as reading does.
    func provesSession(_ secret: borrowing SecretBytes, at path: String) throws -> Bool {
        var secrets = SecretBytes(capacity: 1_024)
        secret.withBytes { secrets.append($0) }
        do {
            guard let found = try read(path, into: &secrets) else { return false }
            isProved = Self.areEqual(0..<secret.count, found, in: secrets)
        } catch let error as BusError {
            throw SecretServiceFailure(error, .secrets)
        }
        return isProved
    }

    /// Appends the secret of an item; nil if the key does not fit.
    private func read(_ path: String, into secrets: inout SecretBytes) throws -> Range<Int>? {
        let start = secrets.count
        do {
            let reply = try bus.call(owner, BusCall(path, Self.itemInterface, "GetSecret", [sessionPath]))
            _ = try decode(reply.member(0, \.secret, .secrets), into: &secrets)
        } catch SecretServiceFailure.malformed(.secrets) {
            return nil
        }
        return start..<secrets.count
    }

    private static func areEqual(_ one: Range<Int>, _ other: Range<Int>, in secrets: borrowing SecretBytes) -> Bool {
        guard one.count == other.count else { return false }
        return secrets.withBytes { bytes in
            var difference: UInt8 = 0
            for index in 0..<one.count {
                difference |= bytes[one.lowerBound + index] ^ bytes[other.lowerBound + index]
            }
            return difference == 0
        }
    }
}
