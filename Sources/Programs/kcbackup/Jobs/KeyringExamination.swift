internal import KCByteStreams
internal import KCForeignFormats
internal import KCItemSources
internal import KCKeychainModel
internal import KCLocalKeychains
internal import KCReportText
internal import KCSecretService
internal import KCStoreTasks
internal import KCTerminal

/// The findings of `doctor` about the files of the desktop keyring.
///
/// oo7 takes over from GNOME Keyring and from KWallet: it converts each file once, and leaves the old one as it is. If
/// both programs are used after that, each writes to its own file, and what is in one is missing in the other.
struct KeyringExamination {
    private(set) var warnings: [String] = []
    private(set) var notes: [String] = []

    /// Finds nothing.
    init() {}

    /// Looks at the files, without their passwords.
    ///
    /// - Throws: `FileFailure`, `StreamFailure`, `SecretServiceFailure.interrupted`.
    init(in session: Session) throws {
        let data = Path.split(session.machine.dataFolder.path).folder
        let folder = data + "/keyrings"
        let keyrings = try KeyringVersions.find(in: folder)
        if keyrings.isEmpty { return }
        let service = try session.machine.secretServiceProgram()
        for keyring in keyrings { try examine(keyring, service, in: session) }
        if keyrings.allSatisfy({ $0.new == nil }) {
            notes.append(
                "the keyrings in \(quoted(folder)) are those of GNOME Keyring; where oo7 takes its place it converts them, "
                    + "once: make an archive before such an upgrade, 'kcbackup create \(OptionName.keychain.spelling) "
                    + "\(shellWord("file:" + folder)) keyrings.kcb'")
        }
        try examineWallets(in: data + "/kwalletd", service)
    }

    private mutating func examine(
        _ keyring: KeyringVersions, _ service: SecretServiceProgram?, in session: Session
    ) throws {
        let old = try keyring.old.flatMap { try outline(of: $0) }
        let new = try keyring.new.flatMap { try outline(of: $0) }
        guard let old, let new, let oldPath = keyring.old, let newPath = keyring.new else {
            if keyring.converted != nil, keyring.new == nil, let path = keyring.old {
                warnings.append("oo7 has converted keyring \(quoted(path)), and its own file of it is gone")
            }
            return
        }
        let title = "keyring \(quoted(old.label)) has two files"
        let files = [
            "\(quoted(oldPath)) of GNOME Keyring (\(words(old, session)))",
            "\(quoted(newPath)) of oo7 (\(words(new, session)))",
        ]
        guard keyring.mayDiffer(old, new, usedBy: service) else {
            notes.append(
                "\(title): \(listed(files)); the one that is not in use was not changed after the conversion")
            return
        }
        let compare = "'kcbackup diff \(shellWord(oldPath)) \(shellWord(newPath))' compares them"
        let isOldInUse: Bool? =
            switch service {
            case .gnomeKeyring: true
            case .oo7: false
            case .other, nil: nil
            }
        guard let isOldInUse else {
            warnings.append(lines(["\(title), and it cannot be seen which one is in use:"] + files + [compare]))
            return
        }
        let label = isOldInUse ? old.label : new.label
        let merge =
            "'kcbackup import \(shellWord(isOldInUse ? newPath : oldPath)) \(OptionName.into.spelling) "
            + "\(shellWord("secret-service:" + label))' adds what the other one has; move that one away then"
        warnings.append(
            lines(["\(title), of which the \(isOldInUse ? "first" : "second") is in use:"] + files + [compare, merge]))
    }

    /// A warning whose paths and commands have lines of their own, since each of them fills one.
    private func lines(_ lines: [String]) -> String { lines.joined(separator: "\n  ") }

    /// The outline of a file; nil if it cannot be read, which is a warning.
    private mutating func outline(of path: String) throws -> KeyringOutline? {
        do {
            return try KeyringOutline(at: path)
        } catch let failure as ForeignFailure {
            warnings.append("keyring \(quoted(path)) is damaged, or of an unknown kind: \(failure.keyringWords)")
            return nil
        } catch let failure as FileFailure {
            warnings.append(
                "keyring \(quoted(path)) cannot be read: \(Failure(failure).explanation.message)")
            return nil
        }
    }

    private func words(_ outline: KeyringOutline, _ session: Session) -> String {
        "\(counted(outline.itemCount, "item")), changed \(session.calendar.moment(outline.modified))"
    }

    /// Looks for wallets, of which oo7 converts what it can.
    private mutating func examineWallets(in folder: String, _ service: SecretServiceProgram?) throws {
        guard Path.isFolder(folder) else { return }
        for name in try Path.names(in: folder).sorted() where name.exact.hasSuffix(".kwl") {
            let path = folder + "/" + name
            guard try KeyringVersions.stamp(of: path) != nil else { continue }
            notes.append(
                "oo7 has converted wallet \(quoted(path)), and leaves out entries that it cannot convert: 'kcbackup inspect "
                    + "\(shellWord(path))' lists what the wallet has")
        }
    }
}

extension KeyringVersions {
    /// True if the file that is not in use may have what the other one lacks.
    fileprivate func mayDiffer(
        _ old: KeyringOutline, _ new: KeyringOutline, usedBy service: SecretServiceProgram?
    ) -> Bool {
        guard let converted else { return true }
        return switch service {
        case .oo7: old.modified > converted
        case .gnomeKeyring: new.modified > converted
        case .other, nil: old.modified > converted
        }
    }
}

/// A program that is the desktop's Secret Service.
enum SecretServiceProgram {
    case gnomeKeyring
    case oo7
    case other
}

extension Machine {
    /// Returns the program that is the Secret Service; nil if none is running, or if that cannot be seen.
    fileprivate func secretServiceProgram() throws(SecretServiceFailure) -> SecretServiceProgram? {
        let bus: SessionBus
        do throws(SecretServiceFailure) {
            bus = try sessionBus()
        } catch {
            return nil
        }
        guard let name = try SecretServiceClient.program(on: bus) else { return nil }
        if name.exact.hasPrefix("gnome-keyring") { return .gnomeKeyring }
        return name.exact.hasPrefix("oo7") ? .oo7 : .other
    }
}
