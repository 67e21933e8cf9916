import Foundation
import KCByteStreams
import KCTestSupport
import Testing

@testable import KCKernelKeyring

extension KernelKeyring {
    /// The payload as text, for tests only.
    func text(of name: String) throws -> String? {
        switch try read(name) {
        case .some(let payload): String(decoding: payload.bytesForTest(), as: UTF8.self)
        case .none: nil
        }
    }
}

/// Runs the test binary again under another program, with a single test that reports its result as its exit status.
enum Probe {
    enum Task: String {
        case reads, readsOnce, keeps, replaces
    }

    /// The exit statuses, which differ from those of the test binary itself.
    static let readAndRevoked: Int32 = 40
    static let full: Int32 = 41
    static let other: Int32 = 42
    static let replaced: Int32 = 43
    /// The `errno` is added to this status.
    static let refused: Int32 = 100

    static func run(_ wrapper: [String], _ task: Task, _ name: String) throws -> Int32 {
        let binary = try #require(CommandLine.arguments.first { $0.contains(".xctest") })
        // `env` comes after the wrapper, because a wrapper may clear the environment.
        let libraries = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"].map { ["LD_LIBRARY_PATH=\($0)"] } ?? []
        let arguments =
            wrapper.dropFirst() + ["env"] + libraries + ["KCBACKUP_PROBE=\(task.rawValue) \(name)", binary]
            + ["--testing-library", "swift-testing", "--filter", "KCKernelKeyringTests.ProbeTests"]
        return try ExternalProgram.run(wrapper[0], Array(arguments)).status
    }
}

private let order = ProcessInfo.processInfo.environment["KCBACKUP_PROBE"]

@Suite(.enabled(if: order != nil, "runs in the second process of other tests"))
struct ProbeTests {
    @Test("The second process reports its result as its exit status") func probe() throws {
        let words = try #require(order).split(separator: " ", maxSplits: 1)
        let name = String(words[1])
        let keyring = KernelKeyring()
        do {
            switch try #require(Probe.Task(rawValue: String(words[0]))) {
            case .reads:
                guard try keyring.text(of: name) == "one" else { break }
                try keyring.revoke(name)
                guard try keyring.text(of: name) == nil else { break }
                exit(Probe.readAndRevoked)
            case .readsOnce:
                if try keyring.text(of: name) == "\u{1}" { exit(Probe.readAndRevoked) }
            case .keeps:
                try keyring.keep(name, SecretBytes(copying: [1]), expiresAfter: 5)
                try keyring.revoke(name)
            case .replaces:
                if try keyring.replace(name, SecretBytes(copying: [2]), expiresAfter: 600) { exit(Probe.replaced) }
            }
        } catch KeyRetentionFailure.refused(let code) {
            exit(Probe.refused + code)
        } catch KeyRetentionFailure.full {
            exit(Probe.full)
        }
        exit(Probe.other)
    }
}
