package import KCByteStreams
package import KCCryptography

/// The devices whose archives the user trusts, in a `StateFile` next to the device key.
///
/// There is one line per device (ID, space, name), sorted by ID. The file name contains the ID of this device, so a
/// renewed device starts with an empty list.
package struct TrustedDevices: Sendable {
    /// The maximum number of trusted devices; with names of maximum length, the file stays below
    /// `PrivateFile.sizeLimit`.
    package static let countLimit = 400
    /// The maximum length of a name, in bytes of UTF-8.
    package static let nameLimit = 100

    private static let kind = StateFile.Kind("trusted-devices", version: 1)

    private let file: StateFile

    /// The path of the file, which need not exist.
    package var path: String { file.path }

    /// Creates the list that `device` keeps next to the key file at `keyPath`.
    package init(besideKeyAt keyPath: String, of device: DeviceKey) {
        let path = "\(Path.split(keyPath).folder)/trusted-devices-\(device.id)"
        file = StateFile(path, Self.kind, about: "", of: device)
    }

    /// Returns the trusted devices and their names; empty if the file is missing.
    package func list() throws(TrustedDevicesFailure) -> [DeviceID: String] {
        guard let body = try failing(as: TrustedDevicesFailure.init, file.read()) else { return [:] }
        var names: [DeviceID: String] = [:]
        let fields = StateFields(parsing: body)
        for field in fields?.fields ?? [] {
            if let id = DeviceID(field.name) { names[id] = field.value }
        }
        // Every list has exactly one spelling, so this detects lines that were not read.
        guard Self.fields(names) == fields else { throw .otherFormat(path: path) }
        return names
    }

    /// True if the device is trusted.
    package func contains(_ id: DeviceID) throws(TrustedDevicesFailure) -> Bool {
        try list()[id] != nil
    }

    /// Trusts a device, or renames a trusted one.
    ///
    /// - Parameter name: 1 to `nameLimit` bytes without control or format characters and without leading or trailing
    ///   space.
    package func trust(_ id: DeviceID, name: String) throws(TrustedDevicesFailure) {
        guard Self.isAllowed(name) else { throw .nameNotAllowed }
        try change { names throws(TrustedDevicesFailure) in
            names[id] = name
            guard names.count <= Self.countLimit else { throw .full(allowed: Self.countLimit) }
        }
    }

    /// Stops trusting a device; false if it was not trusted.
    @discardableResult
    package func untrust(_ id: DeviceID) throws(TrustedDevicesFailure) -> Bool {
        try change { names throws(TrustedDevicesFailure) in names.removeValue(forKey: id) != nil }
    }

    /// Reads the list, changes it and replaces it atomically, under a lock.
    func change<Result>(
        _ body: (inout [DeviceID: String]) throws(TrustedDevicesFailure) -> Result
    ) throws(TrustedDevicesFailure) -> Result {
        let lock = try failing(as: TrustedDevicesFailure.file, FileLock.ofFolder(Path.split(path).folder))
        defer { withExtendedLifetime(lock) {} }
        let before = try list()
        var names = before
        let result = try body(&names)
        if names == before { return result }
        try failing(as: TrustedDevicesFailure.init, file.write(Self.fields(names).encoded))
        return result
    }

    private static func fields(_ names: [DeviceID: String]) -> StateFields {
        var fields = StateFields()
        let lines = names.map { (id: $0.key.description, name: $0.value) }
        for line in lines.sorted(by: { $0.id < $1.id }) { fields.add(line.id, line.name) }
        return fields
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
    /// Another version of the program wrote the list.
    case otherFormat(path: String)
    /// The name is empty, too long, or contains characters that are not allowed.
    case nameNotAllowed
    /// The maximum number of trusted devices is reached.
    case full(allowed: Int)
    /// The file is not safe to use, or cannot be read or written.
    case file(FileFailure)
    /// A derivation or a MAC failed.
    case cryptography(CryptographyFailure)

    init(_ failure: StateFileFailure) {
        switch failure {
        // The name of the file has the device, so the list of another device was renamed.
        case .altered(let path), .otherDevice(let path, _): self = .altered(path: path)
        case .otherFormat(let path): self = .otherFormat(path: path)
        case .file(let failure): self = .file(failure)
        case .cryptography(let failure): self = .cryptography(failure)
        }
    }
}
