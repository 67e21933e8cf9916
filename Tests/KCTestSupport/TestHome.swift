import Foundation
import KCByteStreams
package import KCKernelKeyring
package import KCKeychainModel
package import KCSecurityTokens
import Synchronization

/// A device for programs that run in this process: a home folder, a working folder, a machine ID, and a clock that
/// advances by a minute with each run.
///
/// The tests of each program extend it with the world that the program runs in.
package final class TestHome: Sendable {
    /// The folder that contains everything else.
    package let folder: TemporaryFolder
    /// The keys that are kept between runs, in memory.
    package let retention: MemoryRetention
    /// The store that runs keep their keys in: `retention`, unless the test uses the real kernel.
    package let kernel: any KeyRetention
    /// The security chip of the machine.
    package let chip = FakeChip()
    private let connected = Mutex([SoftwareToken()])
    private let minutes = Atomic<Int64>(0)
    private let suspended = Atomic<Int64>(0)

    /// Creates an empty home.
    ///
    /// - Parameter inMemory: true for tests with many runs, which would wait for the disk.
    package init(
        retention: MemoryRetention = MemoryRetention(), kernel: (any KeyRetention)? = nil, inMemory: Bool = false
    ) throws {
        self.retention = retention
        self.kernel = kernel ?? retention
        folder = try TemporaryFolder(inMemory: inMemory)
        for name in ["home", "work"] { try Path.makeFolder(folder.path(name)) }
        try folder.writeMachineID()
        try writeProgram()
    }

    /// Creates a copy of a home that was prepared before, as it is after the last run there.
    ///
    /// Data that is bound to paths, such as kept states and catalogues, is not known in the copy.
    package init(copying other: TestHome) throws {
        retention = MemoryRetention()
        kernel = retention
        folder = try TemporaryFolder()
        for name in ["home", "work", TemporaryFolder.machineIDName] {
            try FileManager.default.copyItem(atPath: other.folder.path(name), toPath: folder.path(name))
        }
        minutes.store(other.minutes.load(ordering: .relaxed), ordering: .relaxed)
        try writeProgram()
    }

    private func writeProgram() throws { try folder.write("kcbackup", [], mode: 0o700) }

    /// The default environment of a run.
    package static let environment = ["PATH": "/usr/bin:/bin"]
    /// The home folder.
    package var home: String { folder.path("home") }
    /// The folder that relative paths are resolved against.
    package var workingFolder: String { folder.path("work") }
    /// The path of the program that units and cron lines start: an empty file that only the user can change.
    package var program: String { folder.path("kcbackup") }
    /// The path of the machine ID file.
    package var machineIDPath: String { folder.path(TemporaryFolder.machineIDName) }

    /// The path of a file in the working folder.
    package func path(_ name: String) -> String { folder.path("work/" + name) }

    /// Writes a file into the working folder, changed when the clock stood where it stands.
    package func write(_ name: String, _ bytes: [UInt8], mode: Int = 0o600) throws {
        if let end = name.lastIndex(of: "/") {
            try FileManager.default.createDirectory(
                atPath: folder.path("work/" + name[..<end]), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
        let path = try folder.write("work/" + name, bytes, mode: mode)
        let seconds = time(after: minutes.load(ordering: .relaxed)).microseconds / 1_000_000
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: Double(seconds))], ofItemAtPath: path)
    }

    /// Writes a text file into the working folder.
    package func write(_ name: String, _ text: String, mode: Int = 0o600) throws {
        try write(name, Array(text.utf8), mode: mode)
    }

    /// The time of the next run, a minute after the last one.
    package func nextTime() -> Timestamp {
        time(after: minutes.add(1, ordering: .relaxed).newValue)
    }

    private func time(after minutes: Int64) -> Timestamp {
        let start = Timestamp("2026-03-01T09:29:00.000000Z") ?? .reference
        return start.advanced(byMicroseconds: minutes * 60_000_000)
    }

    /// The security tokens of the machine: one, unless the test connected others.
    package var securityTokens: SecurityTokens { SecurityTokens(.transports(tokens), patience: 50) }

    /// The security tokens that are connected.
    package var tokens: [SoftwareToken] {
        get { connected.withLock { $0 } }
        set { connected.withLock { $0 = newValue } }
    }

    /// Advances the clock, or sets it back.
    package func pass(hours: Int64) { minutes.add(hours * 60, ordering: .relaxed) }

    /// Simulates suspending the machine for a minute.
    package func sleep() { suspended.add(60_000, ordering: .relaxed) }

    /// How long the machine has been suspended, in milliseconds.
    package var suspendedTime: Int64 { suspended.load(ordering: .relaxed) }
}
