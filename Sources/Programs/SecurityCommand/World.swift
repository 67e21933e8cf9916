internal import Console
internal import Cryptography
internal import KeychainModel
internal import KeychainStore
internal import LocalKeychains

/// Everything around the program that a test replaces: time, environment, folders, terminal, streams, costs.
struct World {
    /// The time of day, in UTC.
    var clock: () -> Timestamp
    /// The environment; no secret is ever read from it.
    var environment: [String: String]
    /// The home folder, absolute.
    var home: String
    /// The folder that relative paths start from, absolute.
    var workingFolder: String
    /// Where the machine ID is (machine-id(5)).
    var machineIDPath: String
    /// The person in front of the program.
    var terminal: any Terminal
    /// Where the commands of interactive mode come from.
    var input: any CommandInput
    /// Where results go.
    var output: any TextOutput
    /// Where everything else goes.
    var messages: any TextOutput
    /// What stays unlocked between commands.
    var keychainSession: KeychainSession
    /// The work that one try of a new keychain's password takes.
    var cost: ScryptCost?
    /// The lowest cost believed when a keychain is opened; nil for the lower end of `Keybag.costRange`.
    var lowestCost: ScryptCost?

    /// The world of a process that was started by a person or a script.
    static func ofThisProcess() -> World {
        World(
            clock: { Timestamp(microseconds: ProcessEnvironment.microsecondsSince1970) ?? .reference },
            environment: ProcessEnvironment.variables,
            home: ProcessEnvironment.home,
            // A folder that was removed has no name, and a relative path must not become one from the root.
            workingFolder: ProcessEnvironment.workingFolder ?? "/proc/self/cwd",
            machineIDPath: "/etc/machine-id",
            terminal: ControllingTerminal(),
            input: Descriptor.standardInput,
            output: Descriptor.standardOutput,
            messages: Descriptor.standardError,
            keychainSession: KeychainSession(),
            cost: Keychain.defaultCost)
    }

    /// Where keychains are kept.
    var dataFolder: DataFolder { DataFolder(environment: environment, home: home) }

    /// The device key of this installation.
    var device: LocalDevice { LocalDevice(dataFolder, machineIDPath: machineIDPath) }

    /// The path that opens what the user calls `path`.
    func resolve(_ path: String) -> String {
        path.hasPrefix("/") ? path : workingFolder + "/" + path
    }
}
