internal import CKCLibSecret
internal import KCByteStreams

/// The Secret Service of a user's desktop: GNOME Keyring, KWallet or KeePassXC.
///
/// All calls go to one process: if it ends and the bus starts another one, that one is not used in its place.
@safe package final class SecretServiceClient {
    let bus: BusConnection
    /// The unique name of the process.
    let owner: String
    /// The program that provides the service, as far as it matters.
    let kind: Kind
    /// True if KWallet hands an open wallet to a program without asking.
    let isKWalletQuiet: Bool
    private var session: OpaquePointer
    /// True once it is certain that both sides have the same session key.
    var isProved: Bool
    static var g: csecret_functions { unsafe LibSecret.functions.pointee }

    /// The programs that behave differently.
    enum Kind: Hashable {
        /// Items are entries of a database.
        case keePassXC
        /// Collections are wallets, which are opened through this object.
        case kWallet(object: String)
        case other

        /// True for KWallet.
        var isKWallet: Bool { if case .kWallet = self { true } else { false } }
    }

    static let path = "/org/freedesktop/secrets"
    static let name = "org.freedesktop.secrets"
    static let interface = "org.freedesktop.Secret.Service"

    /// Connects to the service, which the bus starts if it can, and opens an encrypted session.
    ///
    /// - Parameter starts: false to connect only to a service that is running.
    /// - Throws: `libraryMissing`, `busRefuses`, `busSilent`, `foreignBus`, `busElsewhere`, `noService`,
    ///   `serviceDoesNotStart`, `sessionNotEncrypted`, `noAnswer`, `request` (`connecting`), `interrupted`.
    package init(_ bus: SessionBus, starts: Bool = true) throws {
        let connection = try BusConnection(bus, limit: .asked)
        owner = try Self.owner(on: connection, starts: starts)
        kind = try Self.kind(of: owner, on: connection)
        isKWalletQuiet = kind.isKWallet && !KWalletSettings.asksOnOpen(in: bus.settingsFolders)
        self.bus = connection
        isProved = !kind.isKWallet
        unsafe session = try unsafe Self.openSession(connection, kind)
    }

    deinit { unsafe Self.g.g_object_unref(UnsafeMutableRawPointer(session)) }

    /// Opens another session in place of the current one.
    func renewSession() throws {
        let next = try unsafe Self.openSession(bus, kind)
        unsafe Self.g.g_object_unref(UnsafeMutableRawPointer(session))
        unsafe session = unsafe next
    }

    /// Whether a service can be used, as far as a short look shows.
    package enum Presence: Hashable, Sendable {
        case running
        /// The bus has no service.
        case absent
        /// The bus cannot be used.
        case unreachable
    }

    /// Looks whether a service is running on this bus; does not start one.
    package static func presence(on bus: SessionBus) throws(SecretServiceFailure) -> Presence {
        do {
            _ = try owner(on: BusConnection(bus, limit: .probe), starts: false)
            return .running
        } catch SecretServiceFailure.interrupted {
            throw .interrupted
        } catch SecretServiceFailure.noService, SecretServiceFailure.libraryMissing {
            return .absent
        } catch {
            // Whatever the reason, the user did not ask for the service.
            return .unreachable
        }
    }

    /// The name of the program that is the service on this bus, as the kernel has it, of at most 15 bytes; nil if none
    /// is running, or if that cannot be seen.
    package static func program(on bus: SessionBus) throws(SecretServiceFailure) -> String? {
        do {
            let connection = try BusConnection(bus, limit: .probe)
            guard let owner = try owner(of: name, on: connection) else { return nil }
            let call = BusCall(busPath, destination, "GetConnectionUnixProcessID", [.text(owner)])
            let id = try connection.call(destination, call).member(0, \.number, .connecting)
            // The size of the file is 0 for the kernel, so read up to what it can be.
            var comm = try FileSlice(OpenFile.reading("/proc/\(id)/comm"), offset: 0, length: 16)
            var line = SecretBytes(capacity: 16)
            try line.append(upTo: 16) { output throws(StreamFailure) in try comm.read(into: &output) }
            return line.withBytes { bytes in
                let end = bytes.firstIndex(of: UInt8(ascii: "\n"), from: 0) ?? bytes.count
                return String(validating: (0..<end).map { bytes[$0] }, as: UTF8.self)
            }
        } catch SecretServiceFailure.interrupted {
            throw .interrupted
        } catch {
            // Whatever the reason, the user did not ask for the service.
            return nil
        }
    }

    static func owner(on bus: BusConnection, starts: Bool) throws -> String {
        do {
            if starts {
                let arguments: [BusValue] = [.text(name), .number(0)]
                _ = try bus.call(destination, BusCall(busPath, destination, "StartServiceByName", arguments))
            }
        } catch let error as BusError {
            guard case .remote(let name, let message) = error else { throw SecretServiceFailure(error, .connecting) }
            if name != "org.freedesktop.DBus.Error.ServiceUnknown" {
                throw SecretServiceFailure.serviceDoesNotStart(reason: message)
            }
        }
        guard let owner = try owner(of: name, on: bus) else { throw SecretServiceFailure.noService }
        return owner
    }

    private static func kind(of owner: String, on bus: BusConnection) throws -> Kind {
        if try Self.owner(of: "org.keepassxc.KeePassXC.MainWindow", on: bus) == owner { return .keePassXC }
        for name in ["kwalletd5", "kwalletd6"] where try Self.owner(of: "org.kde.\(name)", on: bus) == owner {
            return .kWallet(object: "/modules/\(name)")
        }
        return .other
    }

    private static let destination = "org.freedesktop.DBus"
    private static let busPath = "/org/freedesktop/DBus"

    /// The unique name of the process that owns a name; nil if no process does.
    private static func owner(of name: String, on bus: BusConnection) throws -> String? {
        do {
            let reply = try bus.call(destination, BusCall(busPath, destination, "GetNameOwner", [.text(name)]))
            let owner = try reply.member(0, \.text, .connecting)
            guard unsafe Self.g.g_dbus_is_unique_name(owner) != 0 else {
                throw SecretServiceFailure.malformed(.connecting)
            }
            return owner
        } catch let error as BusError {
            guard case .remote("org.freedesktop.DBus.Error.NameHasNoOwner", _) = error else {
                throw SecretServiceFailure(error, .connecting)
            }
            return nil
        }
    }

    /// The object path of the session.
    var sessionPath: BusValue {
        guard let path = unsafe Self.g.secret_service_get_session_dbus_path(session) else {
            preconditionFailure("the session is open")
        }
        return .path(unsafe String(cString: path))
    }

    /// Calls a method of the service, a collection or an item.
    ///
    /// - Throws: `SecretServiceFailure`.
    func call(_ call: BusCall, _ request: SecretServiceFailure.Request) throws -> BusValue {
        do {
            return try bus.call(owner, call)
        } catch let error as BusError {
            throw SecretServiceFailure(error, request)
        }
    }

    /// Sets a property.
    func set(
        _ property: String, of interface: String, at path: String, to value: BusValue,
        _ request: SecretServiceFailure.Request
    ) throws {
        let arguments: [BusValue] = [.text(interface), .text(property), .boxed(value)]
        _ = try call(BusCall(path, "org.freedesktop.DBus.Properties", "Set", arguments), request)
    }

    /// Encrypts a secret for the session.
    ///
    /// KeePassXC and KWallet store text as a password: they replace bytes that are not characters, and drop a byte
    /// order mark. Anything that this would change is sent as bytes.
    func encode(_ secret: borrowing Span<UInt8>, contentType: String) throws -> BusValue {
        let contentType = kind == .other || isText(secret) ? contentType : ServiceMapping.contentTypeOfBytes
        let g = unsafe Self.g
        let value = unsafe secret.withUnsafeBytes { bytes in
            // Even an empty secret needs a valid address.
            unsafe g.secret_value_new(
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self) ?? UnsafePointer(bitPattern: 1), bytes.count,
                contentType)
        }
        defer { unsafe g.secret_value_unref(UnsafeMutableRawPointer(value)) }
        guard let value = unsafe value, let encoded = unsafe g.secret_service_encode_dbus_secret(session, value) else {
            throw SecretServiceFailure.malformed(.writing)
        }
        return unsafe BusValue(unsafe encoded)
    }

    private func isText(_ bytes: borrowing Span<UInt8>) -> Bool {
        if bytes.count >= 3, bytes[0] == 0xef, bytes[1] == 0xbb, bytes[2] == 0xbf { return false }
        // A map of KWallet is not a password, although it may be valid UTF-8.
        if kind.isKWallet, bytes.indices.contains(where: { bytes[$0] == 0 }) { return false }
        do {
            _ = try UTF8Span(validating: copy bytes)
            return true
        } catch {
            return false
        }
    }

    /// Decrypts a secret that came through the session, and appends it.
    ///
    /// - Returns: its media type.
    func decode(_ encoded: BusValue, into secrets: inout SecretBytes) throws -> String {
        let g = unsafe Self.g
        guard let value = unsafe encoded.withRaw({ unsafe g.secret_service_decode_dbus_secret(session, $0) }) else {
            throw SecretServiceFailure.malformed(.secrets)
        }
        defer { unsafe g.secret_value_unref(UnsafeMutableRawPointer(value)) }
        var count = 0
        if let start = unsafe g.secret_value_get(value, &count), count > 0 {
            let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
            unsafe secrets.append(bytes.bindMemory(to: UInt8.self).span)
        }
        return unsafe g.secret_value_get_content_type(value).map { unsafe String(cString: $0) } ?? ""
    }
}

