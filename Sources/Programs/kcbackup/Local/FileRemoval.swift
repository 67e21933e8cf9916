internal import KCBackupEngine
internal import KCByteStreams
internal import KCHomeFiles
internal import KCItemSources
internal import KCItemStores
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCReportText

/// Takes imported records out of their file, once the keychain is known to have them.
struct FileRemoval {
    /// The file as the user named it.
    private let path: String
    private let place: HomePath
    private let format: any SeparableFormat
    private let file: ForeignFile
    private let session: Session

    /// - Throws: `UsageProblem` for a file of another format, or one that is not in the list of docs/home.md; `FileFailure`.
    init(_ path: String, _ reading: ForeignReader.Reading, in session: Session) throws {
        guard let format = reading.format as? any SeparableFormat, let file = reading.file else {
            throw UsageProblem(
                "'\(OptionName.removeFromFile.spelling)' is for .netrc files and git credentials files",
                hint: "leave it out; 'docs/home.md' says how other programs do without their file")
        }
        let resolved = session.world.resolve(path)
        let place = HomePath(of: resolved, in: session.world.home)
        // A link is not followed: the file that it leads to is elsewhere.
        guard reading.remains, let place, HomeTable.rule(for: place) != nil, try Path.kind(of: resolved) == .file else {
            throw UsageProblem(
                "'\(OptionName.removeFromFile.spelling)' is for files of your home in the list of 'docs/home.md'",
                hint: "leave it out, and remove the file by hand")
        }
        self.path = path
        self.place = place
        self.format = format
        self.file = file
        self.session = session
    }

    /// Says what would be taken out.
    ///
    /// - Returns: the number of records.
    func plan() throws -> Int {
        let rest = try format.remainder(of: file)
        session.message(
            "would take \(counted(rest.removed, "record")) out of \(quoted(path))\(Self.staying(rest.staying))\n")
        return rest.removed
    }

    /// Takes the records out, if the keychain has each of their items with its secret.
    ///
    /// - Returns: the number of records; nil if the file stays as it was, which is said.
    /// - Throws: what reading the keychain throws, and as `RestorableHome.rewrite`.
    func run(_ contents: ForeignContents, in store: Keychain) throws -> Int? {
        let check = try ImportItems(policy: .keep, isDryRun: true).run(contents.items, into: store)
        let held = check.counts.same + check.kept.count { !$0.hasOtherSecret }
        guard held == contents.items.count, contents.refused.isEmpty, contents.staying.isEmpty else {
            session.warn(
                "\(quoted(path)) stays as it is: the keychain does not have the secrets of all of its records")
            return nil
        }
        let rest = try format.remainder(of: file)
        if rest.removed > 0 {
            // What is said of 'undo' otherwise is about the keychain.
            let didKeep = session.keptState
            defer { session.keptState = didKeep }
            try RestorableHome(.home, session.world.home, session.stateSetting).rewrite(
                place, from: file.bytes, to: rest.bytes, lockedBy: format.lockEnding, now: session.now)
            session.note(
                "took \(counted(rest.removed, "record")) out of \(quoted(path)); "
                    + "'kcbackup undo \(OptionName.keychain.spelling) \(HomeRoot.home.storeName)' puts them back")
        }
        if rest.staying > 0 { session.warn("\(quoted(path)) still holds secrets\(Self.staying(rest.staying))") }
        return rest.removed
    }

    private static func staying(_ count: Int) -> String {
        count == 0
            ? "" : ": \(counted(count, "record")) with comments, macros or parts that no item has stay"
    }
}
