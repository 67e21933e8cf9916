package import KCAgeEncryption
package import KCAgePlugins
package import KCByteStreams
package import KCConsole

/// A source of answers to the questions of a task, such as the user's terminal.
package protocol Asking {
    /// True if a person can be asked.
    var isAttended: Bool { get }

    /// Asks for a secret that was set earlier.
    ///
    /// - Parameter wrong: what the last answer was, if it was wrong.
    func secret(_ question: SecretQuestion, after wrong: WrongAnswer?) throws(TerminalFailure) -> SecretBytes

    /// Asks for a new secret.
    ///
    /// - Parameter differed: how often the two entries have differed so far.
    func newSecret(_ question: SecretQuestion, differed: Int) throws(TerminalFailure) -> SecretBytes

    /// Asks for the secret that was just entered once more.
    func newSecretAgain() throws(TerminalFailure) -> SecretBytes

    /// Runs `body`, which asks for secrets and works with them, and shows nothing that is typed meanwhile.
    ///
    /// - Throws: `TerminalFailure`, and what `body` throws.
    func quietly<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result

    /// Runs `check`, which finds out whether a secret is right, and says so if that takes a while.
    func checking<Result: ~Copyable>(_ check: () throws -> Result) rethrows -> Result

    /// Asks for a touch of a security token, where a passcode would be asked for.
    func touch(_ request: TouchRequest) throws(TerminalFailure)

    /// Has a recovery kit typed.
    ///
    /// - Returns: its key; of shares that no kit of this device has, the keys of both kinds that it may be.
    func recoveryKit() throws -> [NativeIdentity]

    /// Shows a secret that was made up, this once.
    func show(generated secret: borrowing SecretBytes, _ kind: SecretQuestion.Kind) throws(TerminalFailure)

    /// Asks a question whose answer is yes or no; only if a person can be asked.
    func confirms(_ question: TaskQuestion) throws(TerminalFailure) -> Bool

    /// Asks which of two stores is to be backed up; only if a person can be asked.
    ///
    /// - Throws: `TerminalFailure`, and what ends the run if neither is.
    func storeToBackUp(keychain: String, _ doubt: StoreDoubt) throws -> StoreAnswer

    /// The person for whom plugins of age run.
    var pluginUser: any PluginUser { get }

    /// Starts to show the progress of work.
    ///
    /// - Parameters:
    ///   - total: returns the amount of work, in steps or in the unit of `done`, nil if unknown; called only if somebody
    ///     waits.
    ///   - done: returns the amount of work done so far; nil to count steps.
    func follow(
        _ work: TaskWork, total: () throws -> UInt64?, done: (() -> UInt64)?
    ) rethrows -> any TaskProgress
}

/// A question of a task whose answer is yes or no.
package enum TaskQuestion: Hashable, Sendable {
    /// Whether a keychain is to be made without a passcode.
    case noPasscode
}

/// Why it is not clear whether the default keychain or the desktop keyring is to be backed up.
package enum StoreDoubt: Hashable, Sendable, CaseIterable {
    /// Both have items, and nothing was chosen.
    case bothHaveItems
    case keychainIsEmpty
    case desktopIsEmpty
}

/// The store that a person chose.
package enum StoreAnswer: Hashable, Sendable {
    case keychain, desktop
}

/// Work that may take a while.
package enum TaskWork: Hashable, Sendable {
    case readingItems
    case decryptingFiles
    case archivingItems
    case checkingArchive
    case verifyingItems
    case restoringForTrial
}

/// The progress of work.
package protocol TaskProgress {
    /// Counts a step.
    func step()
    /// Ends the display.
    func finish()
}

/// A touch of a security token that a task waits for.
package enum TouchRequest: Hashable, Sendable {
    /// The token with this name is to be touched.
    case named(String)
    /// The token that blinks is to be touched.
    case blinking
    /// The token that was just touched is to be touched again.
    case again
}

/// A secret that was wrong, and may be typed again.
package struct WrongAnswer: Hashable, Sendable {
    package let kind: SecretQuestion.Kind
    /// How many more tries there are; at least 1.
    package let triesLeft: Int
    /// Why the secret may be wrong although it looks right.
    package let doubt: SecretDoubt?

    package init(_ kind: SecretQuestion.Kind, triesLeft: Int, doubt: SecretDoubt?) {
        self.kind = kind
        self.triesLeft = triesLeft
        self.doubt = doubt
    }
}
