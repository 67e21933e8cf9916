package import KCAgePlugins
package import KCAsking
package import KCItemStores
package import KCKeychainModel
package import KCKeychainStore
internal import KCLocalKeychains

/// The context of the tasks of a run: the machine, who answers their questions, and who is told what happens meanwhile.
///
/// ```swift
/// let context = TaskContext(machine: machine, asking: asking, now: machine.clock()) { events.append($0) }
/// let local = try LocalKeychain("login", in: machine)
/// let keychain = try context.open(local, passcode: nil)
/// try context.unlock(keychain, of: local, for: .all, passcode: nil)
/// ```
package struct TaskContext {
    package let machine: Machine
    package let asking: any Asking
    /// When the run began; everything that one run writes has this date.
    package let now: Timestamp
    /// The password of the desktop keyring: several collections may need it, and a source gives it only once.
    let desktopPassword: KeptSecret
    package let tell: (any TaskEvent) -> Void

    package init(
        machine: Machine, asking: any Asking, now: Timestamp, desktopPassword: KeptSecret = KeptSecret(),
        tell: @escaping (any TaskEvent) -> Void
    ) {
        self.machine = machine
        self.asking = asking
        self.now = now
        self.desktopPassword = desktopPassword
        self.tell = tell
    }

    /// The input for secrets.
    package var secrets: SecretInput {
        SecretInput(
            asking: asking, places: SecretPlaces(environment: machine.environment, resolve: machine.resolve),
            tell: tell)
    }

    /// The plugins of age that hold keys of this user.
    package var plugins: PluginPrograms {
        PluginPrograms(home: machine.home, environment: machine.environment, for: asking.pluginUser)
    }

    /// Where stores keep their states, with what is told of them.
    package var stateSetting: StateSetting {
        StateSetting(
            folder: machine.dataFolder, temporaryFolder: machine.temporaryFolder, home: machine.home,
            device: LocalDevice(machine), now: now, tool: machine.tool, didKeep: { tell(StateEvent.kept) },
            warn: { tell(StateEvent.warning($0)) })
    }

    package func states(of keychain: Keychain) -> KeychainStates { KeychainStates(of: keychain, stateSetting) }

    /// Runs `body`, which reads secrets from `sources` and works with them; if one is typed, nothing else that is typed
    /// meanwhile is shown.
    ///
    /// - Throws: `TerminalFailure`, and what `body` throws.
    package func quietly<Result: ~Copyable>(_ sources: SecretSource?..., body: () throws -> Result) throws -> Result {
        let isTyped = sources.contains { $0 == .terminal || $0 == nil && asking.isAttended }
        return try isTyped ? asking.quietly(body) : body()
    }
}

/// An event about the states that a run keeps.
package enum StateEvent: TaskEvent {
    /// A state was kept of what is changed, to which `undo` goes back.
    case kept
    case warning(StateWarning)
}
