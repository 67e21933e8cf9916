import Foundation

/// A file or folder of a recorded disk.
struct DiskFile: Sendable {
    enum Contents: Sendable {
        case file([UInt8])
        /// The names in a folder, with the places of their files in ``DiskRecord/files``.
        case folder([String: Int])
    }

    var contents: Contents
    var mode: Int
    /// When it was changed; nil for a file of the recorded run.
    var changed: timespec?
}

/// The files below a folder, and what a run did to them.
struct DiskRecord: Sendable {
    /// A change of what a folder holds.
    struct Entry: Sendable {
        let folder: Int
        let name: String
        /// Nil if the name is removed.
        let file: Int?
    }

    enum Event: Sendable {
        case write(file: Int, at: Int, [UInt8])
        case truncate(file: Int, to: Int)
        case mode(file: Int, Int)
        case time(file: Int, timespec)
        /// Entries that change together, as a rename does.
        case entries([Entry])
        /// A file or folder was synced.
        case sync(Int)
    }

    /// The files before the run, then those that it made, empty; the first one is the folder.
    fileprivate(set) var files: [DiskFile]
    fileprivate(set) var events: [Event] = []

    /// The files before a run, as they are in a folder.
    fileprivate init(folder: String) throws {
        var files: [DiskFile] = []
        try Self.read(folder, into: &files)
        self.files = files
    }

    @discardableResult
    private static func read(_ path: String, into files: inout [DiskFile]) throws -> Int {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw CocoaError(.fileReadUnknown) }
        let place = files.count
        files.append(DiskFile(contents: .folder([:]), mode: Int(status.st_mode & 0o7777), changed: status.st_mtim))
        switch status.st_mode & S_IFMT {
        case S_IFREG: files[place].contents = .file([UInt8](try Data(contentsOf: URL(filePath: path))))
        case S_IFDIR:
            var entries: [String: Int] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: path).sorted() {
                entries[name] = try read(path + "/" + name, into: &files)
            }
            files[place].contents = .folder(entries)
        default: throw CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: path])
        }
        return place
    }

    /// The same run with only the events that meet a condition.
    func keeping(_ condition: (Event) -> Bool) -> DiskRecord {
        var record = self
        record.events = events.filter(condition)
        return record
    }
}

extension DiskRecord {
    /// The strace options that print what ``init(folder:_:below:)`` reads.
    static let options = ["-f", "-qq", "-y", "-xx", "-s", "16777216", "-e", "trace=" + calls.joined(separator: ",")]

    private static let calls = [
        "open", "openat", "creat", "write", "pwrite64", "writev", "pwritev", "pwritev2", "ftruncate", "truncate",
        "fallocate", "fsync", "fdatasync", "mkdir", "mkdirat", "rename", "renameat", "renameat2", "link", "linkat",
        "unlink", "unlinkat", "rmdir", "symlink", "symlinkat", "chmod", "fchmod", "fchmodat", "utimensat",
        "copy_file_range", "sendfile", "splice", "lseek",
    ]

    /// Records what a run did to a copy of `folder` that was at `home`.
    ///
    /// - Throws: `TracedCall.Unreadable` if the trace has a call whose effect is not known.
    init(folder: String, _ trace: [UInt8], below home: String) throws {
        var recorder = DiskRecorder(try DiskRecord(folder: folder), home: home)
        for call in try TracedCall.all(in: trace) where call.result >= 0 { try recorder.follow(call) }
        self = recorder.record
    }
}

/// Follows the calls of a run, so that it is known which file each one means.
private struct DiskRecorder {
    private struct Descriptor: Hashable {
        let number: Int
        let file: Int
    }

    var record: DiskRecord
    private let home: String
    /// The present contents of each folder, and the length of each file.
    private var folders: [Int: [String: Int]] = [:]
    private var lengths: [Int: Int] = [:]
    /// The files without a name, by the path that strace prints.
    private var nameless: [String: Int] = [:]
    private var opened: [Int: Int] = [:]
    private var positions: [Descriptor: Int] = [:]
    private var appending: Set<Descriptor> = []

    init(_ record: DiskRecord, home: String) {
        self.record = record
        self.home = home
        for (place, file) in record.files.enumerated() {
            switch file.contents {
            case .file(let bytes): lengths[place] = bytes.count
            case .folder(let entries): folders[place] = entries
            }
        }
    }

