internal import ByteStreams
internal import Cryptography

/// A device whose archives are accepted as known, under a name that the user chose.
public struct TrustedDevice: Hashable, Sendable {
    /// The device.
    public let id: DeviceID
    /// What the user calls it.
    public let name: String
}

/// The list of trusted devices: a text file with a MAC, so that an edit by anything else is noticed.
///
/// The MAC cannot notice that the whole file was deleted or put back to an earlier state (SECURITY.md).
public struct TrustedDevices: Sendable {
    /// In the order in which they were trusted.
    public private(set) var devices: [TrustedDevice]
    private let path: String
    private let key: DeviceKey

    private static let macStart = "mac: "
    // 128 bytes are some 40 characters in any script.
    private static let nameLimit = 128

    /// Reads the list at `path` (`FileDeviceKeyProvider.trustedDevicesPath`); a missing file is an empty list.
    ///
    /// - Throws: `DeviceKeyFailure`: `file`, `alteredTrustList`, `malformed`, `cryptography`.
    public init(path: String, key: DeviceKey) throws(DeviceKeyFailure) {
        self.path = path
        self.key = key
        guard Path.exists(path) else {
            devices = []
            return
        }
        let contents = try DeviceKeyFailure.files { () throws(FileFailure) in try PrivateFile.read(path) }
        let bytes = contents.withBytes { span in span.indices.map { span[$0] } }
        devices = try Self.parse(bytes, path, key)
    }

    /// True when `id` is in the list.
    public func contains(_ id: DeviceID) -> Bool {
        devices.contains { $0.id == id }
    }

    /// Adds a device, or gives it a new name, and saves the list.
    ///
    /// - Throws: `DeviceKeyFailure`: `unusableName`, `file`, `cryptography`; the list is then as before.
    public mutating func trust(_ id: DeviceID, name: String) throws(DeviceKeyFailure) {
        guard Self.isUsable(name) else { throw .unusableName }
        var changed = devices
        let device = TrustedDevice(id: id, name: name)
        if let index = changed.firstIndex(where: { $0.id == id }) {
            changed[index] = device
        } else {
            changed.append(device)
        }
        try save(changed)
        devices = changed
    }

    /// Removes a device and saves the list; false when it was not in it.
    ///
    /// - Throws: `DeviceKeyFailure`: `file`, `cryptography`; the list is then as before.
    public mutating func untrust(_ id: DeviceID) throws(DeviceKeyFailure) -> Bool {
        guard contains(id) else { return false }
        let rest = devices.filter { $0.id != id }
        try save(rest)
        devices = rest
        return true
    }

    private static func isUsable(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= nameLimit
            && name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// The lines above the MAC, which are what it covers.
    private static func body(_ devices: [TrustedDevice]) -> String {
        devices.reduce("# Devices that this device trusts; kcbackup writes this file and notices other edits.\n") {
            $0 + "\($1.id) \($1.name)\n"
        }
    }

    private static func code(_ body: String, _ key: DeviceKey) throws(CryptographyFailure) -> [UInt8] {
        var hmac = try HMACSHA256(key: key.stateMACKey())
        try hmac.update(DerivationLabel.trustList.info().span)
        return try hmac.authenticate(Array(body.utf8).span)
    }

    private func save(_ devices: [TrustedDevice]) throws(DeviceKeyFailure) {
        let body = Self.body(devices)
        let key = self.key
        let code = try DeviceKeyFailure.crypto { () throws(CryptographyFailure) in try Self.code(body, key) }
        let text = body + Self.macStart + Hexadecimal.encode(code) + "\n"
        try DeviceKeyFailure.files { () throws(FileFailure) in
            try PrivateFile.replace(path, SecretBytes(copying: text.utf8))
        }
    }

    /// Checks the MAC first, then reads the lines; what does not print back to the same text is refused.
    private static func parse(
        _ bytes: [UInt8], _ path: String, _ key: DeviceKey
    ) throws(DeviceKeyFailure) -> [TrustedDevice] {
        let macLength = macStart.utf8.count + 64 + 1
        guard bytes.count >= macLength, let text = String(validating: bytes, as: UTF8.self),
            let body = String(validating: bytes.dropLast(macLength), as: UTF8.self)
        else { throw .alteredTrustList(path: path) }
        let code = try DeviceKeyFailure.crypto { () throws(CryptographyFailure) in try Self.code(body, key) }
        let expected = body + macStart + Hexadecimal.encode(code) + "\n"
        guard constantTimeEqual(Array(expected.utf8), Array(text.utf8)) else { throw .alteredTrustList(path: path) }

        var devices: [TrustedDevice] = []
        for line in body.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let id = DeviceID(String(parts[0])) else {
                throw .malformed(path: path, rule: "each line is a device ID and a name")
            }
            devices.append(TrustedDevice(id: id, name: String(parts[1])))
        }
        guard Self.body(devices) == body else { throw .malformed(path: path, rule: "the spelling is canonical") }
        return devices
    }
}
