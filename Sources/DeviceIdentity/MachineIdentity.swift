internal import ByteStreams
internal import Cryptography

/// Whether a device key was made on the machine that runs now.
public enum MachineMatch: Hashable, Sendable {
    /// The machine ID is the one of then.
    case same
    /// Another machine ID: a copied home folder, or a system installed anew.
    case different
    /// Then or now there was no machine ID.
    case unknown
}

/// A hash of systemd's machine ID, which itself must not be shown (machine-id(5)).
struct MachineHash: Hashable, Sendable {
    let digest: SHA256Digest

    /// Reads the machine ID; nil where the system has none.
    static func read(_ path: String) throws(FileFailure) -> MachineHash? {
        let contents: SecretBytes
        do {
            // 32 digits and a line feed; a few more do no harm.
            contents = try PrivateFile.readPublic(path, limit: 256)
        } catch  where error.problem == .notFound || error.problem == .notRegular {
            return nil
        }
        var line = contents.withBytes { bytes in bytes.indices.map { bytes[$0] } }
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        // An image that has not booted yet says "uninitialized" or nothing.
        guard line.count == 32, Hexadecimal.decode(String(decoding: line, as: UTF8.self)) != nil else { return nil }
        return MachineHash(digest: SHA256.hash(DerivationLabel.machine.info(line).span))
    }

    /// Compares the hash of then with the one of now.
    static func match(_ then: MachineHash?, _ now: MachineHash?) -> MachineMatch {
        guard let then, let now else { return .unknown }
        return then == now ? .same : .different
    }
}
