internal import KCByteStreams
package import KCKeychainModel
package import KCLocalKeychains

/// A state that a store had before a change, and that can be brought back.
package struct KeptState: Hashable, Sendable {
    /// The time when it was kept, with a number if that is not enough.
    package let name: String
    package let path: String
    /// The time when it was kept.
    package let date: Timestamp
    /// The change that was made next; nil if it is unknown.
    package let before: KeptStates.Change?

    /// The command before which it was kept, as the user typed it; nil if that is unknown.
    package var command: String? { before?.command }

    /// Reads from the state.
    ///
    /// - Throws: `StateFailure.unreadable` for what `body` throws, unless the run was interrupted.
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            if Interruption.isRequested || error is StateFailure { throw error }
            throw StateFailure.unreadable(self, error)
        }
    }
}

/// The states of a store.
package struct StateList {
    /// The states, the newest first.
    package let states: [(state: KeptState, contents: Result<StateContents, StateFailure>)]
    /// Why the store itself does not open; nil if it does, or if that was not tried.
    package var damage: (any Error)?
    /// How many states there are of other keychains that were at the place of this one, and are nowhere now.
    package var ofOthers = 0
}

/// How much a state holds.
package struct StateContents: Hashable, Sendable {
    package let items: Int
    /// The size of the file in bytes.
    package let size: UInt64
}

/// Why a state cannot be kept or brought back.
package enum StateFailure: Error {
    /// None is kept, or none with this name.
    case none(named: String?)
    /// The store is as in this state.
    case present(name: String)
    /// The state is damaged, or cannot be read.
    case unreadable(KeptState, any Error)
    /// The states at the place of a keychain that does not open are of another one; `nowAt` is where that one is, if known.
    case otherKeychain(nowAt: String?)
    /// The passcode has been changed since it was kept.
    case otherPasscode(path: String)
    /// The present state cannot be kept; nothing was changed.
    case notKept(any Error)
    /// An item has no room for what a state adds to it.
    case unkeepable(label: String)
}

/// Where a store keeps its states, and what it tells about them.
package struct StateSetting {
    package let folder: DataFolder
    /// Where items wait that are too many or too large for the memory.
    package let temporaryFolder: String
    /// The home of the user, which distinguishes a desktop keyring from that of another home with the same data folder.
    package let home: String
    package let device: LocalDevice
    package let now: Timestamp
    /// The program's name and version, for states that are archives.
    package let tool: String
    /// Called when a state has been kept of what was changed.
    package let didKeep: () -> Void
    package let warn: (StateWarning) -> Void

    package init(
        folder: DataFolder, temporaryFolder: String, home: String, device: LocalDevice, now: Timestamp, tool: String,
        didKeep: @escaping () -> Void, warn: @escaping (StateWarning) -> Void
    ) {
        self.folder = folder
        self.temporaryFolder = temporaryFolder
        self.home = home
        self.device = device
        self.now = now
        self.tool = tool
        self.didKeep = didKeep
        self.warn = warn
    }

    func removing(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            warn(.notRemoved(error))
        }
    }
}

/// A problem that does not end a change of a store, but should be known.
package enum StateWarning {
    /// A state that is not needed any longer could not be removed.
    case notRemoved(any Error)
    /// States that were to be removed stayed, since they may be those of a copy.
    case kept(KeptStates.Doubtful)
    /// The record of a restore that was broken off is not as this device wrote it, and is not used.
    case lostRecord(path: String)
}
