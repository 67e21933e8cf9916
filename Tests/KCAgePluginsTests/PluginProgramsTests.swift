import Foundation
import Glibc
import KCAgeEncryption
import KCByteStreams
import KCConsole
import KCTestSupport
import Testing

@testable import KCAgePlugins

@Suite("Plugins that are run", .waitsForPrograms, .enabled(if: ScriptedPlugin.isRunnable, "python3 is needed"))
struct PluginProgramsTests {
    /// A user with the plugin.
    private final class Home {
        let folder: TemporaryFolder
        let plugin: ScriptedPlugin
        private let user: ScriptedUser
        private let patience: Duration

        init(answers: [String]? = nil, patience: Duration = .seconds(600)) throws {
            // A program writes to one that may have ended.
            _ = Glibc.signal(SIGPIPE, SIG_IGN)
            folder = try TemporaryFolder()
            plugin = try ScriptedPlugin(in: folder.path)
            user = ScriptedUser(answers: answers)
            self.patience = patience
        }

        var programs: PluginPrograms {
            PluginPrograms(
                home: folder.path,
                environment: ["PATH": "/evil", "LD_PRELOAD": "x", "AGEDEBUG": "plugin", "LC_ALL": "C", "USER": "ada"],
                for: user, patience: patience)
        }

        func recipient(_ key: UInt8 = 1, _ behaviour: String = "") throws -> PluginRecipient {
            try #require(PluginRecipient(ScriptedPlugin.recipient(key, behaviour), host: programs))
        }

        func identity(_ key: UInt8 = 1, _ behaviour: String = "") throws -> PluginIdentity {
            try parsedIdentity(ScriptedPlugin.identity(key, behaviour), host: programs)
        }

        func encrypted(to recipients: [any Recipient]) throws -> [UInt8] {
            var encryptor = try AgeEncryptor(recipients: recipients, to: MemorySink())
            try encryptor.write([1, 2, 3].span)
            return try encryptor.finish()
        }

        func decrypted(_ file: [UInt8], with identities: [any Identity]) throws -> [UInt8] {
            try drain(AgeDecryptor(MemorySource(copying: file), identities: identities))
        }

        /// The failure of a run that wraps.
        func failureOfWrapping() throws -> PluginFailure? {
            let recipient = try recipient()
            return pluginFailure { _ = try encrypted(to: [recipient]) }
        }

        /// The failure of a plugin with this behavior.
        func failure(_ behaviour: String) throws -> PluginFailure? {
            let file = try encrypted(to: [recipient()])
            return pluginFailure { _ = try decrypted(file, with: [identity(1, behaviour)]) }
        }
    }

