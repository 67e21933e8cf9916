internal import KCByteStreams
internal import KCConsole
internal import KCCryptography
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains

/// Everything outside the program that tests replace: time, environment, folders, terminal, streams, costs.
struct World {
    /// The time of day, in UTC.
    var clock: () -> Timestamp
    /// The environment; secrets are never read from it.
    var environment: [String: String]
    /// The home folder, as an absolute path.
    var home: String
    /// The folder for relative paths, as an absolute path.
    var workingFolder: String
    /// The path of the machine ID (machine-id(5)).
    var machineIDPath: String
    /// The user's terminal.
    var terminal: any Terminal
    /// The input of interactive mode.
    var input: any CommandInput
    /// Standard output.
    var output: any TextOutput
    /// Standard error.
    var messages: any TextOutput
    /// The keychains that stay unlocked between commands.
    var keychainSession: KeychainSession
    /// The scrypt cost of a new keychain's password.
    var cost: ScryptCost?
    /// The lowest scrypt cost accepted when opening a keychain; nil for the lower end of `Keybag.costRange`.
    var lowestCost: ScryptCost?
    /// The timer that shows a notice later, if the user still waits then; by default, it shows none.
    var later: DelayedNotice.Timer = { _, _ in {} }

    /// Returns the world of the actual process.
    static func ofThisProcess() -> World {
        World(
            clock: { Timestamp(microseconds: ProcessEnvironment.microsecondsSince1970) ?? .reference },
            environment: ProcessEnvironment.variables,
            home: ProcessEnvironment.home,
            // A removed folder has no name, and a relative path must not be resolved against the root instead.
            workingFolder: ProcessEnvironment.workingFolder ?? "/proc/self/cwd",
            machineIDPath: "/etc/machine-id",
            terminal: ControllingTerminal(),
            input: Descriptor.standardInput,
            output: Descriptor.standardOutput,
            messages: Descriptor.standardError,
            keychainSession: KeychainSession(),
            cost: Keychain.defaultCost,
            later: Later.start)
    }

    /// The folder in which keychains are kept.
    var dataFolder: DataFolder { DataFolder(environment: environment, home: home) }

    /// The device key of this installation.
    var device: LocalDevice { LocalDevice(dataFolder, machineIDPath: machineIDPath) }

    /// Resolves a path given by the user.
    func resolve(_ path: String) -> String {
        path.exact.hasPrefix("/") ? path : workingFolder + "/" + path
    }
}
