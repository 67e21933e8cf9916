internal import ByteStreams
internal import Foundation

/// What a program says about itself in a property list: here, which access groups it uses.
///
/// This is a convention among cooperating programs of one user, and no boundary against a hostile one: whoever can read
/// the keychain file and the device key can read everything.
struct Entitlements {
    let accessGroups: AccessGroups

    // Entitlements of real programs are below 64 KiB.
    private static let sizeLimit = 1 << 20

    /// The entries that name groups, in the order in which they count; Apple's keychain has the same.
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

    /// One text, or a list of them.
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

    /// Reads a property list (XML or binary).
    ///
    /// - Throws: `KeychainClientFailure`.
    init(contentsOf path: String) throws(KeychainClientFailure) {
        guard let file = FileHandle(forReadingAtPath: path) else { throw .entitlementsUnreadable(path: path) }
        // An empty file gives nil.
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

    /// The groups of a program: those of `NAME.entitlements` beside it, or where there is no such file its own name.
    ///
    /// - Throws: `KeychainClientFailure`: a file that cannot be read is not passed over.
    static func groups(ofExecutable path: String) throws(KeychainClientFailure) -> AccessGroups {
        let list = path + ".entitlements"
        // Where nobody can tell, reading it says why.
        if (try? Path.exists(list)) != false { return try Entitlements(contentsOf: list).accessGroups }
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        guard !name.isEmpty else { throw .executableUnknown }
        return AccessGroups(ordered: [name])
    }

    /// Where the program of this process is.
    ///
    /// - Throws: `KeychainClientFailure` (`executableUnknown`).
    static func executable() throws(KeychainClientFailure) -> String {
        // The kernel's own word (proc(5)); a program can call itself anything.
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            throw .executableUnknown
        }
        return program(at: path)
    }

    /// The path of a program that the kernel calls `link`: one that was replaced while it runs is marked as deleted, and
    /// is still the same program.
    static func program(at link: String) -> String {
        let mark = " (deleted)"
        return link.hasSuffix(mark) && (try? Path.exists(link)) == false ? String(link.dropLast(mark.count)) : link
    }
}
