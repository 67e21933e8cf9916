internal import KCByteStreams
internal import KCConsole
internal import KCDeviceIdentity
internal import KCLocalKeychains
internal import KCSecretService

extension BackupSubject {
    /// Determines what to back up if the user may not have named anything.
    ///
    /// Without a keychain, this is the desktop keyring, if one is running. A user who has both is told about it once.
    ///
    /// - Throws: as `init`.
    static func chosen(_ given: String?, in session: Session) throws -> BackupSubject {
        let subject = try BackupSubject(given, in: session.world)
        switch subject {
        case .keychain: break
        case .desktop, .items: try makeDeviceKey(in: session)
        }
        guard given == nil, case .keychain(let local) = subject else { return subject }
        let folder = session.world.dataFolder
        if try !Path.exists(local.path), try LocalKeychain.names(in: folder).isEmpty {
            guard try session.world.desktopKeyring() == .running else { return subject }
            session.note(
                "there is no kcbackup keychain here: this backs up the desktop keyring "
                    + "(\(OptionName.keychain.spelling) \(DesktopKeyring.all.name))")
            try makeDeviceKey(in: session)
            return .desktop(.all)
        }
        try tellOfDesktop(local, in: session)
        return subject
    }

    /// Notes, once, that there is a desktop keyring as well.
    ///
    /// - Throws: `SecretServiceFailure.interrupted`.
    private static func tellOfDesktop(
        _ local: LocalKeychain, in session: Session
    ) throws(SecretServiceFailure) {
        let mark = session.world.dataFolder.path + "/told-of-desktop"
        guard session.world.terminal.showsMessages, !session.style.isQuiet, !isThere(mark),
            try session.world.desktopKeyring() == .running
        else { return }
        session.note(
            "this backs up keychain \(quoted(local.name)); the desktop keyring is another one: "
                + "'\(OptionName.keychain.spelling) \(DesktopKeyring.all.name)' backs it up")
        do throws(FileFailure) {
            try PrivateFile.replace(mark, [UInt8]().span)
        } catch {
            // The note is then shown again next time.
        }
    }

    private static func isThere(_ path: String) -> Bool {
        do throws(FileFailure) {
            return try Path.exists(path)
        } catch {
            // An error is not worth reporting for a mere note; skip the note.
            return true
        }
    }

    /// Creates the device key if the desktop keyring or a file is the first to need it.
    private static func makeDeviceKey(in session: Session) throws {
        let (key, isNew) = try LocalDevice(session.world).keyOrFirst()
        guard isNew else { return }
        session.note("this device is now \(key.id); keep a copy of its key: 'kcbackup device export -o FILE.age'")
    }
}
