internal import AgeEncryption
internal import Console
internal import Cryptography
internal import KeychainModel
internal import KeychainStore
internal import LocalKeychains

/// Everything around the program that a test replaces: time, environment, folders, terminal, outputs, costs.
struct World {
    /// The time of day, in UTC.
    var clock: () -> Timestamp
    /// Time that only moves forward, from any start.
    var stopwatch: () -> Duration
    /// The environment; no secret is ever read from it.
    var environment: [String: String]
    /// The home folder, for when the environment names no folder for data.
    var home: String
    /// The folder that relative paths start from; nil leaves that to the operating system.
    var workingFolder: String?
    /// Where the machine ID is (machine-id(5)).
    var machineIDPath: String
    /// The person in front of the program.
    var terminal: any Terminal
    /// Where results go.
    var output: any TextOutput
    /// Where everything else goes.
    var messages: any TextOutput
    /// The work that passphrases and passcodes take.
    var costs: DerivationCosts
    /// What stays unlocked between commands.
    var unlocked = KeychainSession()

    /// The world of a process that was started by a person or a timer.
    static func ofThisProcess() -> World {
        let start = ContinuousClock.now
        return World(
            clock: { Timestamp(microseconds: ProcessEnvironment.microsecondsSince1970) ?? .reference },
            stopwatch: { ContinuousClock.now - start },
            environment: ProcessEnvironment.variables,
            home: ProcessEnvironment.home,
            workingFolder: nil,
            machineIDPath: "/etc/machine-id",
            terminal: ControllingTerminal(),
            output: Descriptor.standardOutput,
            messages: Descriptor.standardError,
            costs: DerivationCosts())
    }

    /// Where this program keeps its files.
    var dataFolder: DataFolder { DataFolder(environment: environment, home: home) }

    /// The path that opens what the user calls `path`.
    func resolve(_ path: String) -> String {
        guard let workingFolder, !path.hasPrefix("/") else { return path }
        return workingFolder + "/" + path
    }
}

/// The work that one try of a passcode or a passphrase takes.
struct DerivationCosts: Sendable {
    /// For a keychain's passcode.
    var passcode = Keychain.defaultCost
    /// The lowest cost believed when a keychain is opened; nil for the lower end of `Keybag.costRange`.
    var lowestPasscode: ScryptCost?
    /// For an archive's passphrase: age's own choice, 256 MiB and about a second.
    var passphrase = ScryptCost(logN: 18)
}
