internal import ByteStreams

/// Which keychain is meant where none is named, and which ones are searched: what the verbs of `security` set.
///
/// A keychain is referred to by its name where it stands in the data folder, and by its absolute path elsewhere.
public struct KeychainLists: Hashable, Sendable {
    /// The keychain of somebody who names none; nil for `login`.
    public var defaultKeychain: String?
    /// The keychains that a search looks into, in order; nil for all of the data folder, the default one first.
    public var searchList: [String]?

    /// Keychains in a search list; macOS knows no bound, and nobody has a hundred.
    public static let searchListLimit = 256

    /// Starts where nothing was ever set.
    public init() {}

    /// Reads what was set last; nothing is set where there is no file.
    ///
    /// - Throws: `listsDamaged`, `file` (`exposed`, `foreignOwner`, `notRegular`, `tooLarge`, `system`).
    public static func load(from folder: DataFolder) throws(LocalKeychainFailure) -> KeychainLists {
        let path = folder.keychainLists
        let text: String?
        do throws(FileFailure) {
            let bytes = try PrivateFile.read(path)
            text = bytes.withBytes { span in String(validating: span.indices.map { span[$0] }, as: UTF8.self) }
        } catch {
            if error.problem == .notFound { return KeychainLists() }
            throw .file(error)
        }
        guard let text, let lists = KeychainLists(parsing: text) else { throw .listsDamaged(path: path) }
        return lists
    }

    /// Replaces what was set before, in one step.
    ///
    /// - Throws: `file` (`system`), `listsDamaged` when a reference or the number of them cannot be written down.
    public func save(to folder: DataFolder) throws(LocalKeychainFailure) {
        // What cannot be read again is not written.
        guard KeychainLists(parsing: spelling) == self else { throw .listsDamaged(path: folder.keychainLists) }
        do throws(FileFailure) {
            try Path.makeFolder(folder.path)
            try PrivateFile.replace(folder.keychainLists, SecretBytes(spelling.utf8.span))
        } catch {
            throw .file(error)
        }
    }

    /// Adds a keychain at the end of the search list, unless a search looks into it anyway.
    public mutating func include(_ keychain: LocalKeychain, in folder: DataFolder) throws(LocalKeychainFailure) {
        if searchList == nil, keychain.isNamed { return }
        var list: [String] = []
        for present in try searched(in: folder) { list.append(present.name) }
        if !list.contains(keychain.name) { searchList = list + [keychain.name] }
    }

    /// Forgets a keychain that is no more.
    public mutating func forget(_ keychain: LocalKeychain) {
        searchList?.removeAll { $0 == keychain.name }
        if defaultKeychain == keychain.name { defaultKeychain = nil }
    }

    /// The keychain of somebody who names none.
    ///
    /// - Throws: `emptyName`, `invalidName`.
    public func standard(in folder: DataFolder) throws(LocalKeychainFailure) -> LocalKeychain {
        try LocalKeychain(defaultKeychain ?? LocalKeychain.defaultName, in: folder)
    }

    /// The keychains that a search looks into, in order; those that were set may be missing.
    ///
    /// - Throws: `emptyName`, `invalidName`, `file` when the data folder cannot be listed.
    public func searched(in folder: DataFolder) throws(LocalKeychainFailure) -> [LocalKeychain] {
        var references: [String]
        if let searchList {
            references = searchList
        } else {
            do throws(FileFailure) {
                references = try LocalKeychain.names(in: folder)
            } catch {
                throw .file(error)
            }
            let first = defaultKeychain ?? LocalKeychain.defaultName
            if references.contains(first) || first.contains("/") {
                references = [first] + references.filter { $0 != first }
            }
        }
        var keychains: [LocalKeychain] = []
        for reference in references { keychains.append(try LocalKeychain(reference, in: folder)) }
        return keychains
    }
}

extension LocalKeychain {
    /// Takes a keychain that is no more from the search list, and from its place as the default one.
    ///
    /// - Throws: `listsDamaged`, `file`.
    public func leaveLists(in folder: DataFolder) throws(LocalKeychainFailure) {
        let before = try KeychainLists.load(from: folder)
        var after = before
        after.forget(self)
        if after != before { try after.save(to: folder) }
    }
}

/// The file: a line that names the format, what is set, and a last line that shows that nothing is missing.
///
/// ```
/// kcbackup keychain lists 1
/// default work
/// search
///  work
///  /home/ada/project/build.keychain
/// end
/// ```
extension KeychainLists {
    private static let firstLine = "kcbackup keychain lists 1"

    private var spelling: String {
        var lines = [Self.firstLine]
        if let defaultKeychain { lines.append("default " + defaultKeychain) }
        if let searchList { lines += ["search"] + searchList.map { " " + $0 } }
        return lines.joined(separator: "\n") + "\nend\n"
    }

    private init?(parsing text: String) {
        // Of text that is not canonical nothing is guessed.
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard lines.popLast() == "", lines.popLast() == "end", lines.popFirst() == Self.firstLine[...] else {
            return nil
        }
        if let line = lines.first, line.hasPrefix("default ") {
            let reference = String(line.dropFirst(8))
            guard Self.isReference(reference) else { return nil }
            defaultKeychain = reference
            lines.removeFirst()
        }
        guard let line = lines.popFirst() else { return }
        guard line == "search", lines.count <= Self.searchListLimit else { return nil }
        var list: [String] = []
        for line in lines {
            let reference = String(line.dropFirst())
            guard line.hasPrefix(" "), Self.isReference(reference) else { return nil }
            list.append(reference)
        }
        searchList = list
    }

    private static func isReference(_ text: String) -> Bool {
        text.hasPrefix("/") ? !text.utf8.contains(0) : LocalKeychain.isName(text)
    }
}
