internal import KCByteStreams
internal import KCItemSources
internal import KCTarArchive

/// An export that is a zip file, with its members in wiped memory.
final class ForeignZip {
    /// The names of all members.
    let names: Set<ExactText>
    private var members: [ExactText: ForeignAttachment] = [:]
    /// The number of members that were taken.
    private var taken = 0

    /// Reads the members for which `wants` returns true.
    ///
    /// - Throws: `ForeignFailure` (`damaged`, `limit`); `StreamFailure` if the cause is not the file itself.
    init(_ file: ForeignFile, wants: (String) -> Bool) throws {
        var members: [ExactText: ForeignAttachment] = [:]
        names = try file.bytes.withBytes { bytes in
            try Self.explaining(
                ZipFile.read(bytes, wants: wants) { name, bytes in
                    members[name.exact] = ForeignAttachment(name: name, bytes)
                })
        }
        self.members = members
    }

    /// The names of the members; nil if the file does not begin like a zip file.
    ///
    /// - Throws: as `init`.
    static func names(in input: ForeignInput) throws -> Set<ExactText>? {
        guard let file = input.file else { return nil }
        return try file.bytes.withBytes { bytes in
            guard ZipFile.begins(bytes) else { return nil }
            return try explaining(ZipFile.names(in: bytes))
        }
    }

    /// Removes and returns a member; nil if there is none.
    func take(_ name: String) -> ForeignAttachment? {
        guard let member = members.removeValue(forKey: name.exact) else { return nil }
        taken += 1
        return member
    }

    /// A member that was read; nil if there is none.
    func bytes(of name: String) -> ForeignAttachment? { members[name.exact] }

    /// Counts the files that were not taken, whether they were read or not.
    func countRest(in collector: RecordCollector) {
        collector.leaveOut("file of no imported record", names.count { !$0.string.exact.hasSuffix("/") } - taken)
    }

    /// The names of the members that were read but not taken.
    var rest: [String] { members.keys.sorted().map(\.string) }

    /// Takes a member and parses it as JSON.
    func json(_ name: String) throws(ForeignFailure) -> ForeignJSON {
        guard let member = take(name) else { throw .damaged("'\(name)' is missing from it") }
        return try ForeignJSON(member.bytes.copy())
    }

    private static func explaining<Result>(_ call: @autoclosure () throws(StreamFailure) -> Result) throws -> Result {
        do throws(StreamFailure) {
            return try call()
        } catch {
            switch error.kind {
            case .malformed(let rule): throw ForeignFailure.damaged("it is a zip file: \(rule)")
            case .truncated: throw ForeignFailure.damaged("it is a zip file that ends too early")
            case .limitExceeded(let name, let found, let allowed):
                throw ForeignFailure.limit(name, found: found ?? UInt64(allowed) + 1, allowed: UInt64(allowed))
            default: throw error
            }
        }
    }
}
