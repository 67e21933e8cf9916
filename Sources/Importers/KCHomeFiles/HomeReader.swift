internal import KCByteStreams
internal import KCItemSources
internal import KCKeychainModel

/// Reads the files of a home, or the credentials of a system, that the table of the root names; follows no link, and reads
/// what belongs to the home's user alone.
package struct HomeReader: ~Copyable {
    private let root: HomeRoot
    private let home: OpenFolder
    private let owner: UInt32
    private var items = ItemCollection(date: .reference)
    private var summaries: [HomeContents.Summary] = []
    private var left: [HomeContents.Left] = []
    /// Where in `left` the symbolic links are.
    private var links: [(index: Int, path: HomePath)] = []
    private var unread: [(path: String, problem: HomeFile.Failure)] = []
    private var clear: [HomeContents.Clear] = []
    private var seen: Set<HomePath> = []
    /// The files that were taken, and the folders of which everything was.
    private var taken: Set<HomePath> = []
    private var size = 0
    private var boundCount = 0

    /// The maximum number of files: far above any store of passwords.
    package static let countLimit = 100_000
    /// The maximum size of all files together in bytes, since they are in memory at once.
    static let sizeLimit = 256 << 20

    /// Reads a home, or a system.
    ///
    /// - Parameter home: the path of the home, or of the system's root.
    /// - Throws: `FileFailure` for the home itself, `HomeFailure`, `StreamFailure` if interrupted.
    package static func read(_ home: String, _ root: HomeRoot = .home) throws -> HomeContents {
        let folder = try OpenFolder(home)
        var reader = HomeReader(root, folder, owner: try folder.status().owner)
        for source in root.sources {
            reader.summaries.append(HomeContents.Summary(title: source.title))
            for rule in source.rules { try reader.expand(rule, 0, reader.home, []) }
        }
        return try reader.finish()
    }

    private init(_ root: HomeRoot, _ home: OpenFolder, owner: UInt32) {
        self.root = root
        self.home = home
        self.owner = owner
    }

    private consuming func finish() throws -> HomeContents {
        // Credentials belong to root: without its rights, a backup of some of them would look like one of all.
        if root == .credentials, let first = unread.first(where: { $0.problem.isOfRights }) {
            throw HomeFailure.needsRoot(first.path)
        }
        for link in links { left[link.index].isMissed = leadsElsewhere(link.path) }
        let (summaries, left, unread, clear) = (summaries.filter { !$0.isEmpty }, left, unread, clear)
        let boundCount = boundCount
        do throws(ItemCollection.Clash) {
            return HomeContents(
                items: try items.finish(), sources: summaries, left: left, unread: unread, boundCount: boundCount,
                clear: clear)
        } catch {
            preconditionFailure("each file has a path of its own")
        }
    }

    /// True if a symbolic link leads to a file of the user's, or to a folder with any, that was not taken itself; also if that
    /// cannot be told.
    private func leadsElsewhere(_ link: HomePath) -> Bool {
        // The target of a link that leads nowhere may be on a disk that is not mounted.
        guard let target = Path.real("\(home.path)/\(link.text)"), let base = Path.real(home.path) else { return true }
        if let below = target.exact.removingPrefix(base == "/" ? base : base + "/"),
            let path = HomePath(below, in: root), taken.contains(path)
        {
            return false
        }
        let (folder, name) = Path.split(target)
        do throws(FileFailure) {
            // The root of the file system has no name, and a socket no content.
            guard !name.isEmpty, let status = try OpenFolder(folder).status(of: name), status.kind != .other,
                status.owner == owner
            else { return false }
            if status.kind != .folder { return true }
            return try hasFiles(OpenFolder(target), for: link)
        } catch {
            // The link may lead elsewhere: a folder that cannot be listed tells nothing, and is no reason to take no
            // file at all.
            return true
        }
    }

    /// True if a folder, in the place of a link, has anything that a rule takes.
    private func hasFiles(_ folder: OpenFolder, for link: HomePath) throws(FileFailure) -> Bool {
        for source in root.sources {
            for rule in source.rules {
                guard case .taken = rule.treatment, rule.pattern.isDeep || rule.pattern.parts.count > link.names.count,
                    zip(rule.pattern.parts, link.names).allSatisfy({ $0.matches($1) })
                else { continue }
                let rest = rule.pattern.parts.dropFirst(link.names.count)
                if try hasFiles(folder, rest, isDeep: rule.pattern.isDeep) { return true }
            }
        }
        return false
    }

    /// True if something in a folder has the form of these parts; what cannot be told by its name may have it.
    private func hasFiles(
        _ folder: OpenFolder, _ parts: ArraySlice<HomePattern.Part>, isDeep: Bool
    ) throws(FileFailure) -> Bool {
        var strange: [String] = []
        guard let part = parts.first else {
            let names = try folder.names(unreadable: &strange)
            return !names.isEmpty || !strange.isEmpty
        }
        let names: [String]
        if case .name(let name) = part { names = [name] } else { names = try folder.names(unreadable: &strange) }
        let isLast = parts.count == 1 && !isDeep
        for name in names where part.matches(name) && !HomeTable.isPassing(name) {
            guard let status = try folder.status(of: name) else { continue }
            switch status.kind {
            case .link: return true
            case .file: if isLast { return true }
            case .folder:
                if !isLast, try hasFiles(folder.folder(name), parts.dropFirst(), isDeep: isDeep) { return true }
            case .other: continue
            }
        }
        return false
    }

    /// Finds what has the form of a rule, from its part at `index` on.
    private mutating func expand(_ rule: HomeRule, _ index: Int, _ folder: OpenFolder, _ way: [String]) throws {
        if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
        guard index < rule.pattern.parts.count else { return try walk(rule, folder, way) }
        let part = rule.pattern.parts[index]
        let isLast = index == rule.pattern.parts.count - 1 && !rule.pattern.isDeep
        for name in names(part, in: folder, way) {
            guard let path = HomePath((way + [name]).joined(separator: "/"), in: root) else { continue }
            guard let status = status(of: name, in: folder, path) else { continue }
            if isLast {
                try take(rule, path, status, folder)
            } else if let next = self.folder(name, status, in: folder, path) {
                try expand(rule, index + 1, next, way + [name])
            }
        }
    }

    /// Takes everything in a folder.
    private mutating func walk(_ rule: HomeRule, _ folder: OpenFolder, _ way: [String]) throws {
        if case .taken = rule.treatment, let path = HomePath(way.joined(separator: "/"), in: root) {
            taken.insert(path)
        }
        var strange: [String] = []
        for name in list(folder, way, unreadable: &strange) {
            if Interruption.isRequested { throw StreamFailure(.reading, .interrupted) }
            let text = (way + [name]).joined(separator: "/")
            guard let path = HomePath(text, in: root) else {
                add(unread: text, .name)
                continue
            }
            if case .taken = rule.treatment, HomeTable.isHistory(name) {
                add(left: path, .history)
                continue
            }
            guard !seen.contains(path), let status = status(of: name, in: folder, path) else { continue }
            if status.kind == .folder {
                if let next = self.folder(name, status, in: folder, path) { try walk(rule, next, way + [name]) }
            } else {
                try take(rule, path, status, folder)
            }
        }
        for name in strange { add(unread: (way + [name]).joined(separator: "/"), .name) }
    }

    /// The names in a folder that a part of a pattern means.
    private mutating func names(_ part: HomePattern.Part, in folder: OpenFolder, _ way: [String]) -> [String] {
        if case .name(let name) = part { return [name] }
        // A name that is not UTF-8 is told by the rule for everything in the folder.
        var strange: [String] = []
        return list(folder, way, unreadable: &strange).filter(part.matches)
    }

    private mutating func list(_ folder: OpenFolder, _ way: [String], unreadable: inout [String]) -> [String] {
        do throws(FileFailure) {
            return try folder.names(unreadable: &unreadable).sorted { $0.exact < $1.exact }
        } catch {
            add(unread: way, .file(error))
            return []
        }
    }

    private mutating func status(of name: String, in folder: OpenFolder, _ path: HomePath) -> EntryStatus? {
        do throws(FileFailure) {
            return try folder.status(of: name)
        } catch {
            add(unread: path.names, .file(error))
            return nil
        }
    }

    /// Opens a folder on the way; nil if it is none, or none of the user's.
    private mutating func folder(
        _ name: String, _ status: EntryStatus, in folder: OpenFolder, _ path: HomePath
    ) -> OpenFolder? {
        switch status.kind {
        case .folder: break
        case .link:
            add(left: path, .link)
            return nil
        case .file, .other: return nil
        }
        guard status.owner == owner else {
            add(left: path, .otherOwner)
            return nil
        }
        do throws(FileFailure) {
            return try folder.folder(name)
        } catch {
            add(unread: path.names, .file(error))
            return nil
        }
    }

    private mutating func take(
        _ rule: HomeRule, _ path: HomePath, _ status: EntryStatus, _ folder: OpenFolder
    ) throws {
        switch rule.treatment {
        case .left(let reason): add(left: path, reason)
        case .taken(let file):
            // A later rule may be for what is in it.
            if status.kind == .folder { return }
            guard !seen.contains(path), let name = path.names.last else { return }
            if HomeTable.isPassing(name) { return add(left: path, .passing) }
            if status.kind != .file { return add(left: path, status.kind == .link ? .link : .special) }
            try read(name, path, file, folder)
        }
    }

    private mutating func read(
        _ name: String, _ path: HomePath, _ rule: HomeFileRule, _ folder: OpenFolder
    ) throws {
        do throws(HomeFile.Failure) {
            let file = try HomeFile.read(name, in: folder, owner: owner, rule)
            let item = HomeItem(path, file)
            try failing(as: HomeFile.Failure.item, items.add(item.draft, secret: file.bytes.copy()))
            seen.insert(path)
            taken.insert(path)
            if item.key?.isBoundToMachine ?? false { boundCount += 1 }
            if let kind = rule.clearText.kind(of: file.bytes) { clear.append(.init(path: path, kind: kind)) }
            size += file.bytes.count
            summaries[summaries.count - 1].taken += 1
            summaries[summaries.count - 1].size += UInt64(file.bytes.count)
        } catch {
            switch error {
            case .otherOwner: add(left: path, .otherOwner)
            case .tooLarge: add(left: path, .tooLarge)
            // The file was there a moment ago, and is gone or something else now.
            case .file(let failure) where failure.problem == .notFound: return
            case .file(let failure) where failure.problem == .notRegular: add(left: path, .special)
            case .stream(let failure) where failure.kind == .interrupted: throw failure
            default: add(unread: path.names, error)
            }
        }
        if items.count > Self.countLimit { throw HomeFailure.tooManyFiles(Self.countLimit) }
        if size > Self.sizeLimit { throw HomeFailure.tooLarge(Self.sizeLimit) }
    }

    private mutating func add(left path: HomePath, _ reason: HomeReason) {
        guard seen.insert(path).inserted else { return }
        if reason == .link { links.append((left.count, path)) }
        left.append(
            HomeContents.Left(path: path.shown, reason: reason, isMissed: [.otherOwner, .tooLarge].contains(reason)))
        summaries[summaries.count - 1].left += 1
    }

    private mutating func add(unread names: [String], _ problem: HomeFile.Failure) {
        // Several rules may meet the same folder.
        if let path = HomePath(names.joined(separator: "/"), in: root), !seen.insert(path).inserted { return }
        add(unread: names.joined(separator: "/"), problem)
    }

    private mutating func add(unread text: String, _ problem: HomeFile.Failure) {
        unread.append((root.start + text, problem))
        summaries[summaries.count - 1].unread += 1
    }
}
