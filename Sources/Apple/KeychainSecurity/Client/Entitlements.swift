internal import Foundation
internal import KCByteStreams

/// A program's entitlements, read from a property list; only its access groups are used.
///
/// Entitlements are a convention among cooperating programs of one user, not a boundary against a hostile one: any
/// program that can read the keychain file and the device key can read everything.
struct Entitlements {
    let accessGroups: AccessGroups

    // Real programs' entitlements are smaller than 64 KiB.
    private static let sizeLimit = 1 << 20

    /// The entries that name groups, in order of precedence, as in Apple's keychain.
    private struct Entries: Decodable {
        let groups: Names?
        let associated: Names?
        let application: Names?
        let shared: Names?

        enum CodingKeys: String, CodingKey {
            case groups = "keychain-access-groups"
            case associated = "com.apple.developer.associated-application-identifier"
            case application = "application-identifier"
            case shared = "com.apple.security.application-groups"
        }
    }

    /// A string, or an array of strings.
    private struct Names: Decodable {
        let texts: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                texts = [text]
            } else {
                texts = try container.decode([String].self)
            }
        }
    }

    /// Parses a property list (XML or binary).
    init(contentsOf path: String) throws(KeychainClientFailure) {
        guard let file = FileHandle(forReadingAtPath: path) else { throw .entitlementsUnreadable(path: path) }
        // `read` returns nil for an empty file.
        guard let bytes = try? file.read(upToCount: Self.sizeLimit + 1) ?? Data(), bytes.count <= Self.sizeLimit else {
            throw .entitlementsUnreadable(path: path)
        }
        guard let entries = try? PropertyListDecoder().decode(Entries.self, from: bytes) else {
            throw .entitlementsMalformed(path: path)
        }
        var groups: [String] = []
        for names in [entries.groups, entries.associated, entries.application, entries.shared] {
            for group in names?.texts ?? [] where !groups.contains(group) { groups.append(group) }
        }
        accessGroups = AccessGroups(ordered: groups)
    }

    /// Returns the access groups of a program: those in `NAME.entitlements` next to it, or its own name if there is no
    /// such file.
    ///
    /// - Throws: `KeychainClientFailure`, also if the file exists but cannot be read.
    static func groups(ofExecutable path: String) throws(KeychainClientFailure) -> AccessGroups {
        let list = path + ".entitlements"
        // If existence cannot be determined, reading the file fails with the reason.
        if (try? Path.exists(list)) != false { return try Entitlements(contentsOf: list).accessGroups }
        let name = path.exact.split(separator: "/").last ?? ""
        guard !name.isEmpty else { throw .executableUnknown }
        return AccessGroups(ordered: [name])
    }

    /// Returns the path of this process's executable.
    static func executable() throws(KeychainClientFailure) -> String {
        // Ask the kernel (proc(5)); argv[0] can be anything.
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            throw .executableUnknown
        }
        return program(at: path)
    }

    /// Returns the path that a `/proc` link points to, without the " (deleted)" that the kernel appends after an
    /// upgrade replaces the executable of a running program.
    static func program(at link: String) -> String {
        let mark = " (deleted)"
        guard let path = link.exact.removingSuffix(mark), (try? Path.exists(link)) == false else { return link }
        return path
    }
}
