package import KCAsking
package import KCBackupCatalogue
internal import KCByteStreams
internal import KCItemSources
internal import KCItemStores
package import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
package import KCLocalKeychains
internal import KCReportText
internal import KCSecretService
package import KCStoreTasks

extension MeantStore {
    /// The hint.
    package var words: String {
        switch self {
        case .keyring(let name): "did you mean \(quoted(name)), the desktop keyring?"
        case .keychain(let name): "did you mean \(quoted(name))? capital letters count"
        case .keyringFile(let path):
            "did you mean the file, \(quoted(FileOfItems.name(path))), or the desktop keyring, "
                + "\(quoted(DesktopKeyring.all.name))?"
        }
    }
}

extension StoreDoubt {
    package func words(keychain: String) -> String {
        switch self {
        case .bothHaveItems: "keychain \(quoted(keychain)) and the desktop keyring both have items"
        case .keychainIsEmpty: "keychain \(quoted(keychain)) is empty, and the desktop keyring has items"
        case .desktopIsEmpty: "the desktop keyring is empty, and keychain \(quoted(keychain)) has items"
        }
    }
}

extension KeyringSecrets.Gap {
    /// Why the desktop keyring was not searched, to follow its name.
    package var words: String {
        switch self {
        case .notRunning: "does not run here"
        case .locked(let label): "is locked, with collection \(quoted(label))"
        case .unreturned(let count): "lists \(counted(count, "item")) that it does not return until the next log-in"
        case .failed(let failure): "does not answer: \(explainSecretService(failure).message)"
        }
    }
}

extension FileAccess.Part {
    package var option: OptionName {
        switch self {
        case .password(let field): field.option
        case .keyFile: .keyFile
        }
    }
}

extension LockSettings {
    /// When a keychain locks automatically, as the end of a sentence.
    package var words: String {
        let idle = lockAfter.map { "after \(duration(seconds: $0)) without use" }
        return switch (idle, lockOnSuspend) {
        case (let idle?, true): "\(idle), or when the machine sleeps"
        case (let idle?, false): idle
        case (nil, true): "when the machine sleeps"
        case (nil, false): "only by 'kcbackup keychain lock'"
        }
    }
}

extension BackupFolder.Exclusion {
    /// The reason as text.
    package var words: String {
        switch self {
        case .otherName: "its name is not one that 'create \(OptionName.to.spelling)' gives"
        case .otherDevice: "another device signed it"
        case .damaged: "it is damaged, or no archive"
        case .newerFormat: "a newer kcbackup made it"
        case .renamed: "it was renamed: it is of another time, or of another device, than its name says"
        case .otherKeychain: "it was renamed: it is of another keychain than its name says"
        case .copy(let original): "it is a copy of \(quoted(original))"
        case .otherArchive: "it is another archive than the one that was made under this name"
        case .otherKeys: "it has other keys than the archive that was made under this name"
        case .unread: "it was not read since the catalogue was rebuilt, so its keychain is not known"
        }
    }
}

extension KeptStates.Doubtful {
    /// Why they were not removed, and where they are.
    package var words: String {
        "\(counted(count, "earlier state")) may be of a copy of the keychain, and stayed in \(quoted(folder)): the file "
            + "where it was does not open: \(quoted(place))"
    }
}

extension LocalKeychain {
    /// How to name the desktop keyring, where this keychain is missing; nil if nothing suggests that it is meant.
    package func keyringHint(in session: Session) throws -> KeyringHint? {
        if session.keyringUse == .none { return nil }
        if try !LocalKeychain.names(in: session.machine.dataFolder).isEmpty { return nil }
        let presence = try session.machine.desktopKeyring()
        if presence == .absent {
            return session.keyringUse == .backedUp && name.exact == Self.defaultName.exact ? .absent : nil
        }
        return presence == .running ? .running : .unreachable
    }
}
