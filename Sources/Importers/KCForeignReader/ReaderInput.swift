package import KCByteStreams
internal import KCConsole
internal import KCItemSources
package import KCKeychainModel

/// A file, folder or pipe that was opened for a reader, which cannot open anything itself.
package struct ReaderInput {
    /// Whether it is a file, a folder or a pipe.
    enum Kind: String {
        case file, folder, pipe
    }

    /// A file beside it, or why that cannot be opened.
    struct Neighbour {
        let name: String
        let file: Result<OpenFile, FileFailure>
    }

    /// The path; `-` for a pipe.
    package let path: String
    let kind: Kind
    let opened: Opened
    let realFolder: String?
    let neighbours: [Neighbour]
    /// When it was last changed; for a pipe, when it was opened; nil for a folder.
    package let date: Timestamp?
    /// True for a file that group or others can read.
    package let isReadableByOthers: Bool

    /// Keeps its descriptor open.
    enum Opened {
        case file(OpenFile)
        case folder(OpenFolder)

        var descriptor: Int32 {
            switch self {
            case .file(let file): file.descriptor
            case .folder(let folder): folder.descriptor
            }
        }
    }

    /// Opens what a user named.
    package init(_ path: String, now: Timestamp) throws(FileFailure) {
        if Path.isFolder(path) {
            // A reader cannot ask for its working folder.
            self.init(folder: try OpenFolder(Path.real(path) ?? path))
            return
        }
        switch try InputFile.open(path, takesNothing: true) {
        case .file(let file): try self.init(file)
        case .pipe(let pipe): self.init(pipe: pipe, now: now)
        }
    }

    private init(folder: OpenFolder) {
        path = folder.path
        kind = .folder
        opened = .folder(folder)
        let (parent, _) = Path.split(path)
        realFolder = parent
        neighbours = Self.neighbours(["identities"], in: parent)
        date = nil
        isReadableByOthers = false
    }

    private init(pipe: OpenFile, now: Timestamp) {
        path = InputFile.standardInputName
        kind = .pipe
        opened = .file(pipe)
        realFolder = nil
        neighbours = []
        date = now
        isReadableByOthers = false
    }

    /// Takes a regular file that was opened.
    package init(_ file: OpenFile) throws(FileFailure) {
        path = file.path
        kind = .file
        opened = .file(file.onlyRead)
        if path.exact == InputFile.standardInputName.exact {
            realFolder = nil
            neighbours = []
        } else {
            let (folder, name) = Path.split(path)
            realFolder = Path.real(folder) ?? folder
            neighbours = Self.neighbours(Self.names(beside: name), in: folder)
        }
        let status = try file.status()
        date = ForeignFile.modified(status)
        isReadableByOthers = ForeignFile.isReadableByOthers(status)
    }

    /// True for a folder.
    package var isFolder: Bool { kind == .folder }

    /// The files beside a file that belong to it in some format: salts, journals, and the parts of a browser's profile.
    private static func names(beside name: String) -> [String] {
        let salt = (name.exact.removingSuffix(".kwl") ?? name) + ".salt"
        let databases = [name, "key4.db"].flatMap { [$0 + "-wal", $0 + "-journal"] }
        return Set([salt, name, "logins.json", "key4.db", "key3.db", ".parentlock"] + databases).sorted()
    }

    /// Refuses a file beside which others have appeared since it was opened, such as a journal: a program uses it.
    func requireNoNewNeighbours() throws(StreamFailure) {
        guard kind == .file, realFolder != nil else { return }
        let (folder, name) = Path.split(path)
        let now = Self.neighbours(Self.names(beside: name), in: folder).map(\.name)
        guard Set(now.map(\.exact)).isSubset(of: neighbours.map(\.name.exact)) else {
            throw StreamFailure(.reading, .malformed("it was changed at the same time"))
        }
    }

    private static func neighbours(_ names: [String], in folder: String) -> [Neighbour] {
        names.compactMap { name in
            do throws(FileFailure) {
                return Neighbour(name: name, file: .success(try OpenFile.reading(folder + "/" + name)))
            } catch {
                return error.problem == .notFound ? nil : Neighbour(name: name, file: .failure(error))
            }
        }
    }

    /// The descriptors that a reader gets for it, in their order.
    var descriptors: [Int32] {
        [opened.descriptor]
            + neighbours.compactMap { neighbour in
                if case .success(let file) = neighbour.file { file.descriptor } else { nil }
            }
    }
}
