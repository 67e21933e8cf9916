import ByteStreams
import Foundation
package import KernelKeyring
package import KeychainModel
import Synchronization

/// A device for programs that run in this process: home, working folder, machine ID, and a clock that moves a minute
/// a run.
///
/// The tests of each program extend it with the world that the program runs in.
package final class TestHome: Sendable {
    /// What everything else is in.
    package let folder: TemporaryFolder
    /// What stays unlocked between runs.
    package let retention: MemoryRetention
    /// Where keys are kept between runs: `retention`, unless the test wants the real kernel.
    package let kernel: any KeyRetention
    private let minutes = Atomic<Int64>(0)
    private let suspended = Atomic<Int64>(0)

    /// Makes an empty home.
    ///
    /// - Parameter inMemory: for tests whose many runs would wait for the disk.
    package init(
        retention: MemoryRetention = MemoryRetention(), kernel: (any KeyRetention)? = nil, inMemory: Bool = false
    ) throws {
        self.retention = retention
        self.kernel = kernel ?? retention
        folder = try TemporaryFolder(inMemory: inMemory)
        for name in ["home", "work"] { try Path.makeFolder(folder.path(name)) }
        try folder.writeMachineID()
    }

    /// The environment of a run that sets nothing else.
    package static let environment = ["PATH": "/usr/bin:/bin"]
    /// The home folder.
    package var home: String { folder.path("home") }
    /// The folder that relative paths start from.
    package var workingFolder: String { folder.path("work") }
    /// Where the machine ID is.
    package var machineIDPath: String { folder.path(TemporaryFolder.machineIDName) }

    /// The path of a file in the working folder.
    package func path(_ name: String) -> String { folder.path("work/" + name) }

    /// Writes a file into the working folder.
    package func write(_ name: String, _ bytes: [UInt8], mode: Int = 0o600) throws {
        if let end = name.lastIndex(of: "/") {
            try FileManager.default.createDirectory(
                atPath: folder.path("work/" + name[..<end]), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
        try folder.write("work/" + name, bytes, mode: mode)
    }

    /// Writes a text into the working folder.
    package func write(_ name: String, _ text: String, mode: Int = 0o600) throws {
        try write(name, Array(text.utf8), mode: mode)
    }

    /// The time of the next run, a minute after the last one.
    package func nextTime() -> Timestamp {
        let minutes = minutes.add(1, ordering: .relaxed).newValue
        let start = Timestamp("2026-03-01T09:29:00.000000Z") ?? .reference
        return start.advanced(byMicroseconds: minutes * 60_000_000)
    }

    /// Lets time pass, or sets the clock back.
    package func pass(hours: Int64) { minutes.add(hours * 60, ordering: .relaxed) }

    /// Lets the machine sleep for a minute.
    package func sleep() { suspended.add(60_000, ordering: .relaxed) }

    /// How long the machine has slept, in milliseconds.
    package var suspendedTime: Int64 { suspended.load(ordering: .relaxed) }
}
