internal import KCByteStreams
internal import KCForeignReader
internal import KCItemSources
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCSecretService
internal import KCStoreTasks

/// The findings about the files of the desktop keyring.
///
/// oo7 takes over from GNOME Keyring and from KWallet: it converts each file once, and leaves the old one as it is. If
/// both programs are used after that, each writes to its own file, and what is in one is missing in the other.
struct KeyringExamination {
    private(set) var warnings: [Examination.Warning] = []
    private(set) var notes: [Examination.Note] = []
    private let reader: ReaderProgram?

    /// Finds nothing.
    init() { reader = nil }

    /// Looks at the files, without their passwords.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`, `SecretServiceFailure.interrupted`.
    init(in machine: Machine) throws {
        var reader = machine.reader
        reader.patience = .seconds(60)
        self.reader = reader
        let data = Path.split(machine.dataFolder.path).folder
        let folder = data + "/keyrings"
        let keyrings = try KeyringVersions.find(in: folder)
        if keyrings.isEmpty { return }
        let usesGNOMEKeyring = try machine.usesGNOMEKeyring()
        for keyring in keyrings { try examine(keyring, isOldInUse: usesGNOMEKeyring) }
        if keyrings.allSatisfy({ $0.new == nil }) { notes.append(.unconvertedKeyrings(folder: folder)) }
        try examineWallets(in: data + "/kwalletd")
    }

    /// - Parameter isOldInUse: nil if it cannot be seen which file is in use.
    private mutating func examine(_ keyring: KeyringVersions, isOldInUse: Bool?) throws {
        let old = try keyring.old.flatMap { try read($0) }
        let new = try keyring.new.flatMap { try read($0) }
        guard let old, let new else {
            if keyring.converted != nil, keyring.new == nil, let path = keyring.old {
                warnings.append(.keyringGone(path: path))
            }
            return
        }
        let unused = isOldInUse == true ? new : old
        // The file that is not in use may have what the other one lacks.
        if keyring.converted.map({ unused.modified > $0 }) ?? true {
            warnings.append(.twoKeyrings(old: old, new: new, isOldInUse: isOldInUse))
        } else {
            notes.append(.twoKeyrings(old: old, new: new))
        }
    }

    /// The outline of a file; nil if it cannot be read, which is a warning.
    private mutating func read(_ path: String) throws -> Examination.Keyring? {
        do {
            let input = try ReaderInput(OpenFile.reading(path))
            guard let outline = try reader?.outline(input), let date = input.date else { return nil }
            return Examination.Keyring(path: path, outline: outline, modified: date)
        } catch let failure as ForeignFailure {
            warnings.append(.damagedKeyring(path: path, failure))
        } catch {
            if Interruption.isRequested { throw error }
            warnings.append(.unreadableKeyring(path: path, error))
        }
        return nil
    }

    /// Looks for wallets, of which oo7 converts what it can.
    private mutating func examineWallets(in folder: String) throws {
        guard Path.isFolder(folder) else { return }
        for name in try Path.names(in: folder).sorted() where name.exact.hasSuffix(".kwl") {
            let path = folder + "/" + name
            if try KeyringVersions.stamp(of: path) != nil { notes.append(.convertedWallet(path: path)) }
        }
    }
}

extension Machine {
    /// True if GNOME Keyring is the desktop's Secret Service, false if oo7 is; nil for another program, if none is running,
    /// or if that cannot be seen.
    fileprivate func usesGNOMEKeyring() throws(SecretServiceFailure) -> Bool? {
        let bus: SessionBus
        do throws(SecretServiceFailure) {
            bus = try sessionBus()
        } catch {
            return nil
        }
        guard let name = try SecretServiceClient.program(on: bus) else { return nil }
        if name.exact.hasPrefix("gnome-keyring") { return true }
        return name.exact.hasPrefix("oo7") ? false : nil
    }
}