    mutating func follow(_ call: TracedCall) throws {
        switch call.name {
        case "open", "openat", "creat": try open(call)
        case "write", "pwrite64": try write(call)
        case "ftruncate":
            if let file = try file(call, 0) { truncate(file, to: try call.number(1)) }
        case "fsync", "fdatasync":
            if !call.isInjected, let file = try file(call, 0) { record.events.append(.sync(file)) }
        case "mkdir": try makeFolder(place(call, nil, 0), mode: call.number(1))
        case "mkdirat": try makeFolder(place(call, 0, 1), mode: call.number(2))
        case "rename": try rename(place(call, nil, 0), place(call, nil, 1))
        case "renameat": try rename(place(call, 0, 1), place(call, 2, 3))
        case "renameat2":
            let (one, other) = try (place(call, 0, 1), place(call, 2, 3))
            if call.has(4, "RENAME_EXCHANGE") { try exchange(one, other) } else { try rename(one, other) }
        case "link": try link(file(at: place(call, nil, 0)), place(call, nil, 1))
        case "linkat": try link(linked(call), place(call, 2, 3))
        case "unlink", "rmdir": try remove(place(call, nil, 0))
        case "unlinkat": try remove(place(call, 0, 1))
        case "chmod": try setMode(file(at: place(call, nil, 0)), call.number(1))
        case "fchmod": try setMode(file(call, 0), call.number(1))
        case "fchmodat": try setMode(file(at: place(call, 0, 1)), call.number(2))
        case "utimensat": try setTime(call)
        case "lseek":
            if let file = try file(call, 0), let number = TracedCall.descriptor(call.arguments[0])?.number {
                positions[Descriptor(number: number, file: file)] = call.result
            }
        default:
            if try call.arguments.indices.contains(where: { index in try file(call, index) != nil }) {
                throw call.unreadable()
            }
        }
    }

    // MARK: Which file is meant

    private typealias Place = (folder: Int, name: String, path: String)

    /// The place that the path in an argument means; nil outside the home.
    private func place(_ call: TracedCall, _ folder: Int?, _ index: Int) throws -> Place? {
        let text = try call.text(index)
        var path = text
        if !text.hasPrefix("/") {
            let base = try folder.map { folder in
                guard let base = TracedCall.descriptor(call.arguments[folder])?.path else { throw call.unreadable() }
                return base
            }
            path = (base ?? home) + "/" + text
        }
        return try place(path)
    }

    private func place(_ path: String) throws -> Place? {
        guard path == home || path.hasPrefix(home + "/") else { return nil }
        var names = path.dropFirst(home.count).split(separator: "/").map(String.init).filter { $0 != "." }
        let path = ([home] + names).joined(separator: "/")
        guard let last = names.popLast() else { return (0, ".", home) }
        var folder = 0
        for name in names {
            guard let next = folders[folder]?[name] else { throw CocoaError(.fileNoSuchFile) }
            folder = next
        }
        return (folder, last, path)
    }

    private func file(at place: Place?) -> Int? {
        guard let place else { return nil }
        return place.name == "." ? place.folder : folders[place.folder]?[place.name]
    }

    /// The file that a descriptor in an argument means; nil outside the home.
    private func file(_ call: TracedCall, _ index: Int) throws -> Int? {
        guard let descriptor = TracedCall.descriptor(call.arguments[index]),
            descriptor.path.hasPrefix(home + "/")
                || descriptor.path == home
        else { return nil }
        let found = descriptor.isNameless ? nameless[descriptor.path] : file(at: try place(descriptor.path))
        guard let found else { throw call.unreadable() }
        return found
    }

    /// The file that linkat(2) links, often one without a name by the path of its descriptor.
    private func linked(_ call: TracedCall) throws -> Int? {
        let path = try call.text(1)
        guard path.hasPrefix("/proc/") else { return file(at: try place(call, 0, 1)) }
        guard let number = path.split(separator: "/").last.flatMap({ Int($0) }) else { throw call.unreadable() }
        return opened[number]
    }

    // MARK: What a call does

