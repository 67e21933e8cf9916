internal import KCByteStreams

/// The default keychain and the search list, as set by the commands of `security`, and what `kcbackup` uses where none is
/// named.
///
/// A keychain in the data folder is referred to by its name, any other by its absolute path.
package struct KeychainLists: Hashable, Sendable {
    /// The default keychain; nil for `login`.
    package var defaultKeychain: String?
    /// The store that is used where no keychain is named; nil if the user never chose.
    package var store: StandardStore?
    /// The keychains to search, in order; nil for all in the data folder, the default one first.
    ///
    /// Without a search list, the `additions` come after these; setting a list discards them.
    package var searchList: [String]? {
        didSet { if searchList != nil { additions = [] } }
    }
    /// Keychains outside the data folder that are searched after those in it, in order, as absolute paths.
    package private(set) var additions: [String] = []

    /// The maximum length of a search list; macOS has no limit, and a hundred is far more than anyone has.
    package static let searchListLimit = 256

    /// A store that is used where no keychain is named; the raw value is a word of the file.
    package enum StandardStore: String, Hashable, Sendable {
        /// The default keychain.
        case keychain
        /// The keyring of the desktop.
        case desktop
    }

    /// Creates lists in which nothing is set.
    package init() {}

    /// Reads the lists; nothing is set if there is no file.
    ///
    /// - Throws: `listsDamaged`, `file` (`exposed`, `foreignOwner`, `notRegular`, `tooLarge`, `system`).
    package static func load(from folder: DataFolder) throws(LocalKeychainFailure) -> KeychainLists {
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

    /// Reads, changes and atomically replaces the lists, as the only process that does so.
    ///
    /// - Throws: what `body` throws, with nothing changed; `LocalKeychainFailure`: `file`, `listsDamaged`, also if a
    ///   reference or the number of references cannot be stored.
    package static func change(
        in folder: DataFolder, _ body: (inout KeychainLists) throws(LocalKeychainFailure) -> Void
    ) throws(LocalKeychainFailure) {
        try failing(as: LocalKeychainFailure.file, Path.makeFolder(folder.path))
        let lock = try failing(as: LocalKeychainFailure.file, FileLock.ofFolder(folder.path))
        defer { withExtendedLifetime(lock) {} }
        let before = try load(from: folder)
        var after = before
        try body(&after)
        if after != before { try after.save(to: folder) }
    }

    private func save(to folder: DataFolder) throws(LocalKeychainFailure) {
        // Lists that could not be read again are not written.
        guard KeychainLists(parsing: spelling) == self else { throw .listsDamaged(path: folder.keychainLists) }
        try failing(as: LocalKeychainFailure.file, PrivateFile.replace(folder.keychainLists, spelling.utf8.span))
    }

    /// Adds a keychain at the end of the search list, unless it is searched anyway.
    package mutating func include(_ keychain: LocalKeychain) {
        if let searchList {
            if !searchList.contains(where: { $0.exact == keychain.name.exact }) {
                self.searchList = searchList + [keychain.name]
            }
        } else if !keychain.isNamed, !additions.contains(where: { $0.exact == keychain.name.exact }) {
            // A list of the current keychains would omit every keychain that is created later.
            additions.append(keychain.name)
        }
    }

    /// Removes a deleted keychain, identified by the location of its file, since a path can be written in many ways.
    package mutating func forget(_ keychain: LocalKeychain, in folder: DataFolder) throws(LocalKeychainFailure) {
        let place = keychain.place
        var meant: Set = [keychain.name.exact]
        for reference in (searchList ?? additions) + [defaultKeychain].compactMap({ $0 })
        where try LocalKeychain(reference, in: folder).place.exact == place.exact {
            meant.insert(reference.exact)
        }
        searchList?.removeAll { meant.contains($0.exact) }
        additions.removeAll { meant.contains($0.exact) }
        let isStandard = try standard(in: folder).place.exact == place.exact
        if let defaultKeychain, meant.contains(defaultKeychain.exact) { self.defaultKeychain = nil }
        // The next default keychain is not what the user chose.
        if isStandard, store == .keychain { store = nil }
    }

    /// The default keychain.
    package func standard(in folder: DataFolder) throws(LocalKeychainFailure) -> LocalKeychain {
        try LocalKeychain(defaultKeychain ?? LocalKeychain.defaultName, in: folder)
    }

    /// The keychains to search, in order; those that were set may be missing.
    ///
    /// - Throws: `emptyName`, `invalidName`, `file` if the data folder cannot be listed.
    package func searched(in folder: DataFolder) throws(LocalKeychainFailure) -> [LocalKeychain] {
        var references: [String]
        if let searchList {
            references = searchList
        } else {
            references = try failing(as: LocalKeychainFailure.file, LocalKeychain.names(in: folder))
            let first = defaultKeychain ?? LocalKeychain.defaultName
            if references.contains(where: { $0.exact == first.exact }) || first.exact.contains("/") {
                references = [first] + references.filter { $0.exact != first.exact }
            }
            references += additions.filter { addition in !references.contains { $0.exact == addition.exact } }
        }
        var keychains: [LocalKeychain] = []
        for reference in references { keychains.append(try LocalKeychain(reference, in: folder)) }
        return keychains
    }
}

extension LocalKeychain {
    /// Adds a new keychain to what is searched.
    ///
    /// - Throws: `LocalKeychainFailure` (`listsDamaged`, also if the list is full; `file`).
    func joinSearchList(in folder: DataFolder) throws(LocalKeychainFailure) {
        try KeychainLists.change(in: folder) { lists throws(LocalKeychainFailure) in lists.include(self) }
    }

    /// Removes a deleted keychain from the search list, and as the default keychain.
    package func leaveLists(in folder: DataFolder) throws(LocalKeychainFailure) {
        try KeychainLists.change(in: folder) { lists throws(LocalKeychainFailure) in
            try lists.forget(self, in: folder)
        }
    }
}

/// The file: a line that names the format, the settings, and a last line that shows that nothing is missing.
///
/// ```
/// kcbackup keychain lists 1
/// default work
/// use keychain
/// search
///  work
///  /home/ada/project/build.keychain
/// end
/// ```
///
/// If no search list is set but there are keychains outside the data folder, `also` takes the place of `search`.
extension KeychainLists {
    private static let firstLine = "kcbackup keychain lists 1"

    private var spelling: String {
        var lines = [Self.firstLine]
        if let defaultKeychain { lines.append("default " + defaultKeychain) }
        if let store { lines.append("use " + store.rawValue) }
        if let searchList { lines += ["search"] + searchList.map { " " + $0 } }
        if !additions.isEmpty { lines += ["also"] + additions.map { " " + $0 } }
        return lines.joined(separator: "\n") + "\nend\n"
    }

    private init?(parsing text: String) {
        // Text that is not canonical is not interpreted.
        var lines = text.exact.split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard lines.popLast() == "", lines.popLast() == "end", lines.popFirst() == Self.firstLine else {
            return nil
        }
        if let reference = lines.first?.exact.removingPrefix("default ") {
            guard Self.isReference(reference) else { return nil }
            defaultKeychain = reference
            lines.removeFirst()
        }
        if let name = lines.first?.exact.removingPrefix("use ") {
            guard let store = StandardStore(rawValue: name) else { return nil }
            self.store = store
            lines.removeFirst()
        }
        guard let line = lines.popFirst() else { return }
        let isSearch = line == "search"
        guard isSearch || line == "also" && !lines.isEmpty, lines.count <= Self.searchListLimit else { return nil }
        var list: [String] = []
        for line in lines {
            guard let reference = line.exact.removingPrefix(" "), Self.isReference(reference) else { return nil }
            // Keychains in the data folder are searched anyway.
            guard isSearch || reference.exact.hasPrefix("/") else { return nil }
            list.append(reference)
        }
        if isSearch { searchList = list } else { additions = list }
    }

    private static func isReference(_ text: String) -> Bool {
        text.exact.hasPrefix("/") ? !text.utf8.contains(0) : LocalKeychain.isName(text)
    }
}
