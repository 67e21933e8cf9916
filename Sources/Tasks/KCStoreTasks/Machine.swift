internal import KCByteStreams
internal import KCConsole
package import KCCryptography
package import KCDeviceIdentity
internal import KCKeychainKeys
package import KCKeychainModel
package import KCKeychainStore
package import KCLocalKeychains
internal import KCSecretService
package import KCSecurityTokens

/// The surroundings that tasks work with and tests replace: time, environment, folders, chip, tokens, costs.
package struct Machine {
    /// The time of day, in UTC.
    package var clock: () -> Timestamp
    /// The environment; secrets are never read from it.
    package var environment: [String: String]
    /// The home folder, used if the environment names no data folder.
    package var home: String
    /// The folder for relative paths; nil for the process's working folder.
    package var workingFolder: String?
    /// The root of the system.
    package var systemRoot = "/"
    /// The path of the machine ID (machine-id(5)).
    package var machineIDPath = "/etc/machine-id"
    /// The folder of the connections of NetworkManager (nm-settings-keyfile(5)).
    package var systemConnections = "/etc/NetworkManager/system-connections"
    /// The security chip, which may hold the device key.
    package var chip = LocalDevice.chip
    /// The security tokens that may be connected.
    package var tokens = SecurityTokens()
    /// The cost of passphrases and passcodes.
    package var costs: DerivationCosts
    /// The keychains that stay unlocked between commands.
    package var unlocked = KeychainSession()
    /// The user's folder in `/run/user`, in which systemd creates the session bus.
    package var userRuntimeFolder = SessionBus.runtimeFolder
    /// The path of this program, for units and scripts that start it later.
    package var program: String
    /// The path of the program that reads other programs' files.
    package var readerPath = CompanionProgram.path(of: "kcbackup-read")
    /// The name and version of this program, as recorded in archives.
    package var tool = "kcbackup"

    package init(
        clock: @escaping () -> Timestamp, environment: [String: String], home: String, costs: DerivationCosts,
        program: String
    ) {
        self.clock = clock
        self.environment = environment
        self.home = home
        self.costs = costs
        self.program = program
    }

    /// The folder in which this program stores its files.
    package var dataFolder: DataFolder { DataFolder(environment: environment, home: home) }

    /// The folder for temporary files.
    package var temporaryFolder: String {
        guard let folder = environment["TMPDIR"], !folder.isEmpty else { return "/tmp" }
        return folder
    }

    /// Resolves a path given by the user.
    ///
    /// A leading `~/` is the home folder, even if no shell has expanded it, as in `file:~/x`.
    package func resolve(_ path: String) -> String {
        if let rest = path.exact.removingPrefix("~/") { return home + "/" + rest }
        guard let workingFolder, !path.exact.hasPrefix("/") else { return path }
        return workingFolder + "/" + path
    }
}

/// The costs of deriving keys from passcodes and passphrases.
package struct DerivationCosts: Sendable {
    /// For a keychain's passcode.
    package var passcode: ScryptCost?
    /// The lowest cost accepted when opening a keychain; nil for the lower end of `Keybag.costRange`.
    package var lowestPasscode: ScryptCost?
    /// For an archive's passphrase: age's default, 256 MiB and about a second.
    package var passphrase: ScryptCost?
    /// For the password of an exported KeePass database: the memory that testing one takes.
    package var kdbxMemoryInKiB: UInt32

    package init(
        passcode: ScryptCost? = Keychain.defaultCost, lowestPasscode: ScryptCost? = nil,
        passphrase: ScryptCost? = ScryptCost(logN: 18), kdbxMemoryInKiB: UInt32 = 65_536
    ) {
        self.passcode = passcode
        self.lowestPasscode = lowestPasscode
        self.passphrase = passphrase
        self.kdbxMemoryInKiB = kdbxMemoryInKiB
    }

    /// The costs that this process uses: the usual ones, unless tests run a program that was built for them.
    package static var ofThisProcess: DerivationCosts {
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
