internal import ArgumentParser
internal import KCBackupEngine
internal import KCItemStores
internal import KCKeychainModel
internal import KCReportText
internal import KCTerminal

/// The options for looking for items in an archive instead of a keychain.
struct ArchiveLocationOptions: ParsableArguments {
    @Option(
        name: OptionName.in.name,
        help: ArgumentHelp(
            "Look into this archive, without restoring anything, instead of a keychain.", valueName: "archive"),
        completion: .file(extensions: ["kcb"]))
    var archive: String?

    @OptionGroup
    var reading: ArchiveReadingOptions

    /// Refuses options that are for the other kind of place.
    func check(_ location: LocationOptions) throws {
        guard archive != nil else {
            if let given = reading.firstGiven { throw UsageProblem.needs(given, .in) }
            return
        }
        let ofKeychains: [(Bool, OptionName)] = [
            (location.keychain.keychain != nil, .keychain), (location.keychain.passcode != nil, .passcode),
            (location.unlocking.unlock, .unlock),
        ]
        for (isGiven, option) in ofKeychains where isGiven { throw UsageProblem.together(.in, option) }
    }

    /// Verifies the archive, and opens it to be read by the rules of a restore; nil if none is given.
    func open(in session: Session) throws -> ArchiveStore? {
        guard let archive else { return nil }
        let found = try reading.open(archive, question: "Look into it anyway?", in: session)
        return try ArchiveStore(found.proven, found.options, identity: found.path, step: {}) {
            try found.openSecrets(in: session)
        }
    }
}

extension ArchiveStore {
    /// Names the items that a restore on this device would leave behind, and says how many are not in the archive.
    func tellMissing(_ session: Session) {
        if unreadCount > 0 {
            session.warn(lackingWords(unreadCount))
        }
        var list = ChangeList(isDryRun: false, in: session)
        list.add(staying: stayingBehind)
        if stayingBehind.contains(where: { $0.reason == .thisDeviceOnly }), !session.style.isQuiet {
            session.message("kcbackup: hint: \(reinstalledThenRestored)\n")
        }
    }
}
