internal import KCByteStreams
internal import KCDeviceIdentity
internal import KCFleetIndex
internal import KCKeychainModel
internal import KCReportText
internal import KCTerminal

/// The results of an indexer, as text and JSON.
struct FleetIndexView {
    let report: FleetIndexReport
    /// How many archives this run and earlier ones could not read.
    let unread: Int
    /// The index as it was named.
    let path: String

    // Of files that are named in text; `--json` has more.
    private static let fileLimit = 20

    /// The files whose items are not in the index, or no longer looked for, with the reason.
    private var rejected: [(file: String, problem: String)] {
        report.rejected.map { ($0.path, $0.problem.words) }
            + report.unfetched.map { ($0, "could not be fetched") }
            + report.unknown.map { ($0.key.description, $0.value) }.sorted { $0.0.exact < $1.0.exact }.map {
                ($0.0, "\(counted($0.1, "archive")) of a device that no list has")
            }
            + report.strange.map { ($0, "not the name of an archive") }
    }

    private var rejectedCount: Int {
        report.rejected.count + report.unfetched.count + report.unknown.count + report.strangeCount
    }

    /// The lines of text.
    var lines: [String] {
        let files = rejected.prefix(Self.fileLimit).map { "\(displayed($0.file, limit: 200)): \($0.problem)\n" }
        let more = rejectedCount - files.count
        let left = report.listed - report.known - report.added
        return files + (more > 0 ? ["… and \(counted(more, "more file", plural: "more files"))\n"] : [])
            + [
                "\(counted(report.listed, "archive")): \(report.added) added with "
                    + "\(counted(report.newItems, "new item")), \(report.known) known, \(left) left out\n"
            ] + (unread > 0 ? ["\(counted(unread, "archive")) in the index could not be read\n"] : [])
    }

    /// The problem, in a sentence; nil if there is none.
    var doubt: String? {
        let left = report.listed - report.known - report.added
        let archives =
            left > 0
            ? ["\(counted(left, "archive")) left out of the index"]
            : unread > 0 ? ["\(counted(unread, "archive")) in the index could not be read"] : []
        let files =
            report.strangeCount == 0
            ? []
            : [
                "\(counted(report.strangeCount, "file")) among the archives that \(report.strangeCount == 1 ? "is" : "are") none"
            ]
        return archives.isEmpty && files.isEmpty ? nil : (archives + files).joined(separator: ", and ")
    }

    /// The JSON object of `fleet index`.
    var json: JSONValue {
        [
            "index": .text(path), "listed": .number(report.listed), "known": .number(report.known),
            "added": .number(report.added), "newItems": .number(report.newItems),
            "rejected": .list(rejected.map { ["file": .text($0.file), "problem": .text($0.problem)] }),
            "rejectedCount": .number(rejectedCount), "unread": .number(unread),
        ]
    }
}

extension IndexProblem {
    /// The problem in a few words.
    var words: String {
        switch self {
        case .noKey: "no key opens it"
        case .otherDevice(let device): "made by another device, \(device)"
        case .damaged(let rule): "damaged: \(rule)"
        case .newerFormat: "of a newer format"
        case .limit(let what): "too large: \(what)"
        case .copy: "a copy of another archive of this machine"
        }
    }
}
