import Foundation
import KCAgeEncryption
import KCArchiveForgery
import KCBackupArchive
import KCByteStreams
import KCKeychainModel
import KCKeychainStore
import KCTestSupport
import Testing

@testable import KCBackupEngine

@Suite("Faults")
struct FaultTests {
    private func create(_ source: some ItemSource, on machine: Machine, as name: String = "a.kcb") throws {
        _ = try machine.creating(name).encrypted(
            source, with: ArchiveKeys(recipients: [NativeIdentity.generate(.x25519).recipient]))
    }

    @Test("A source that fails leaves no archive and no file behind, wherever it fails")
    func source() throws {
        let machine = try Machine()
        let items = try ListedSource.items(5)
        for failing in 0..<5 {
            #expect(throws: Fault()) {
                try create(ListedSource(items: items) { if $0 == failing { throw Fault() } }, on: machine)
            }
            #expect(try machine.folder.list().isEmpty)
        }
        try create(ListedSource(items: items), on: machine)
        #expect(try machine.folder.list() == ["a.kcb"])
    }

    @Test("A source that breaks the order, repeats an item or misstates a size yields no archive")
    func unreadable() throws {
        let machine = try Machine()
        let items = try ListedSource.items(3)
        let sources = [
            ListedSource(items: items.reversed()), ListedSource(items: [items[0], items[0]]),
            ListedSource(items: items, secret: [1]),
        ]
        for source in sources {
            #expect(throws: ArchiveFailure.self) { try create(source, on: machine) }
            #expect(try machine.folder.list().isEmpty)
        }
    }

    @Test("A file, link or folder that already has the archive's name is left unchanged")
    func occupied() throws {
        let machine = try Machine()
        let source = ListedSource(items: try ListedSource.items(2))
        let files = FileManager.default
        try machine.folder.write("file", [1, 2, 3])
        try files.createSymbolicLink(atPath: machine.folder.path("link"), withDestinationPath: "file")
        try files.createSymbolicLink(atPath: machine.folder.path("dangling"), withDestinationPath: "nowhere")
        try files.createDirectory(atPath: machine.folder.path("folder"), withIntermediateDirectories: false)
        let before = try machine.folder.list()
        for name in before {
            #expect(throws: FileFailure(machine.folder.path(name), .exists)) {
                try create(source, on: machine, as: name)
            }
        }
        #expect(try machine.folder.list() == before)
        #expect(try machine.folder.read("file") == [1, 2, 3])
    }

    @Test("A missing folder is named in the error, and nothing is created")
    func missingFolder() throws {
        let machine = try Machine()
        let writer = { () throws -> Void in
            _ = try ArchiveWriter(
                .encrypted(ArchiveKeys(recipients: [NativeIdentity.generate(.x25519).recipient])),
                of: ArchiveSource(kind: ArchiveSource.keychain, name: "login"), device: machine.device,
                folder: machine.folder.path("nowhere"))
        }
        #expect(throws: ArchiveFailure.file(FileFailure(machine.folder.path("nowhere"), .notFound))) { try writer() }
    }

    @Test("A full disk leaves no archive and no file behind")
    func diskFull() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            for kilobytes in [0, 1, 4, 64] {
                let machine = try Machine()
                var limit = rlimit(rlim_cur: rlim_t(kilobytes << 10), rlim_max: .max)
                guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { exit(2) }
                let items = try ListedSource.items(40, size: 20_000)
                let bytes = SeededRandomBytes.make(20_000)
                let failed = failure {
                    try FaultTests().create(ListedSource(items: items, secret: bytes), on: machine)
                }
                guard case ArchiveFailure.stream(let stream)? = failed, stream.systemCode == EFBIG,
                    try machine.folder.list().isEmpty
                else { exit(3) }
            }
        }
    }

    @Test("A target that fails leaves the keychain byte for byte as it was, wherever it fails")
    func target() throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain()
        for name in ["a", "b", "c", "d"] { try keychain.add(name, name) }
        let identity = try NativeIdentity.generate(.x25519)
        try machine.backUp(keychain, as: "a.kcb", to: [identity.recipient])
        let archive = try machine.open(machine.folder.path("a.kcb"), with: identity)
        let target = try machine.makeKeychain("target")
        try target.add("local", "old")
        let before = try machine.folder.read("target.keychain")
        for replaces in [false, true] {
            for failing in 0..<4 {
                var options = RestoreOptions()
                options.replacing = replaces ? .archived : nil
                let faulty = FaultyTarget(target) { if $0 == failing { throw Fault() } }
                #expect(throws: Fault()) { try Bring(.archive(archive), options: options).run(into: faulty) }
                #expect(try machine.folder.read("target.keychain") == before)
            }
        }
        #expect(try machine.restore(archive, into: target).counts.create == 4)
    }

    @Test("A report that cannot be prepared ends a restore before it writes anything")
    func report() throws {
        let machine = try Machine()
        let keychain = try machine.makeKeychain()
        try keychain.add("a", "a")
        let identity = try NativeIdentity.generate(.x25519)
        try machine.backUp(keychain, as: "a.kcb", to: [identity.recipient])
        let archive = try machine.open(machine.folder.path("a.kcb"), with: identity)
        let target = try machine.makeKeychain("target")
        let before = try machine.folder.read("target.keychain")
        var observer = RestoreObserver()
        observer.planned = { throw Fault() }
        let restore = try Bring(.archive(archive), options: RestoreOptions())
        #expect(throws: Fault()) { try restore.run(into: target, observer) }
        #expect(try machine.folder.read("target.keychain") == before)
    }

    @Test("A signal during 'create' ends it and leaves no archive and no file behind")
    func interruptedCreate() async {
        await #expect(processExitsWith: .success) {
            let machine = try Machine()
            let items = try ListedSource.items(5)
            for interrupted in 0..<5 {
                let failed = failure {
                    let source = ListedSource(items: items) { if $0 == interrupted { Interruption.request(SIGINT) } }
                    try FaultTests().create(source, on: machine)
                }
                Interruption.request(0)
                guard case ArchiveFailure.stream(let stream)? = failed, stream.kind == .interrupted,
                    try machine.folder.list().isEmpty
                else { exit(1) }
            }
        }
    }

    @Test("A signal during 'restore' ends it and leaves the keychain byte for byte as it was")
    func interruptedRestore() async {
        await #expect(processExitsWith: .success) {
            let machine = try Machine()
            let keychain = try machine.makeKeychain()
            for name in ["a", "b", "c", "d"] { try keychain.add(name, name) }
            let identity = try NativeIdentity.generate(.x25519)
            try machine.backUp(keychain, as: "a.kcb", to: [identity.recipient])
            let archive = try machine.open(machine.folder.path("a.kcb"), with: identity)
            let target = try machine.makeKeychain("target")
            let before = try machine.folder.read("target.keychain")
            for interrupted in 0..<4 {
                let faulty = FaultyTarget(target) { if $0 == interrupted { Interruption.request(SIGTERM) } }
                let failed = failure { _ = try Bring(.archive(archive), options: RestoreOptions()).run(into: faulty) }
                Interruption.request(0)
                guard case ArchiveFailure.stream(let stream)? = failed, stream.kind == .interrupted,
                    try machine.folder.read("target.keychain") == before
                else { exit(1) }
            }
            guard try machine.restore(archive, into: target).counts.create == 4 else { exit(2) }
        }
    }
}

private enum SeededRandomBytes {
    /// Incompressible bytes.
    static func make(_ count: Int) -> [UInt8] {
        var random = SeededRandom(seed: 1)
        return random.bytes(count)
    }
}
