internal import ByteStreams
internal import Cryptography

/// Whether a device key was made on the machine that runs now.
package enum MachineMatch: Hashable, Sendable {
    /// The machine ID is the one that the key was made or adopted under.
    case same
    /// It is another one: the home folder was copied, or the system reinstalled.
    case different
    /// The key file names no machine, or this system has no machine ID.
    case unknown
}

/// What a key file remembers of a machine: a hash of its machine ID, or nothing.
///
/// machine-id(5) asks not to show the ID itself, hence the hash with a label of ours. It is no secret and no protection
/// against somebody who wants to deceive: it notices copies made in good faith.
struct MachineIdentity: Hashable {
    /// The word for nothing in a key file.
    static let none = "none"
    // A machine ID is 33 bytes; a larger file is not one.
    private static let sizeLimit = 256

    /// Nil when no machine ID is known.
    let digest: SHA256Digest?

    /// Nothing is known of the machine.
    static let unknown = MachineIdentity(digest: nil)

    private init(digest: SHA256Digest?) {
        self.digest = digest
    }

    /// Hashes a machine ID, which is 32 lower-case hexadecimal digits; anything else (`uninitialized`) is none.
    init(machineID text: some StringProtocol) {
        guard text.utf8.count == 32, Hexadecimal.decode(text) != nil else {
            digest = nil
            return
        }
        digest = SHA256.hash((DerivationLabel.machineID.bytes + Array(text.utf8)).span)
    }

    /// Reads what `description` wrote; nil for anything else.
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
    /// A missing file, or one that is not a plain small file (containers, image builds), is a machine without an ID.
    ///
    /// - Throws: `FileFailure.system` when the file is there and cannot be read.
    static func current(_ path: String) throws(FileFailure) -> MachineIdentity {
        do throws(FileFailure) {
            let bytes = try PrivateFile.readPublic(path, limit: sizeLimit)
            var text = bytes.withBytes { span in String(decoding: span.indices.map { span[$0] }, as: UTF8.self) }
            if text.hasSuffix("\n") { text.removeLast() }
            return MachineIdentity(machineID: text)
        } catch {
            switch error.problem {
            case .notFound, .notRegular, .tooLarge: return .unknown
            case .exists, .exposed, .foreignOwner, .sharedFolder, .foreignFolder, .busy, .noSafeNaming, .system:
                throw error
            }
        }
    }

    /// Compares what a key file remembers with the machine that runs now.
    func match(_ current: MachineIdentity) -> MachineMatch {
        guard let digest, let currentDigest = current.digest else { return .unknown }
        return digest == currentDigest ? .same : .different
    }
}
