internal import ArgumentParser
internal import KCBackupArchive
internal import KCBackupEngine
internal import KCDeviceIdentity
internal import KCItemStores
internal import KCKeychainModel
internal import KCReportText

/// The options for looking for items in an archive instead of a keychain.
struct ArchiveLocationOptions: ParsableArguments {
    @Option(
        name: OptionName.in.name,
        help: ArgumentHelp(
            "Look into this archive, without restoring anything, instead of a keychain.", valueName: "archive"),
        completion: .file(extensions: ["kcb"]))
    var archive: String?

    @OptionGroup
    var opening: ArchiveOptions

    @OptionGroup
    var archivePasscode: ArchivePasscodeOption

    @Option(
        name: OptionName.acceptOrigin.name,
        help: ArgumentHelp(
            "Accept an archive signed by the device with this ID, though it is not trusted.", valueName: "id"),
        completion: KnownNames.devices)
    var acceptOrigin: String?

    /// Refuses options that are for the other kind of place.
    func check(_ location: LocationOptions) throws {
        let ofArchives: [(Bool, OptionName)] = [
            (opening.passphrase != nil, .passphrase), (!opening.identity.isEmpty, .identity),
            (opening.identityPassphrase != nil, .identityPassphrase),
            (archivePasscode.archivePasscode != nil, .archivePasscode), (acceptOrigin != nil, .acceptOrigin),
        ]
        guard archive != nil else {
            for (isGiven, option) in ofArchives where isGiven { throw UsageProblem.needs(option, .in) }
            return
        }
        let ofKeychains: [(Bool, OptionName)] = [
            (location.keychain.keychain != nil, .keychain), (location.keychain.passcode != nil, .passcode),
            (location.unlocking.unlock, .unlock),
        ]
        for (isGiven, option) in ofKeychains where isGiven { throw UsageProblem.together(.in, option) }
        for (source, option) in [
            (opening.passphrase, OptionName.passphrase), (opening.identityPassphrase, .identityPassphrase),
            (archivePasscode.archivePasscode, .archivePasscode),
        ] where source == .unknown { throw SecretProblem.notASource(option) }
    }

    /// Verifies the archive, and opens it to be read by the rules of a restore; nil if none is given.
    func open(in session: Session) throws -> ArchiveStore? {
        guard let archive else { return nil }
        let found = try opening.open(archive, in: session)
        let proven = try ArchiveOpener(opening, in: session).prove(found.file, at: found.path)
        if let chosen = found.chosen { try chosen.require(proven.opened.source()) }
        var options = RestoreOptions()
        options.acceptedOrigin = try acceptOrigin.map { text throws(UsageProblem) in
            guard let id = DeviceID(text) else { throw .deviceID }
            return id
        }
        try RestoreCommand.acceptOrigin(of: proven, &options, session, question: "Look into it anyway?")
        return try ArchiveStore(proven, options, identity: found.path, step: {}) {
            try archivePasscode.open(proven, isNeeded: true, path: found.path, in: session)
        }
    }
}

extension ArchiveStore {
    /// Names the items that a restore on this device would leave behind, and says how many are not in the archive.
    func tellMissing(_ session: Session) {
        if unreadCount > 0 {
            session.warn(
                "\(counted(unreadCount, "item")) could not be read when the archive was made, and "
                    + (unreadCount == 1 ? "is" : "are") + " not in it")
        }
        session.list(stayingBehind.map(\.item)) { index, words in
            "stays behind: \(words): \(stayingBehind[index].reason.words)"
        }
        if stayingBehind.contains(where: { $0.reason == .thisDeviceOnly }), !session.style.isQuiet {
            session.message("kcbackup: hint: \(reinstalledThenRestored)\n")
        }
    }
}
