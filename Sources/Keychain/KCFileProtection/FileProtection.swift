package import KCKeychainKeys

/// Who can open a protected file, and when, by Apple's names of file protection.
package enum FileProtection: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// This device alone, at any time.
    case none
    /// A keychain of this device.
    case keychain(FileKeyClass)

    package static let allCases = FileKeyClass.allCases.map { FileProtection.keychain($0) } + [.none]

    /// The name of the class.
    package var description: String {
        switch self {
        case .none: "none"
        case .keychain(let fileClass): fileClass.rawValue
        }
    }

    /// Finds a class by its name.
    package init?(_ name: String) {
        guard let found = Self.allCases.first(where: { Array($0.description.utf8) == Array(name.utf8) }) else {
            return nil
        }
        self = found
    }
}

/// Who has the key of a protected file.
package enum FileKeyHolder: Hashable, Sendable {
    /// The device with this X25519 public key.
    case device([UInt8])
    /// A class of the keychain with this store ID.
    case keychain([UInt8], FileKeyClass)

    /// The class that it stands for.
    package var protection: FileProtection {
        switch self {
        case .device: .none
        case .keychain(_, let fileClass): .keychain(fileClass)
        }
    }
}
