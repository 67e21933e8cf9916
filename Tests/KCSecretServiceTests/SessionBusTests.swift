import Foundation
import KCSecretService
import KCTestSupport
import Testing

@Suite("Locating the session bus", .waitsForPrograms)
struct SessionBusTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Creates a socket without a listener.
    private func socket(_ name: String) throws -> String {
        let path = folder.path(name)
        let made = try ExternalProgram.run(
            "python3", ["-c", "import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", path])
        try #require(made.status == 0, "\(made.errorText)")
        return path
    }

    @Test("Without a bus, the error names the paths that were tried")
    func noBus() {
        #expect(throws: SecretServiceFailure.noBus(lookedAt: ["/nowhere/bus", "/run/user/none/bus"])) {
            _ = try SessionBus(environment: ["XDG_RUNTIME_DIR": "/nowhere"], runtimeFolder: "/run/user/none")
        }
    }

    @Test("The address in the environment comes first, then XDG_RUNTIME_DIR, then the user's runtime folder")
    func order() throws {
        let path = try socket("bus")
        let given = try SessionBus(
            environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:abstract=x", "XDG_RUNTIME_DIR": folder.path],
            runtimeFolder: "/nowhere")
        #expect(given.address == "unix:abstract=x")
        for (environment, runtime) in [
            (["XDG_RUNTIME_DIR": folder.path, "DBUS_SESSION_BUS_ADDRESS": ""], "/nowhere"),
            (["XDG_RUNTIME_DIR": "/nowhere"], folder.path), ([:], folder.path),
        ] {
            #expect(try SessionBus(environment: environment, runtimeFolder: runtime).address == "unix:path=\(path)")
        }
    }

    @Test("A bus that is reached over a network is refused", arguments: ["tcp:host=a", "unix:abstract=x;nonce-tcp:"])
    func network(address: String) {
        #expect(throws: SecretServiceFailure.busElsewhere(address: address)) {
            _ = try SessionBus(environment: [SessionBus.variable: address], runtimeFolder: "/nowhere")
        }
    }

    @Test(
        "Another user's socket and a file that is not a socket are refused",
        .enabled(if: geteuid() == 0, "giving a socket away takes root"))
    func foreign() throws {
        let path = try socket("bus")
        let changed = unsafe chown(path, 1_234, 1_234)
        try #require(changed == 0)
        let foreign = SecretServiceFailure.foreignBus(path: path, owner: 1_234)
        #expect(throws: foreign) { _ = try SessionBus(environment: [:], runtimeFolder: folder.path) }
        #expect(throws: foreign) {
            _ = try SessionBus(
                environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(path),guid=1"], runtimeFolder: "/nowhere")
        }
        try FileManager.default.removeItem(atPath: path)
        try folder.write("bus", [])
        #expect(throws: SecretServiceFailure.notASocket(path: path)) {
            _ = try SessionBus(environment: [:], runtimeFolder: folder.path)
        }
    }
}
