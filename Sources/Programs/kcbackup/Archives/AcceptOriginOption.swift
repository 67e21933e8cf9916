internal import ArgumentParser
internal import KCBackupEngine
internal import KCConsole
internal import KCDeviceIdentity
internal import KCTerminal

/// The option that accepts an archive of a device that is not trusted.
struct AcceptOriginOption: ParsableArguments {
    @Option(
        name: OptionName.acceptOrigin.name,
        help: ArgumentHelp(
            "Accept an archive signed by the device with this ID, though it is not trusted.", valueName: "id"),
        completion: KnownNames.devices)
    var acceptOrigin: String?

    /// The device that was given.
    func device() throws(UsageProblem) -> DeviceID? {
        guard let acceptOrigin else { return nil }
        guard let id = DeviceID(acceptOrigin) else { throw .deviceID }
        return id
    }

    /// Asks whether to accept an unknown origin, if there is a terminal.
    ///
    /// - Throws: `RestoreRefusal`; errors of the terminal.
    static func ask(
        about proven: ProvenArchive, _ options: inout RestoreOptions, question: String, in session: Session
    ) throws {
        do throws(RestoreRefusal) {
            _ = try Bring(.archive(proven), options: options)
        } catch {
            guard case .unknownOrigin(let device) = error, session.world.terminal.isAttended else { throw error }
            session.warn("device \(device), which signed this archive, is not trusted")
            guard try session.world.terminal.confirms(question) else { throw error }
            options.acceptedOrigin = device
        }
    }
}
