package import KCByteStreams
package import KCCryptography
package import KCDeviceIdentity
package import KCKeychainModel

/// When files that are encrypted to a key of a keychain can be opened, by Apple's names of file protection.
package enum FileKeyClass: String, CaseIterable, Sendable {
    /// While the keychain is unlocked, as they can be written.
    case complete
    /// While the keychain is unlocked; they can be written at any time.
    case unlessOpen = "unless-open"
    /// Once the keychain was unlocked since the machine was started.
    case untilFirstUnlock = "until-first-unlock"

    /// The accessibility whose class key wraps the keys of these files.
    package var accessibility: Accessibility {
        switch self {
        case .complete, .unlessOpen: .whenUnlockedThisDeviceOnly
        case .untilFirstUnlock: .afterFirstUnlockThisDeviceOnly
        }
    }
}

/// A key pair (X25519, RFC 7748) to which the files of a class are encrypted.
package final class FileKey: Sendable {
    /// Of each half, in bytes.
    package static let size = 32

    /// The private half.
    package let secret: SecretBytes
    /// The public half.
    package let publicKey: [UInt8]

    init(_ secret: consuming SecretBytes) throws(CryptographyFailure) {
        publicKey = try X25519.publicKey(of: secret)
        self.secret = secret
    }
}

/// The keys of files in a keybag (docs/keychain-file.md, "Keys of files").
///
/// A class has a key once one was needed, and another one with each passcode. Earlier ones are kept, so that files stay
/// readable.
package struct WrappedFileKeys: Hashable, Sendable {
    /// Private halves, newest first, each wrapped under a key derived from the class key.
    var wrapped: [FileKeyClass: [[UInt8]]] = [:]
    /// The public half of the newest key of `unless-open`, the only one that is known while the keychain is locked.
    var publicKey: [UInt8]?

    /// The maximum number of keys of a class; from then on, the newest one stays when the passcode is changed, since
    /// without an older one its files would be lost.
    package static let limit = 32
    static let wrappedSize = FileKey.size + AESKeyWrap.overhead
    private static let label = Array("kcbackup/v1/file-key".utf8)

    /// Creates an empty set.
    package init() {}

    var isEmpty: Bool { wrapped.isEmpty }

    /// Appends the member of the keybag; nothing if there are no keys.
    func write(into text: inout [UInt8]) {
        if isEmpty { return }
        var isFirst = true
        CanonicalJSON.literal(",\"files\":{", into: &text)
        for fileClass in FileKeyClass.allCases {
            guard let keys = wrapped[fileClass] else { continue }
            let list = keys.map { "\"\(Base64.encode($0))\"" }.joined(separator: ",")
            CanonicalJSON.literal("\(isFirst ? "" : ",")\"\(fileClass.rawValue)\":[\(list)]", into: &text)
            isFirst = false
        }
        if let publicKey { CanonicalJSON.literal(",\"public\":\"\(Base64.encode(publicKey))\"", into: &text) }
        CanonicalJSON.literal("}", into: &text)
    }

    /// The keys of a class, newest first, if there is a class key.
    ///
    /// - Throws: `CryptographyFailure` (`authentication` if they were not wrapped under it, or if the public half is another
    ///   one's).
    func keys(_ fileClass: FileKeyClass, under keys: ClassKeys) throws(CryptographyFailure) -> [FileKey]? {
        guard let classKey = keys[fileClass.accessibility] else { return nil }
        let wrapping = try Self.wrappingKey(classKey, fileClass)
        var opened: [FileKey] = []
        for key in wrapped[fileClass] ?? [] { opened.append(try FileKey(AESKeyWrap.unwrap(key, with: wrapping))) }
        // Only the device vouches for the public half, and it could be of somebody else's key.
        if fileClass == .unlessOpen, opened.first?.publicKey != publicKey { throw .authentication }
        return opened
    }

    /// Adds a key to each class that has none, if there is a class key.
    mutating func complete(under keys: ClassKeys) throws(CryptographyFailure) {
        for fileClass in FileKeyClass.allCases where wrapped[fileClass] == nil {
            guard let classKey = keys[fileClass.accessibility] else { continue }
            let key = try FileKey(X25519.generatePrivateKey())
            try set([key], of: fileClass, under: classKey)
        }
    }

    /// The keys for another passcode: each class that has a key gets a new one.
    func renewed(from old: ClassKeys, to new: ClassKeys) throws(CryptographyFailure) -> WrappedFileKeys {
        var renewed = WrappedFileKeys()
        for fileClass in wrapped.keys {
            guard let kept = try keys(fileClass, under: old), let classKey = new[fileClass.accessibility] else {
                throw .unsupportedParameters("class key of files")
            }
            let newest = kept.count < Self.limit ? [try FileKey(X25519.generatePrivateKey())] : []
            try renewed.set(newest + kept, of: fileClass, under: classKey)
        }
        return renewed
    }

    private mutating func set(
        _ keys: [FileKey], of fileClass: FileKeyClass, under classKey: ClassKey
    ) throws(CryptographyFailure) {
        let wrapping = try Self.wrappingKey(classKey, fileClass)
        var list: [[UInt8]] = []
        for key in keys { list.append(try AESKeyWrap.wrap(key.secret, with: wrapping)) }
        wrapped[fileClass] = list
        if fileClass == .unlessOpen { publicKey = keys.first?.publicKey }
    }

    private static func wrappingKey(
        _ key: ClassKey, _ fileClass: FileKeyClass
    ) throws(CryptographyFailure) -> SecretBytes {
        var wrapping = SecretBytes(capacity: ClassKey.size)
        let info = label + Array(fileClass.rawValue.utf8)
        try key.expander.expand(info: info.span, into: &wrapping)
        return wrapping
    }
}

extension Keybag {
    /// The keys of the files of a class, newest first; nil if they cannot be opened now, and none if none was ever needed.
    package func fileKeys(_ fileClass: FileKeyClass, under keys: ClassKeys) throws(KeybagFailure) -> [FileKey]? {
        do throws(CryptographyFailure) {
            return try files.keys(fileClass, under: keys)
        } catch {
            throw Self.failure(error)
        }
    }

    /// True if files may be encrypted to keys in it.
    package var hasFileKeys: Bool { !files.isEmpty }

    /// The public half of the newest key of a class, if it is known without the class key.
    package func openFilePublicKey(_ fileClass: FileKeyClass) -> [UInt8]? {
        fileClass == .unlessOpen ? files.publicKey : nil
    }

    /// The same keybag with a key for each class of files that has none and whose class key is at hand.
    package func withFileKeys(
        under keys: ClassKeys, _ deviceKey: DeviceKey
    ) throws(CryptographyFailure) -> Keybag {
        var contents = contents
        try contents.files.complete(under: keys)
        return try Keybag(contents, passcodeCode: passcodeCode, DeviceKeys(deviceKey, uuid))
    }

    /// The keys of files, wrapped for the class keys of another passcode.
    package func renewedFileKeys(from old: ClassKeys, to new: ClassKeys) throws(KeybagFailure) -> WrappedFileKeys {
        do throws(CryptographyFailure) {
            return try files.renewed(from: old, to: new)
        } catch {
            throw Self.failure(error)
        }
    }

    /// The keys of files as they are, for a keybag of the same class keys.
    package var sameFileKeys: WrappedFileKeys { files }
}
