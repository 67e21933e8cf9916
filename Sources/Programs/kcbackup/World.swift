internal import KCAgeEncryption
internal import KCBackupCatalogue
internal import KCByteStreams
internal import KCConsole
internal import KCCryptography
internal import KCDeviceIdentity
internal import KCKeychainKeys
internal import KCKeychainModel
internal import KCKeychainStore
internal import KCLocalKeychains
internal import KCSecretService
internal import KCSecurityTokens

/// Everything outside the program that tests replace: time, environment, folders, terminal, outputs, costs.
struct World {
    /// The time of day, in UTC.
    var clock: () -> Timestamp
    /// The calendar of the user's time zone.
    var calendar = LocalCalendar()
    /// Monotonic time, with an arbitrary start.
    var stopwatch: () -> Duration
    /// The environment; secrets are never read from it.
    var environment: [String: String]
    /// The home folder, used if the environment names no data folder.
    var home: String
    /// The folder for relative paths; nil for the process's working folder.
    var workingFolder: String?
    /// The root of the system.
    var systemRoot = "/"
    /// The path of the machine ID (machine-id(5)).
    var machineIDPath: String
    /// The folder of the connections of NetworkManager (nm-settings-keyfile(5)).
    var systemConnections = "/etc/NetworkManager/system-connections"
    /// The security chip, which may hold the device key.
    var chip = LocalDevice.chip
    /// The security tokens that may be connected.
    var tokens = SecurityTokens()
    /// The user's terminal.
    var terminal: any Terminal
    /// Standard output.
    var output: any TextOutput
    /// Standard error.
    var messages: any TextOutput
    /// The cost of passphrases and passcodes.
    var costs: DerivationCosts
    /// The keychains that stay unlocked between commands.
    var unlocked = KeychainSession()
    /// What shows a notice later, if the user still waits then; by default, nothing does.
    var later: DelayedNotice.Timer = { _, _ in {} }

    /// What runs a command in place of this process, and returns only where nothing is replaced.
    var takeOver: (Successor) throws -> Void = { try $0.takeOver() }

    /// Returns the world of the actual process.
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
            costs: DerivationCosts.ofThisProcess,
            later: Later.start)
    }

    /// The user's folder in `/run/user`, in which systemd creates the session bus.
    var userRuntimeFolder = SessionBus.runtimeFolder

    /// The path of this program, for units and scripts that start it later.
    var program = ProcessEnvironment.program

    /// The folder in which this program stores its files.
    var dataFolder: DataFolder { DataFolder(environment: environment, home: home) }

    /// The folder for temporary files.
    var temporaryFolder: String {
        guard let folder = environment["TMPDIR"], !folder.isEmpty else { return "/tmp" }
        return folder
    }

    /// Resolves a path given by the user.
    ///
    /// A leading `~/` is the home folder, even if no shell has expanded it, as in `file:~/x`.
    func resolve(_ path: String) -> String {
        if let rest = path.exact.removingPrefix("~/") { return home + "/" + rest }
        guard let workingFolder, !path.exact.hasPrefix("/") else { return path }
        return workingFolder + "/" + path
    }
}

/// The costs of deriving keys from passcodes and passphrases.
struct DerivationCosts: Sendable {
    /// For a keychain's passcode.
    var passcode = Keychain.defaultCost
    /// The lowest cost accepted when opening a keychain; nil for the lower end of `Keybag.costRange`.
    var lowestPasscode: ScryptCost?
    /// For an archive's passphrase: age's default, 256 MiB and about a second.
    var passphrase = ScryptCost(logN: 18)
    /// For the password of an exported KeePass database: the memory that testing one takes.
    var kdbxMemoryInKiB: UInt32 = 65_536

    /// The costs that this process uses: the usual ones, unless tests run a program that was built for them.
    static var ofThisProcess: DerivationCosts {
        #if KCBACKUP_QUICK
            if ProcessEnvironment.variables["KCBACKUP_LOWEST_COSTS"] != nil {
                let lowest = ScryptCost(logN: 1)
                return DerivationCosts(
                    passcode: lowest, lowestPasscode: lowest, passphrase: ScryptCost(logN: 10), kdbxMemoryInKiB: 64)
            }
        #endif
        return DerivationCosts()
    }
}