    @Test("A plugin wraps and unwraps, with a clean environment")
    func roundTrip() throws {
        let home = try Home()
        let file = try home.encrypted(to: [home.recipient()])
        #expect(try home.decrypted(file, with: [home.identity()]) == [1, 2, 3])
        #expect(throws: AgeFailure.noMatchingIdentity(["unknown"])) {
            try home.decrypted(file, with: [home.identity(2)])
        }
        let runs = try home.plugin.runs()
        #expect(runs.map(\.machine) == ["recipient-v1", "identity-v1", "identity-v1"])
        #expect(runs.allSatisfy { Set($0.variables).isSubset(of: ["HOME", "LC_ALL", "LC_CTYPE", "PATH", "USER"]) })
    }

    @Test("A key of age itself is tried first, and then no plugin is run; several identities of one plugin are one run")
    func order() throws {
        let home = try Home()
        let own = try X25519Identity.generate()
        let both = try home.encrypted(to: [home.recipient(), home.recipient(2), own.recipient])
        #expect(try home.plugin.runs().count == 1)
        #expect(try home.decrypted(both, with: [home.identity(1, "hang"), own]) == [1, 2, 3])
        #expect(try home.plugin.runs().count == 1)
        #expect(try home.decrypted(both, with: [home.identity(3), home.identity(2)]) == [1, 2, 3])
        #expect(try home.plugin.runs().count == 2)
    }

    @Test("Several files with the same recipients are one run, and what opens one does not open another")
    func severalFiles() throws {
        let home = try Home()
        let both = try home.recipient()
        let keys = try NewFileKey.make(for: [[both, home.recipient(2)], [both]])
        // The recipient of both files takes one run, and the other recipient another one.
        #expect(try home.plugin.runs().count == 2)
        var files: [AgeHeader] = []
        for key in keys {
            files.append(
                try AgeHeader.read(from: MemorySource(copying: AgeEncryptor(key, to: MemorySink()).finish())))
        }
        #expect(files.map(\.stanzas.count) == [2, 1])
        #expect(try FileKey.unwrap(files, with: [home.identity()]).map { $0 != nil } == [true, true])
        #expect(try FileKey.unwrap(files, with: [home.identity(2)]).map { $0 != nil } == [true, false])
        #expect(try home.plugin.runs().count == 4)
        #expect(
            pluginFailure { _ = try FileKey.unwrap(files, with: [home.identity(1, "swapped")]) }
                == .misbehaved("it gave a wrong key"))
    }

    @Test(
        "A plugin that misbehaves is ended, and nothing is decrypted",
        arguments: ["wrong", "short", "other", "twice", "junk", "msgs"])
    func misbehaviour(_ behaviour: String) throws {
        guard case .misbehaved = try Home().failure(behaviour) else {
            Issue.record("it was accepted")
            return
        }
    }

    @Test("A plugin that sends without an end is ended", arguments: ["flood", "line"])
    func flood(_ behaviour: String) throws {
        guard case .tooMuch = try Home().failure(behaviour) else {
            Issue.record("it was accepted")
            return
        }
    }

    @Test("What a plugin reports, or says before it breaks off, is the failure")
    func failures() throws {
        let home = try Home()
        #expect(try home.failure("error") == .reported("the card is \u{1b}[2Jlocked"))
        #expect(try home.failure("early") == .ended(said: "no card\nno \u{1b}[2Jreader\n"))
        #expect(try home.failure("pin") == .unattended)
        #expect(try home.failure("grease") == nil)
        #expect(try Home(answers: ["1234"]).failure("pin") == nil)
        #expect(try Home(answers: ["4321"]).failure("pin") == .reported("wrong PIN"))
    }

    @Test("Without a user, a plugin that hangs is ended with what it has started")
    func hang() throws {
        let home = try Home()
        let file = try home.encrypted(to: [home.recipient()])
        let impatient = PluginPrograms(
            home: home.folder.path, environment: [:], for: ScriptedUser(answers: nil), patience: .zero)
        let identity = try parsedIdentity(ScriptedPlugin.identity(1, "hang"), host: impatient)
        #expect(pluginFailure { _ = try home.decrypted(file, with: [identity]) } == .overdue(seconds: 0))
    }

    @Test("Labels of a plugin keep it from other recipients, and so does a passphrase that it makes")
    func labels() throws {
        let home = try Home()
        let own = try X25519Identity.generate().recipient
        #expect(throws: AgeFailure.incompatibleRecipients) {
            try home.encrypted(to: [home.recipient(1, "labels"), own])
        }
        #expect(throws: Never.self) { try home.encrypted(to: [home.recipient(1, "labels")]) }
        for behaviour in ["two-labels", "passphrase", "none", "other"] {
            guard case .misbehaved = pluginFailure({ _ = try home.encrypted(to: [home.recipient(1, behaviour)]) })
            else {
                Issue.record("\(behaviour) was accepted")
                continue
            }
        }
    }

    @Test("A plugin is not run that others could change, or that is none")
    func safety() throws {
        let home = try Home()
        let name = try home.recipient().plugin
        let path = home.plugin.path
        #expect(try home.programs.path(of: name) == path)
        func failure() -> PluginFailure? { pluginFailure { _ = try home.programs.path(of: name) } }
        func setMode(_ mode: Int, _ path: String) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        try setMode(0o775, path)
        #expect(failure() == .notSafe(FileFailure(path, .exposed(mode: 0o775))))
        try setMode(0o755, path)
        let folder = home.folder.path(".local/bin")
        try setMode(0o777, folder)
        #expect(failure() == .notSafe(FileFailure(folder, .sharedFolder(mode: 0o777))))
        try setMode(0o755, folder)
        // A link to it is one, wherever it leads.
        let other = home.folder.path("other")
        try Path.makeFolder(other)
        try FileManager.default.moveItem(atPath: path, toPath: other + "/plugin")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: other + "/plugin")
        #expect(try home.programs.path(of: name) == path)
        try setMode(0o777, other)
        #expect(failure() == .notSafe(FileFailure(other, .sharedFolder(mode: 0o777))))
        try setMode(0o755, other)
        try setMode(0o644, other + "/plugin")
        #expect(try home.failureOfWrapping() == .notStarted(EACCES))
        try FileManager.default.removeItem(atPath: other + "/plugin")
        #expect(failure() == .notSafe(FileFailure(path, .notFound)))
        try FileManager.default.removeItem(atPath: path)
        try Path.makeFolder(path)
        #expect(failure() == .notSafe(FileFailure(path, .notRegular)))
        try FileManager.default.removeItem(atPath: path)
        #expect(failure() == .notFound(folders: ["/usr/local/bin", "/usr/bin", folder]))
    }

    @Test("A plugin of another user is not run", .enabled(if: geteuid() == 0, "only root gives files away"))
    func otherOwner() throws {
        let home = try Home()
        try FileManager.default.setAttributes([.ownerAccountID: 12_345], ofItemAtPath: home.plugin.path)
        let name = try home.recipient().plugin
        #expect(
            pluginFailure { _ = try home.programs.path(of: name) }
                == .notSafe(FileFailure(home.plugin.path, .foreignOwner)))
    }
}