    private mutating func open(_ call: TracedCall) throws {
        let (path, flags) = call.name == "openat" ? (1, 2) : (0, 1)
        if call.name == "creat" { throw call.unreadable() }
        guard let descriptor = TracedCall.descriptor(call.resultWord), let number = descriptor.number else {
            throw call.unreadable()
        }
        opened[number] = nil
        guard let place = try place(call, call.name == "openat" ? 0 : nil, path) else { return }
        let file: Int
        if call.has(flags, "O_TMPFILE") {
            file = try make(.file([]), mode: call.number(flags + 1))
            nameless[descriptor.path] = file
        } else if let found = self.file(at: place) {
            file = found
            if call.has(flags, "O_TRUNC") { truncate(file, to: 0) }
        } else {
            file = try make(.file([]), mode: call.number(flags + 1))
            change([.init(folder: place.folder, name: place.name, file: file)])
        }
        opened[number] = file
        positions[Descriptor(number: number, file: file)] = 0
        if call.has(flags, "O_APPEND") { appending.insert(Descriptor(number: number, file: file)) }
    }

    private mutating func write(_ call: TracedCall) throws {
        guard let file = try file(call, 0), let number = TracedCall.descriptor(call.arguments[0])?.number else {
            return
        }
        let descriptor = Descriptor(number: number, file: file)
        let bytes = Array(try call.bytes(1).prefix(call.result))
        let start: Int
        if call.name == "pwrite64" {
            start = try call.number(3)
        } else {
            start = appending.contains(descriptor) ? lengths[file, default: 0] : positions[descriptor, default: 0]
            positions[descriptor] = start + bytes.count
        }
        record.events.append(.write(file: file, at: start, bytes))
        lengths[file] = max(lengths[file, default: 0], start + bytes.count)
    }

    private mutating func truncate(_ file: Int, to length: Int) {
        record.events.append(.truncate(file: file, to: length))
        lengths[file] = length
    }

    private mutating func make(_ contents: DiskFile.Contents, mode: Int) -> Int {
        record.files.append(DiskFile(contents: contents, mode: mode & ~0o077))
        if case .folder = contents { folders[record.files.count - 1] = [:] }
        return record.files.count - 1
    }

    private mutating func makeFolder(_ place: Place?, mode: Int) {
        guard let place else { return }
        change([.init(folder: place.folder, name: place.name, file: make(.folder([:]), mode: mode))])
    }

    private mutating func rename(_ old: Place?, _ new: Place?) throws {
        guard let old, let new, let file = file(at: old) else {
            if old == nil, new == nil { return }
            throw CocoaError(.fileNoSuchFile)
        }
        if let replaced = self.file(at: new) { nameless[new.path] = replaced }
        change([
            .init(folder: old.folder, name: old.name, file: nil), .init(folder: new.folder, name: new.name, file: file),
        ])
    }

    private mutating func exchange(_ one: Place?, _ other: Place?) throws {
        if one == nil, other == nil { return }
        guard let one, let other, let first = file(at: one), let second = file(at: other) else {
            throw CocoaError(.fileNoSuchFile)
        }
        change([
            .init(folder: one.folder, name: one.name, file: second),
            .init(folder: other.folder, name: other.name, file: first),
        ])
    }

    private mutating func link(_ file: Int?, _ new: Place?) throws {
        guard let new else { return }
        guard let file else { throw CocoaError(.fileNoSuchFile) }
        change([.init(folder: new.folder, name: new.name, file: file)])
    }

    private mutating func remove(_ place: Place?) {
        guard let place else { return }
        if let file = file(at: place) { nameless[place.path] = file }
        change([.init(folder: place.folder, name: place.name, file: nil)])
    }

    private mutating func change(_ entries: [DiskRecord.Entry]) {
        record.events.append(.entries(entries))
        for entry in entries { folders[entry.folder, default: [:]][entry.name] = entry.file }
    }

    private mutating func setMode(_ file: Int?, _ mode: Int) {
        if let file { record.events.append(.mode(file: file, mode)) }
    }

    /// The second of the two times, which is that of the last change; none means now, as in a rebuilt file.
    private mutating func setTime(_ call: TracedCall) throws {
        let isNamed = call.arguments[1].first == UInt8(ascii: "\"")
        guard let file = isNamed ? file(at: try place(call, 0, 1)) : try file(call, 0) else { return }
        let words = String(decoding: call.arguments[2], as: UTF8.self)
        let times = words.matches(of: /tv_sec=(\d+), tv_nsec=(\d+)/)
        guard times.count == 2, let seconds = Int(times[1].output.1), let nanoseconds = Int(times[1].output.2) else {
            if words == "NULL" { return }
            throw call.unreadable()
        }
        record.events.append(.time(file: file, timespec(tv_sec: seconds, tv_nsec: nanoseconds)))
    }
}
