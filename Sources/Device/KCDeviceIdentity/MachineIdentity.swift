internal import KCByteStreams
internal import KCCryptography

/// Whether a device key was created on the current machine.
package enum MachineMatch: Hashable, Sendable {
    /// The key was created or adopted under this machine ID.
    case same
    /// The machine ID is different: the home folder was copied, or the system reinstalled.
    case different
    /// The key file names no machine, or this system has no machine ID.
    case unknown
}

/// The machine recorded in a key file: a hash of its machine ID, or nothing.
///
/// machine-id(5) asks programs not to expose the ID itself, so it is hashed with a label of this program. The hash is
/// not a secret and does not protect against deception; it detects copies made in good faith.
struct MachineIdentity: Hashable {
    /// The text in a key file for an unknown machine.
    static let none = "none"
    // A machine ID is 33 bytes; a larger file is not one.
    private static let sizeLimit = 256

    /// Nil if the machine ID is unknown.
    let digest: SHA256Digest?

    /// No machine ID.
    static let unknown = MachineIdentity(digest: nil)

    private init(digest: SHA256Digest?) {
        self.digest = digest
    }

    /// Hashes a machine ID of 32 lower-case hexadecimal digits; anything else (`uninitialized`) counts as no ID.
    init(machineID text: some StringProtocol) {
        guard text.utf8.count == 32, Hexadecimal.decode(text) != nil else {
            digest = nil
            return
        }
        digest = SHA256.hash((DerivationLabel.machineID.bytes + Array(text.utf8)).span)
    }

    /// Parses a `description`; nil for anything else.
    init?(parsing text: some StringProtocol) {
        if text == Self.none {
            digest = nil
        } else {
            guard let digest = SHA256Digest(hex: text) else { return nil }
            self.digest = digest
        }
    }

    /// 64 hexadecimal digits, or `none`.
    var description: String { digest?.hex ?? Self.none }

    /// Reads the machine ID of this system.
    ///
    /// A missing file, or one that is not a small regular file (containers, image builds), means no machine ID.
    ///
    /// - Throws: `FileFailure.system` if the file exists but cannot be read.
    static func current(_ path: String) throws(FileFailure) -> MachineIdentity {
        do throws(FileFailure) {
            let bytes = try PrivateFile.readPublic(path, limit: sizeLimit)
            var text = bytes.withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
            if let line = text.exact.removingSuffix("\n") { text = line }
            return MachineIdentity(machineID: text)
        } catch {
            switch error.problem {
            case .notFound, .notRegular, .tooLarge: return .unknown
            case .exists, .notFolder, .exposed, .foreignOwner, .sharedFolder, .foreignFolder, .busy, .changed,
                .displaced, .remains, .noSafeNaming, .system:
                throw error
            }
        }
    }

    /// Compares the recorded machine with the current one.
    func match(_ current: MachineIdentity) -> MachineMatch {
        guard let digest, let currentDigest = current.digest else { return .unknown }
        return digest == currentDigest ? .same : .different
    }
}
