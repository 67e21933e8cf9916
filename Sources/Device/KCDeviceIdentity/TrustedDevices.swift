package import KCByteStreams
package import KCCryptography

/// The devices whose archives the user trusts, in a file next to the device key.
///
/// There is one line per device (ID, space, name), sorted by ID. The last line is an HMAC-SHA-256 of everything before
/// it under a key of this device, so that another program cannot add a device unnoticed. Restoring an older list is not
/// detected. The file name contains the ID of this device, so a renewed device starts with an empty list.
package struct TrustedDevices: Sendable {
    /// The maximum number of trusted devices; with names of maximum length, the file stays below
    /// `PrivateFile.sizeLimit`.
    package static let countLimit = 400
    /// The maximum length of a name, in bytes of UTF-8.
    package static let nameLimit = 100

    /// The path of the file, which need not exist.
    package let path: String
    private let device: DeviceKey

    private static let title =
        "# devices that kcbackup trusts; changed by 'kcbackup device trust' and 'untrust' alone\n"
    private static let context = Array("trusted-devices".utf8)

    /// Creates the list that `device` keeps next to the key file at `keyPath`.
    package init(besideKeyAt keyPath: String, of device: DeviceKey) {
        path = "\(Path.split(keyPath).folder)/trusted-devices-\(device.id)"
        self.device = device
    }

    /// Returns the trusted devices and their names; empty if the file is missing.
    ///
    /// - Throws: `TrustedDevicesFailure` (`altered`, `file`, `cryptography`).
    package func list() throws(TrustedDevicesFailure) -> [DeviceID: String] {
        let bytes: SecretBytes
        do throws(FileFailure) {
            bytes = try PrivateFile.read(path)
        } catch {
            if error.problem == .notFound { return [:] }
            throw .file(error)
        }
        var names: [DeviceID: String] = [:]
        let text = bytes.withBytes { span in span.indices.map { span[$0] } }
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 1)
            guard parts.count == 2, let id = DeviceID(String(decoding: parts[0], as: UTF8.self)) else { continue }
            names[id] = String(decoding: parts[1], as: UTF8.self)
        }
        // Re-encoding must reproduce the same bytes with the same MAC, so a line that was misread above is detected.
        guard constantTimeEqual(Array(try encode(names).utf8), text) else { throw .altered(path: path) }
        return names
    }

    /// True if the device is trusted.
    ///
    /// - Throws: `TrustedDevicesFailure` (`altered`, `file`, `cryptography`).
    package func contains(_ id: DeviceID) throws(TrustedDevicesFailure) -> Bool {
        try list()[id] != nil
    }

    /// Trusts a device, or renames a trusted one.
    ///
    /// - Parameter name: 1 to `nameLimit` bytes without control or format characters and without leading or trailing
    ///   space.
    /// - Throws: `TrustedDevicesFailure` (`nameNotAllowed`, `full`, `altered`, `file`, `cryptography`).
    package func trust(_ id: DeviceID, name: String) throws(TrustedDevicesFailure) {
        guard Self.isAllowed(name) else { throw .nameNotAllowed }
        try change { names throws(TrustedDevicesFailure) in
            names[id] = name
            guard names.count <= Self.countLimit else { throw .full(allowed: Self.countLimit) }
        }
    }

    /// Stops trusting a device; false if it was not trusted.
    ///
    /// - Throws: `TrustedDevicesFailure` (`altered`, `file`, `cryptography`).
    @discardableResult
    package func untrust(_ id: DeviceID) throws(TrustedDevicesFailure) -> Bool {
        try change { names throws(TrustedDevicesFailure) in names.removeValue(forKey: id) != nil }
    }

    /// Reads the list, changes it and replaces it atomically, under a lock.
    func change<Result>(
        _ body: (inout [DeviceID: String]) throws(TrustedDevicesFailure) -> Result
    ) throws(TrustedDevicesFailure) -> Result {
        let lock: FileLock
        do throws(FileFailure) {
            lock = try FileLock.ofFolder(Path.split(path).folder)
        } catch {
            throw .file(error)
        }
        defer { withExtendedLifetime(lock) {} }
        let before = try list()
        var names = before
        let result = try body(&names)
        if names == before { return result }
        let text = try encode(names)
        do throws(FileFailure) {
            try PrivateFile.replace(path, text.utf8.span)
        } catch {
            throw .file(error)
        }
        return result
    }

    private func encode(_ names: [DeviceID: String]) throws(TrustedDevicesFailure) -> String {
        let lines = names.map { "\($0.key) \($0.value)\n" }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let body = Self.title + lines.joined()
        do throws(CryptographyFailure) {
            var hmac = try HMACSHA256(key: try device.stateMACKey(context: Self.context))
            let code = try hmac.authenticate(body.utf8.span)
            return body + "mac \(Hexadecimal.encode(code))\n"
        } catch {
            throw .cryptography(error)
        }
    }

    private static func isAllowed(_ name: String) -> Bool {
        let scalars = name.unicodeScalars
        guard (1...nameLimit).contains(name.utf8.count), scalars.first?.properties.isWhitespace == false,
            scalars.last?.properties.isWhitespace == false
        else { return false }
        return scalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
            default: true
            }
        }
    }
}

/// Why the list of trusted devices could not be read or changed.
package enum TrustedDevicesFailure: Error, Hashable, Sendable {
    /// Another program changed the list; no device in it is trusted until the user removes the file.
    case altered(path: String)
    /// The name is empty, too long, or contains characters that are not allowed.
    case nameNotAllowed
    /// The maximum number of trusted devices is reached.
    case full(allowed: Int)
    /// The file is not safe to use, or cannot be read or written.
    case file(FileFailure)
    /// A derivation or a MAC failed.
    case cryptography(CryptographyFailure)
}
