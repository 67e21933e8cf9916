internal import KCByteStreams
internal import KCItemSources

/// The files of a browser's profile, of which the folder or one file was given.
struct BrowserProfile {
    private let input: ForeignInput

    init(_ input: ForeignInput) {
        self.input = input
    }

    /// True if the folder was given, and has a file of this name.
    ///
    /// - Throws: `FileFailure`.
    func isFolder(with name: String) throws -> Bool {
        guard case .folder = input.content else { return false }
        return try Path.kind(of: input.path + "/" + name) == .file
    }

    /// The file with a given name; nil if there is none.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`.
    func file(_ name: String) throws -> ForeignFile? { try open(name).map { try ForeignFile(reading: $0) } }

    /// Refuses a profile whose browser is running: what is in its files may be half of a change, or less than it has.
    ///
    /// Called after the files were read, since a change while one of them was read is noticed there.
    ///
    /// - Parameter names: the files that the browser locks; those that are missing are not locked.
    /// - Throws: `ForeignFailure.inUse`, `FileFailure`.
    func requireUnlocked(_ names: [String], by browser: String) throws {
        for name in names where try open(name)?.isLockedByAnother == true { throw ForeignFailure.inUse(browser) }
    }

    /// Refuses a database of which a part is in a file beside it: a change that was not finished, and that only its
    /// program should finish.
    ///
    /// - Parameter name: the name of the database; nil if it is the file that was given.
    /// - Throws: `ForeignFailure.refused`, `FileFailure`, `StreamFailure`.
    func requireFinished(_ name: String? = nil) throws {
        let name = name ?? Path.split(input.path).name
        for ending in ["-wal", "-journal"] {
            guard let file = try open(name + ending) else { continue }
            let beginning = try [UInt8](capacity: 1) { output throws in
                try file.read(at: 0, upTo: 1, into: &output)
            }
            // The journal of a finished change is empty, or begins with a zero.
            if beginning.isEmpty || ending == "-journal" && beginning == [0] { continue }
            throw ForeignFailure.refused(
                title: "a database with an unfinished change in the file beside it that ends in '\(ending)'",
                hint:
                    "start its browser with this profile and close it again, which finishes the change; then try again")
        }
    }

    private func open(_ name: String) throws(FileFailure) -> OpenFile? {
        guard case .folder = input.content else { return try input.neighbours.open(name) }
        do throws(FileFailure) {
            return try OpenFile.reading(input.path + "/" + name)
        } catch {
            if error.problem == .notFound { return nil }
            throw error
        }
    }
}