extension SecretServiceFailure {
    /// Interprets an error of the bus.
    ///
    /// - Parameter collection: the collection that the request was about, if it is known.
    init(_ error: BusError, _ request: Request, in collection: String? = nil) {
        switch error {
        case .closed: self = .serviceEnded
        case .timedOut: self = .noAnswer
        case .wrongType: self = .malformed(request)
        case .local(let message): self = .notSent(request, reason: message)
        case .remote(let name, let message):
            switch name {
            // The bus also reports "no reply" if the service ended before it replied.
            case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
                "org.freedesktop.DBus.Error.Disconnected", "org.freedesktop.DBus.Error.NoReply":
                self = .serviceEnded
            case "org.freedesktop.DBus.Error.Timeout", "org.freedesktop.DBus.Error.TimedOut": self = .noAnswer
            case "org.freedesktop.Secret.Error.IsLocked":
                self = collection.map { .locked([$0]) } ?? .somethingLocked
            default: self = .request(request, name: name, message: message)
            }
        }
    }
}

extension BusError {
    /// True if the object does not exist anymore.
    var saysGone: Bool {
        guard case .remote(let name, _) = self else { return false }
        return [
            "org.freedesktop.DBus.Error.UnknownObject", "org.freedesktop.DBus.Error.UnknownMethod",
            "org.freedesktop.Secret.Error.NoSuchObject",
        ].contains(name)
    }
}
