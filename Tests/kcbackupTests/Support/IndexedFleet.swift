import Foundation
import KCDeviceIdentity
import KCTerminal
import KCTestSupport
import Testing

@testable import kcbackup

/// Machines with keychains, whose archives are in the folder `remote/fleet` of a home, from which they are indexed.
struct IndexedFleet {
    let home: TestHome
    let rclone: FakeRclone
    private let machines: [String: TestHome]
    private let recipients: [String]

    /// A secret that every machine has, and that must be nowhere else.
    static let secret = "correct-horse-battery"

    /// Makes the machines `ada` and `bob`, which are in `machines.txt`, and `eve`, which is not.
    ///
    /// Each has a login for a host of its own.
    init() throws {
        home = try TestHome()
        rclone = try FakeRclone(home)
        for key in ["inspect-key", "restore-key", "other-key"] {
            try #require(home.run("keygen -o \(key)").status == .ok)
        }
        let home = self.home
        recipients = try ["restore-key", "inspect-key"].map { key in
            let text = String(decoding: try home.folder.read("work/\(key)"), as: UTF8.self)
            return String(try #require(text.firstMatch(of: /age1\w+/)).0)
        }
        var machines: [String: TestHome] = [:]
        for name in ["ada", "bob", "eve"] {
            let machine = try TestHome()
            machines[name] = machine
            try machine.write("secret", Self.secret + "\n")
            try #require(machine.run("keychain create --no-passcode").status == .ok)
            try Self.add("mail.\(name).example.org", account: name, to: machine)
        }
        self.machines = machines
        try home.write("machines.txt", "\(try id("ada")) ada\n\(try id("bob")) bob\n")
    }

    private static func add(_ server: String, account: String, to machine: TestHome) throws {
        try #require(
            machine.run("item add --class inet --server \(server) --account \(account) --secret file:secret").status
                == .ok)
    }

    func add(_ server: String, account: String = "shared", to name: String) throws {
        try Self.add(server, account: account, to: try #require(machines[name]))
    }

    func delete(server: String, of name: String) throws {
        try #require(try #require(machines[name]).run("item delete --server \(server)").status == .ok)
    }

    /// The device ID of a machine.
    func id(_ name: String) throws -> String {
        let text = try #require(machines[name]).run("device show").text
        return String(try #require(text.firstMatch(of: /KC-[A-Z2-7-]+/)).0)
    }

    /// Lets days pass on a machine.
    func wait(days: Int64, on name: String) throws {
        try #require(machines[name]).pass(hours: days * 24)
    }

    /// Makes an archive and returns its path below `work` of the home.
    ///
    /// - Parameters:
    ///   - folder: the machine in whose folder it is put; nil for its own.
    ///   - options: other keys than the usual ones.
    @discardableResult
    func backUp(
        _ name: String, as file: String = "login-1.kcb", in folder: String? = nil, _ options: String? = nil
    ) throws -> String {
        let machine = try #require(machines[name])
        let keys = options ?? "-r \(recipients[0]) --inspect-recipient \(recipients[1])"
        try #require(machine.run("create \(file) \(keys)").status == .ok)
        let path = "remote/fleet/archives/\(try id(folder ?? name))/\(file)"
        try home.write(path, try machine.folder.read("work/\(file)"))
        return path
    }

    func index(
        _ options: String = "-i inspect-key --inventory machines.txt", to file: String = "fleet.index"
    ) -> TestHome.Outcome {
        home.run(
            ["fleet", "index", "nas:fleet", "-o", file] + options.split(separator: " ").map(String.init),
            environment: rclone.environment)
    }

    func search(_ words: String...) -> TestHome.Outcome { home.run(["fleet", "search", "fleet.index"] + words) }

    func export(_ words: String...) -> TestHome.Outcome { home.run(["fleet", "export", "fleet.index"] + words) }

    /// The objects in the lines of a file.
    func lines(_ name: String) throws -> [[String: Any]] {
        try home.folder.read("work/\(name)").split(separator: UInt8(ascii: "\n")).map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        }
    }

    /// True if the bytes of a file have this text anywhere.
    func file(_ name: String, has text: String) throws -> Bool {
        Data(try home.folder.read("work/\(name)")).range(of: Data(text.utf8)) != nil
    }
}
